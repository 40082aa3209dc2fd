// places.h: the addresses of buffers.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/lower/frame.h"

namespace relaxc::codegen_llvm {

struct Place {
  llvm::Value* address = nullptr;
  bool per_lane = false;  ///< every element is as many as there are lanes: a local of a vectorized loop's body
};

class Places {
 public:
  explicit Places(const tir::PrimFunc& source) : source_(source) {}
  /// Of a task's body: views from around are of the same memory, and no buffer has a place yet.
  Places(const tir::PrimFunc& source, const Places& around) : source_(source), bases_(around.bases_) {}

  /// Null: the buffer does not exist here.
  const Place* find(tir::BufferRef buffer) const;
  /// Of a buffer that exists.
  const Place& at(tir::BufferRef buffer) const;
  /// To the end of the function.
  void put(tir::BufferRef buffer, llvm::Value* address) { places_.insert_or_assign(buffer, Place{address, false}); }
  /// Until the innermost scope ends.
  void put_in_scope(tir::BufferRef buffer, Place place);
  /// The same of a view, whose memory is that of `base`; null: an address that a number gives.
  void put_view(tir::BufferRef view, tir::BufferRef base, llvm::Value* address);

  /// Whether the statements may read what a store to the buffer has put there.
  bool may_read(tir::Stmt s, tir::BufferRef buffer) const;

  /// Its destructor restores the places of buffers.
  class Scope {
   public:
    explicit Scope(Places& places) : places_(places), mark_(places.log_.size()) {}
    ~Scope() { places_.undo_since(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Places& places_;
    size_t mark_;
  };

 private:
  tir::BufferRef memory_of(tir::BufferRef buffer) const;
  void undo_since(size_t mark);

  const tir::PrimFunc& source_;
  std::unordered_map<tir::BufferRef, Place> places_;
  std::vector<std::pair<tir::BufferRef, std::optional<Place>>> log_;  ///< of places in scopes, and what was before
  std::unordered_map<tir::BufferRef, tir::BufferRef> bases_;          ///< of views
};

}  // namespace relaxc::codegen_llvm
