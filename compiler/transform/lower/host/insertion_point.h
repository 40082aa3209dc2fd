// insertion_point.h: where lowering adds statements to a host function.
//
// Owns the builder and the list of steps that statements are added to. A region collects its statements in a list of
// its own, which a Nested installs for its lifetime. Uses no other part of the host function.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/lower/steps.h"
#include "compiler/transform/lower/weights.h"

namespace relaxc::lower {

using arith::Context;
using arith::Expr;
using arith::Var;
using tir::BufferRef;

class InsertionPoint {
 public:
  explicit InsertionPoint(Context& context) : build_(context) {}
  InsertionPoint(const InsertionPoint&) = delete;

  tir::Builder& build() { return build_; }
  Context& context() const { return build_.context(); }
  /// The list that statements are added to at present.
  Steps& steps() { return *steps_; }
  void add(tir::Stmt statement) { steps_->add(statement); }
  void let(Var var, Expr value) { steps_->let(var, value); }
  void alloc(BufferRef buffer) { steps_->alloc(buffer); }

  /// Returns a buffer of the arena, aligned for any kernel, without allocating it.
  BufferRef arena_buffer(std::string name, DType dtype, std::vector<Expr> shape) {
    return build_.buffer(std::move(name), dtype, std::move(shape), tir::Scope::kGlobal, WeightLayout::kAlignment);
  }
  /// Returns such a buffer, allocated from here to the end of the region.
  BufferRef alloc(std::string name, DType dtype, std::vector<Expr> shape) {
    BufferRef made = arena_buffer(std::move(name), dtype, std::move(shape));
    steps_->alloc(made);
    return made;
  }

  /// The number of regions around this point; 0: every call of the function reaches it.
  int depth() const { return depth_; }
  /// Records that statements from here on may run after an effect that the caller can see.
  void note_effect() { after_effect_ = true; }
  bool after_effect() const { return after_effect_; }

  /// Collects statements in a list of its own for its lifetime.
  class Nested {
   public:
    /// `deeper`: how much it adds to `depth`.
    Nested(InsertionPoint& at, int deeper)
        : at_(at), steps_(at.build_), outer_(std::exchange(at.steps_, &steps_)), deeper_(deeper) {
      at_.depth_ += deeper_;
    }
    Nested(const Nested&) = delete;
    ~Nested() { at_.steps_ = outer_, at_.depth_ -= deeper_; }
    /// Returns all statements that were added, as one.
    tir::Stmt finish() const { return steps_.finish(); }

   private:
    InsertionPoint& at_;
    Steps steps_;
    Steps* outer_;
    int deeper_;
  };

 private:
  tir::Builder build_;
  Steps* steps_ = nullptr;
  int depth_ = 0;
  bool after_effect_ = false;
};

}  // namespace relaxc::lower
