// steps.h: a body written front to back.
//
// TIR nests: what a Let, an Alloc or a View brings into being exists in its body. Lowering a graph meets those in the
// order in which things run, so it collects them as steps and nests them at the end, from the last to the first.
#pragma once

#include <functional>
#include <vector>

#include "compiler/tir/builder.h"

namespace relaxc::lower {

class Steps {
 public:
  explicit Steps(tir::Builder& build) : build_(build) {}

  void add(tir::Stmt statement);
  /// From here to the end of the body, `var` is `value`.
  void let(arith::Var var, arith::Expr value);
  void alloc(tir::BufferRef buffer);
  /// `base` null: at the address `byte_offset`.
  void view(tir::BufferRef buffer, tir::BufferRef base, arith::Expr byte_offset);
  /// `release` is to run after the last step from here on that uses `buffer` or a view of it.
  void own(tir::BufferRef buffer, tir::Stmt release);

  /// All steps as one statement; an empty sequence if there is none.
  tir::Stmt finish() const;

 private:
  struct Step {
    enum Kind : uint8_t { kStatement, kLet, kAlloc, kView, kOwn } kind = kStatement;
    tir::Stmt statement = {};  ///< of an Own: the release
    arith::Var var = {};
    arith::Expr value = {};  ///< of a Let; the offset of a View
    tir::BufferRef buffer = nullptr, base = nullptr;
  };
  static void for_each_use(const Step& step, const std::function<void(tir::BufferRef)>& use);
  std::vector<Step> with_releases() const;

  tir::Builder& build_;
  std::vector<Step> steps_;
};

}  // namespace relaxc::lower
