// interleaved.h: stores in lanes that together leave no gaps.
//
// What gives pixels their channels stores, lane by lane, as many elements apart as there are channels, and an unrolled
// loop, or statements one after the other, fill in the channels. Each of those stores would be one of single elements.
// Here they wait for the last one, and the vectors are shuffled into one that is contiguous in memory. (X86 and Arm
// have patterns for such shuffles; scatters exist for words of AVX-512 alone and take a store an element.)
//
// Where as many stores as there are lanes are side by side in each lane, and lanes anywhere, the vectors are the
// columns of a square whose rows are contiguous: they are transposed in registers (transpose.h).
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

  /// A store to `buffer` in each iteration of an unrolled loop, whose copies leave no gaps. Null: such a loop it
  /// is not.
  tir::BufferRef buffer_of(const tir::For& s, int64_t count) const;

  /// Stores at the start of `body` that together leave no gaps, and the condition that they are under, if any.
  struct Run {
    tir::BufferRef buffer = nullptr;
    std::vector<tir::Stmt> stores;  ///< none: there are none
    arith::Expr condition;
  };
  Run run_of(std::span<const tir::Stmt> body);

  /// `stores` in turn, those to the buffer as one (null: as they are).
  void together(tir::BufferRef buffer, int64_t count, const std::function<void()>& stores);
  /// Whether a store waits for its neighbours.
  bool take(tir::BufferRef buffer, Lanes offset, llvm::Value* stored);

 private:
  struct Waiting {
    tir::BufferRef buffer = nullptr;
    int64_t count = 0;                ///< stores; also the distance in elements of a store's lanes
    Lanes first = {};                 ///< the places of the first store
    bool in_rows = false;             ///< each lane's are contiguous, and lanes are anywhere
    std::vector<llvm::Value*> parts;  ///< what they store
  };
  /// Whether `count` stores of all lanes make squares that can be transposed in registers.
  bool are_squares(int64_t count) const;
  void store(const Waiting& all);
  void store_rows(const Waiting& all);

  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  BufferAddresses& addresses_;
  Values& values_;
  Memory& memory_;
  Waiting* waiting_ = nullptr;  ///< what stores wait for each other in; null: they do not
};

}  // namespace relaxc::codegen_llvm
