// steps.h: a body written front to back.
//
// TIR nests: what a Let, an Alloc or a View brings into being exists in its body. Lowering a graph meets those in the
// order in which things run, so it collects them as steps and nests them at the end, from the last to the first.
#pragma once

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
  void view(tir::BufferRef buffer, tir::BufferRef base, arith::Expr byte_offset);

  /// All steps as one statement; an empty sequence if there is none.
  tir::Stmt finish() const;

 private:
  struct Step {
    enum Kind : uint8_t { kStatement, kLet, kAlloc, kView } kind = kStatement;
    tir::Stmt statement = {};
    arith::Var var = {};
    arith::Expr value = {};  ///< of a Let; the offset of a View
    tir::BufferRef buffer = nullptr, base = nullptr;
  };
  tir::Builder& build_;
  std::vector<Step> steps_;
};

}  // namespace relaxc::lower
