// interleaved.h: combines strided stores that together fill contiguous memory.
//
// Storing several channels of each pixel makes one strided store a channel, by an unrolled loop or by consecutive
// statements; each would become one store an element. Here the vectors are kept until the last store of the group, and
// shuffled into one contiguous vector. (X86 and Arm have patterns for such shuffles; scatters exist only for words of
// AVX-512 and take one store an element.)
//
// If each lane stores as many contiguous elements as there are lanes, at any addresses, the vectors are the columns of
// a square whose rows are contiguous: they are transposed in registers (transpose.h).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/codegen/llvm/lower/lanes.h"

namespace relaxc::codegen_llvm {

class Bindings;
class Memory;
class BufferAddresses;
class Values;

class InterleavedStores {
 public:
  InterleavedStores(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, BufferAddresses& addresses, Values& values,
                    Memory& memory)
      : b_(frame.builder()),
        lanes_(lanes),
        bindings_(bindings),
        addresses_(addresses),
        values_(values),
        memory_(memory) {}

  /// Returns the buffer to which each of the `count` iterations of an unrolled loop stores once, with no gaps between
  /// the iterations; null if the loop is not of that form.
  tir::BufferRef buffer_of(const tir::For& s, int64_t count) const;

  /// Consecutive stores at the start of a suite that leave no gaps together, and their common condition; may be null.
  struct Run {
    tir::BufferRef buffer = nullptr;
    std::vector<tir::Stmt> stores;  ///< empty if there is no such run
    arith::Expr condition;
  };
  Run run_of(std::span<const tir::Stmt> body);

  /// Calls `stores`; those to `buffer` become one store. A null `buffer` changes nothing.
  void together(tir::BufferRef buffer, int64_t count, const std::function<void()>& stores);
  /// Keeps a store of the group until its end and returns true; returns false if it is not part of one.
  bool take(tir::BufferRef buffer, Lanes offset, llvm::Value* stored);

 private:
  struct Waiting {
    tir::BufferRef buffer = nullptr;
    int64_t count = 0;                ///< number of stores; also the stride of a store's lanes, in elements
    Lanes first = {};                 ///< the offsets of the first store
    bool in_rows = false;             ///< whether each lane's elements are contiguous, and lanes at any offset
    std::vector<llvm::Value*> parts;  ///< the stored vectors
  };
  /// Whether `count` stores make squares that can be transposed in registers.
  bool are_squares(int64_t count) const;
  void store(const Waiting& all);
  void store_rows(const Waiting& all);

  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  BufferAddresses& addresses_;
  Values& values_;
  Memory& memory_;
  Waiting* waiting_ = nullptr;  ///< the group that collects stores; null if there is none
};

}  // namespace relaxc::codegen_llvm
