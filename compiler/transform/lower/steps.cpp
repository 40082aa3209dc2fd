// steps.cpp: nesting steps, last to first.
#include "compiler/transform/lower/steps.h"

#include <algorithm>

#include "compiler/tir/visit.h"

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

void Steps::own(tir::BufferRef buffer, tir::Stmt release) {
  steps_.push_back({.kind = Step::kOwn, .statement = release, .buffer = buffer});
}

/// Whether a step names one of `buffers`, in whatever it contains.
bool Steps::uses(const Step& step, const std::set<tir::BufferRef>& buffers) {
  bool used = false;
  auto in = [&](arith::Expr e) {
    if (e)
      arith::for_each_node(e, [&](arith::Expr node) {
        if (const auto* load = node.as<arith::Load>()) used |= buffers.count(load->buffer) != 0;
      });
  };
  in(step.value);
  tir::for_each_stmt(step.kind == Step::kStatement ? step.statement : tir::Stmt(), [&](tir::Stmt s) {
    for (arith::Expr e : tir::expressions(s)) in(e);
    if (const auto* store = s.as<tir::Store>()) used |= buffers.count(store->buffer) != 0;
    if (const auto* view = s.as<tir::View>()) used |= buffers.count(view->base) != 0;
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<tir::BufferRef>(&argument)) used |= buffers.count(*buffer) != 0;
  });
  return used;
}

std::vector<Steps::Step> Steps::with_releases() const {
  std::vector<std::vector<tir::Stmt>> after(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].kind != Step::kOwn) continue;
    std::set<tir::BufferRef> names{steps_[i].buffer};
    size_t last = i;
    for (size_t k = i + 1; k < steps_.size(); ++k) {
      if (steps_[k].kind == Step::kView && names.count(steps_[k].base) != 0) names.insert(steps_[k].buffer);
      if (uses(steps_[k], names)) last = k;
    }
    after[last].push_back(steps_[i].statement);
  }
  std::vector<Step> out;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].kind != Step::kOwn) out.push_back(steps_[i]);
    for (tir::Stmt release : after[i]) out.push_back({.statement = release});
  }
  return out;
}

tir::Stmt Steps::finish() const {
  std::vector<tir::Stmt> rest;  // in reverse order
  auto body = [&] {
    std::reverse(rest.begin(), rest.end());
    return build_.seq(std::move(rest));
  };
  std::vector<Step> steps = with_releases();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
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
      case Step::kOwn:
        RELAXC_UNREACHABLE("releases stand where they belong");
    }
    rest.push_back(s);
  }
  return body();
}

}  // namespace relaxc::lower
