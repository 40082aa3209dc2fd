// buffer_addresses.h: the addresses of buffers.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/lower/frame.h"

namespace relaxc::codegen_llvm {

/// Where a buffer is.
struct BufferAddress {
  llvm::Value* address = nullptr;
  bool per_lane = false;  ///< every element is as many as there are lanes: a local of a vectorized loop's body
};

/// The addresses of the buffers that exist at a place of the function.
class BufferAddresses {
 public:
  explicit BufferAddresses(const tir::PrimFunc& source) : source_(source) {}
  /// For the body of a task: knows which memory the views around it are of, and no address yet.
  BufferAddresses(const tir::PrimFunc& source, const BufferAddresses& around)
      : source_(source), bases_(around.bases_) {}

  /// Null: the buffer does not exist here.
  const BufferAddress* find(tir::BufferRef buffer) const;
  /// The same of a buffer that exists.
  const BufferAddress& at(tir::BufferRef buffer) const;
  /// To the end of the function.
  void put(tir::BufferRef buffer, llvm::Value* address) {
    addresses_.insert_or_assign(buffer, BufferAddress{address, false});
  }
  /// Until the innermost scope ends.
  void put_in_scope(tir::BufferRef buffer, BufferAddress address);
  /// The same of a view, whose memory is that of `base`; null: an address that a number gives.
  void put_view(tir::BufferRef view, tir::BufferRef base, llvm::Value* address);

  /// Whether the statements may read what a store to the buffer wrote.
  bool may_read(tir::Stmt s, tir::BufferRef buffer) const;

  /// Its destructor restores the addresses of before.
  class Scope {
   public:
    explicit Scope(BufferAddresses& addresses) : addresses_(addresses), mark_(addresses.log_.size()) {}
    ~Scope() { addresses_.undo_since(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    BufferAddresses& addresses_;
    size_t mark_;
  };

 private:
  tir::BufferRef memory_of(tir::BufferRef buffer) const;
  void undo_since(size_t mark);

  const tir::PrimFunc& source_;
  std::unordered_map<tir::BufferRef, BufferAddress> addresses_;
  std::vector<std::pair<tir::BufferRef, std::optional<BufferAddress>>> log_;  ///< set in scopes, with what was before
  std::unordered_map<tir::BufferRef, tir::BufferRef> bases_;                  ///< of views
};

}  // namespace relaxc::codegen_llvm
