// steps.h: collects the statements of a body in the order of execution.
//
// TIR nests: a Let's variable and the buffer of an Alloc or a View exist in its body alone. Lowering a graph meets them
// in the order of execution, so it collects them as steps and nests them at the end, from the last to the first.
#pragma once

#include <functional>
#include <vector>

#include "compiler/tir/builder.h"

namespace relaxc::lower {

class Steps {
 public:
  explicit Steps(tir::Builder& build) : build_(build) {}

  void add(tir::Stmt statement);
  /// Binds `var` to `value` from here to the end of the body.
  void let(arith::Var var, arith::Expr value);
  void alloc(tir::BufferRef buffer);
  /// If `base` is null, the view is at the address `byte_offset`.
  void view(tir::BufferRef buffer, tir::BufferRef base, arith::Expr byte_offset);
  /// Runs `release` after the last step from here on that uses `buffer` or a view of it.
  void own(tir::BufferRef buffer, tir::Stmt release);

  /// Returns all steps as one statement; an empty sequence if there is none.
  tir::Stmt finish() const;

 private:
  struct Step {
    enum Kind : uint8_t { kStatement, kLet, kAlloc, kView, kOwn } kind = kStatement;
    tir::Stmt statement = {};  ///< for an Own, the release
    arith::Var var = {};
    arith::Expr value = {};  ///< for a Let, what it binds; for a View, its byte offset
    tir::BufferRef buffer = nullptr, base = nullptr;
  };
  static void for_each_use(const Step& step, const std::function<void(tir::BufferRef)>& use);
  std::vector<Step> with_releases() const;

  tir::Builder& build_;
  std::vector<Step> steps_;
};

}  // namespace relaxc::lower
