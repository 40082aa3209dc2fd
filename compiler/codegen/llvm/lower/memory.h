// memory.h: loads and stores of one element, or of one element for each lane.
//
// Affine subscripts become vector loads and stores, uniform ones a load and a broadcast, others gathers. Inactive lanes
// are masked.
#pragma once

#include <array>
#include <optional>

#include "compiler/codegen/llvm/lower/buffer_addresses.h"
#include "compiler/codegen/llvm/lower/interleaved.h"
#include "compiler/codegen/llvm/lower/lines_ahead.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class Memory {
 public:
  Memory(Frame& frame, LaneArithmetic& lanes, BufferAddresses& addresses, Values& values,
         InterleavedStores& interleaved)
      : frame_(frame),
        b_(frame.builder()),
        numeric_(frame.numeric()),
        lanes_(lanes),
        addresses_(addresses),
        values_(values),
        interleaved_(interleaved) {}

  /// Returns the offset of an element from the start of the buffer, in elements.
  Lanes offset_of(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  llvm::Value* address(tir::BufferRef buffer, Lanes offset);
  Lanes load(const arith::Load& e);
  void store(const tir::Store& s);
  /// Prefetches what the iteration that is `iterations` after this one reads.
  void prefetch(const LinesAhead& lines, int64_t iterations);

  /// Returns a field of a struct: a number or a pointer.
  llvm::Value* field(const arith::Load& e);
  /// Returns the pointer at an address. A field of a struct is loaded as a pointer, not converted from an integer.
  llvm::Value* pointer(arith::Expr address);

 private:
  Lanes load_element(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  std::optional<Lanes> look_up(const arith::Load& e);  ///< nullopt if it is not of that form, or no instruction does it
  Lanes load_raw(tir::BufferRef buffer, Lanes offset);
  llvm::Value* load_contiguous(tir::BufferRef buffer, Lanes offset, bool everywhere);
  llvm::Value* load_strided(tir::BufferRef buffer, Lanes offset);
  llvm::Value* load_if_any(tir::BufferRef buffer, Lanes offset);
  void store_raw(tir::BufferRef buffer, Lanes offset, Lanes value);
  void store_contiguous(tir::BufferRef buffer, Lanes offset, llvm::Value* stored, bool own);
  Lanes spread(tir::BufferRef buffer, Lanes offset);
  bool store_widened(const tir::Store& s);
  std::optional<Lanes> fused_sum(const tir::Store& s);
  std::optional<std::array<int64_t, 4>> places_of_four(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  llvm::Value* first_address(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  bool is_certain(tir::BufferRef buffer, Lanes offset) const;
  bool is_private(tir::BufferRef buffer, Lanes offset) const;
  void prefetch_behind(tir::BufferRef buffer, llvm::Value* address);
  void prefetch_line(llvm::Value* address);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  BufferAddresses& addresses_;
  Values& values_;
  InterleavedStores& interleaved_;
};

/// The alignment of one element.
inline llvm::Align align_of(tir::BufferRef buffer) {
  return llvm::Align(static_cast<uint64_t>(buffer->dtype.bytes()));
}

}  // namespace relaxc::codegen_llvm
