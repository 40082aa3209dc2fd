// statements.h: lowers statements and the scopes that they open.
#pragma once

#include <functional>
#include <span>

#include "compiler/codegen/llvm/lower/calls.h"
#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class Loops;

class Statements {
 public:
  Statements(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, Values& values, OverflowChecks& checks,
             Failures& failures, BufferAddresses& addresses, Memory& memory, InterleavedStores& interleaved,
             Calls& calls, Loops& loops)
      : frame_(frame),
        b_(frame.builder()),
        lanes_(lanes),
        bindings_(bindings),
        values_(values),
        checks_(checks),
        failures_(failures),
        addresses_(addresses),
        memory_(memory),
        interleaved_(interleaved),
        calls_(calls),
        loops_(loops) {}

  /// Lowers a suite: its bindings and the values it computes end with it. `s` may be null.
  void lower(tir::Stmt s);

 private:
  void lower_suite(tir::Stmt s);  ///< lowers `s` to the end of the suite; may be null
  // Each returns the statement that is still to be lowered in the scope that it opens.
  tir::Stmt lower_seq(const tir::Seq& s);
  tir::Stmt lower_let(const tir::Let& s);
  tir::Stmt lower_alloc(const tir::Alloc& s);
  tir::Stmt lower_view(const tir::View& s);
  static bool is_straight(tir::Stmt s);
  void lower_straight(tir::Stmt s);  ///< lowers a statement whose values dominate what follows
  void lower_if(const tir::If& s);
  void lower_block(const tir::Block& s);
  void lower_guard(const tir::Guard& s);
  llvm::Value* condition_of(const tir::Guard& s);
  size_t lower_interleaved(std::span<const tir::Stmt> body);  ///< returns how many statements it lowered
  void under(Lanes condition, const std::function<void()>& then_body, const std::function<void()>& else_body = {});
  Lanes first_iteration(const tir::Block& s, const std::vector<Lanes>& axes);
  void put_on_stack(tir::BufferRef buffer, int64_t elements);
  void put_on_heap(tir::BufferRef buffer);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  Values& values_;
  OverflowChecks& checks_;
  Failures& failures_;
  BufferAddresses& addresses_;
  Memory& memory_;
  InterleavedStores& interleaved_;
  Calls& calls_;
  Loops& loops_;
};

}  // namespace relaxc::codegen_llvm
