// buffer_addresses.h: the addresses of buffers at a point of the function.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/lower/frame.h"

namespace relaxc::codegen_llvm {

/// The address of a buffer's first element.
struct BufferAddress {
  llvm::Value* address = nullptr;
  bool per_lane = false;  ///< whether each element has one copy a lane: a local of a vectorized loop's body
};

/// Maps the buffers that exist at a point of the function to their addresses.
class BufferAddresses {
 public:
  explicit BufferAddresses(const tir::PrimFunc& source) : source_(source) {}
  /// For the body of a task: knows the base buffers of the views around it, and no address yet.
  BufferAddresses(const tir::PrimFunc& source, const BufferAddresses& around)
      : source_(source), bases_(around.bases_) {}

  /// Returns null if the buffer does not exist here.
  const BufferAddress* find(tir::BufferRef buffer) const;
  /// Like `find`, for a buffer that must exist.
  const BufferAddress& at(tir::BufferRef buffer) const;
  /// Sets the address until the end of the function.
  void put(tir::BufferRef buffer, llvm::Value* address) {
    addresses_.insert_or_assign(buffer, BufferAddress{address, false});
  }
  /// Sets the address until the innermost Scope ends.
  void put_in_scope(tir::BufferRef buffer, BufferAddress address);
  /// The same for a view of `base`; `base` is null if the view's address is an integer.
  void put_view(tir::BufferRef view, tir::BufferRef base, llvm::Value* address);

  /// Returns whether `s` may read elements that a store to `buffer` wrote.
  bool may_read(tir::Stmt s, tir::BufferRef buffer) const;

  /// Restores the earlier addresses when it is destroyed.
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

  /// Returns the buffer that `buffer` is a view of, through all views; null if a view is of a computed address.
  tir::BufferRef memory_of(tir::BufferRef buffer) const;

 private:
  void undo_since(size_t mark);

  const tir::PrimFunc& source_;
  std::unordered_map<tir::BufferRef, BufferAddress> addresses_;
  std::vector<std::pair<tir::BufferRef, std::optional<BufferAddress>>> log_;  ///< set in scopes, with what was before
  std::unordered_map<tir::BufferRef, tir::BufferRef> bases_;                  ///< of views
};

}  // namespace relaxc::codegen_llvm
