// steps.cpp: nesting steps, last to first.
#include "compiler/transform/lower/steps.h"

#include <algorithm>

namespace relaxc::lower {

void Steps::add(tir::Stmt statement) {
  if (statement) steps_.push_back({.statement = statement});
}
void Steps::let(arith::Var var, arith::Expr value) {
  steps_.push_back({.kind = Step::kLet, .var = var, .value = value});
}
void Steps::alloc(tir::BufferRef buffer) {
  steps_.push_back({.kind = Step::kAlloc, .buffer = buffer});
}
void Steps::view(tir::BufferRef buffer, tir::BufferRef base, arith::Expr byte_offset) {
  steps_.push_back({.kind = Step::kView, .value = byte_offset, .buffer = buffer, .base = base});
}

tir::Stmt Steps::finish() const {
  std::vector<tir::Stmt> rest;  // in reverse order
  auto body = [&] {
    std::reverse(rest.begin(), rest.end());
    return build_.seq(std::move(rest));
  };
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    tir::Stmt s;
    switch (step->kind) {
      case Step::kStatement:
        s = step->statement;
        break;
      case Step::kLet:
        s = build_.let(step->var, step->value, body()), rest.clear();
        break;
      case Step::kAlloc:
        s = build_.alloc(step->buffer, body()), rest.clear();
        break;
      case Step::kView:
        s = build_.view(step->buffer, step->base, step->value, body()), rest.clear();
        break;
    }
    rest.push_back(s);
  }
  return body();
}

}  // namespace relaxc::lower
