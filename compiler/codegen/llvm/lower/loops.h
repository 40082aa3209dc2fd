// loops.h: lowers loops, break and continue.
//
// A vectorized loop whose body lanes.h cannot express (compiler/tir/lanes.h) runs one lane after the other: same bits.
#pragma once

#include <vector>

#include "compiler/codegen/llvm/lower/parallel.h"

namespace relaxc::codegen_llvm {

class ByteTiles;
class HalvesTiles;
class InterleavedStores;
class Memory;
class OverflowChecks;
class RowCopies;
class Statements;
class Values;

class Loops {
 public:
  Loops(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, Values& values, OverflowChecks& checks,
        Failures& failures, BufferAddresses& addresses, InterleavedStores& interleaved, ByteTiles& byte_tiles,
        HalvesTiles& halves_tiles, RowCopies& row_copies, Memory& memory, Statements& statements)
      : frame_(frame),
        b_(frame.builder()),
        lanes_(lanes),
        bindings_(bindings),
        values_(values),
        checks_(checks),
        interleaved_(interleaved),
        byte_tiles_(byte_tiles),
        halves_tiles_(halves_tiles),
        row_copies_(row_copies),
        memory_(memory),
        statements_(statements),
        tasks_(frame, bindings, addresses, failures) {}

  void lower(const tir::For& s);
  void lower(const tir::While& s);
  /// Runs the iterations one after the other, starting at `min`.
  void lower_serial(const tir::For& s, llvm::Value* min, llvm::Value* extent);
  /// Break and continue of the innermost loop.
  void leave();
  void lower_continue();

 private:
  struct Exits {
    llvm::BasicBlock *leave, *next;
  };
  /// While it exists, code is the body of a loop with these exits.
  class Inside {
   public:
    Inside(Loops& loops, Exits exits) : loops_(loops) { loops_.around_.push_back(exits); }
    ~Inside() { loops_.around_.pop_back(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Loops& loops_;
  };

  void lower_unrolled(const tir::For& s, llvm::Value* min, int64_t count);
  void lower_vectorized(const tir::For& s, llvm::Value* min, uint32_t lanes);
  void prefetch(const tir::For& s, Lanes var);
  void lower_body(const tir::For& s, Lanes var);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  Values& values_;
  OverflowChecks& checks_;
  InterleavedStores& interleaved_;
  ByteTiles& byte_tiles_;
  HalvesTiles& halves_tiles_;
  RowCopies& row_copies_;
  Memory& memory_;
  Statements& statements_;
  ParallelLoops tasks_;
  std::vector<Exits> around_;  ///< of the loops around the current code, outermost first
};

}  // namespace relaxc::codegen_llvm
