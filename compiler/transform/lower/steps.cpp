// steps.cpp: nests steps, from the last to the first.
#include "compiler/transform/lower/steps.h"

#include <algorithm>
#include <map>

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

/// Calls `use` with each buffer that a step or a statement in it names. Making a view of a buffer does not use it.
void Steps::for_each_use(const Step& step, const std::function<void(tir::BufferRef)>& use) {
  auto in = [&](arith::Expr e) {
    if (e)
      arith::for_each_node(e, [&](arith::Expr node) {
        if (const auto* load = node.as<arith::Load>()) use(load->buffer);
      });
  };
  in(step.value);
  tir::for_each_stmt(step.kind == Step::kStatement ? step.statement : tir::Stmt(), [&](tir::Stmt s) {
    for (arith::Expr e : tir::expressions(s)) in(e);
    if (const auto* store = s.as<tir::Store>()) use(store->buffer);
    if (const auto* view = s.as<tir::View>()) use(view->base);
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<tir::BufferRef>(&argument)) use(*buffer);
  });
}

/// Finds last uses in one walk. A use counts for the last kOwn before it of the buffer, or of the buffer it is a view
/// of. An owned buffer may be part of another owned one; then its uses count for both.
std::vector<Steps::Step> Steps::with_releases() const {
  constexpr size_t kNobody = SIZE_MAX;
  std::map<tir::BufferRef, size_t> owners;  // looked up only
  std::vector<size_t> outer(steps_.size(), kNobody), last(steps_.size());
  auto owner_of = [&](tir::BufferRef buffer) {
    auto found = owners.find(buffer);
    return found == owners.end() ? kNobody : found->second;
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    last[i] = i;
    if (step.kind == Step::kOwn) {
      outer[i] = owner_of(step.buffer);
      owners[step.buffer] = i;
      continue;
    }
    if (size_t owner = step.kind == Step::kView ? owner_of(step.base) : kNobody; owner != kNobody)
      owners[step.buffer] = owner;
    for_each_use(step, [&](tir::BufferRef buffer) {
      if (size_t owner = owner_of(buffer); owner != kNobody) last[owner] = i;
    });
  }
  for (size_t i = steps_.size(); i-- > 0;)  // inner ones come after those around them
    if (outer[i] != kNobody && last[i] > i) last[outer[i]] = std::max(last[outer[i]], last[i]);
  std::vector<std::vector<tir::Stmt>> after(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].kind == Step::kOwn) after[last[i]].push_back(steps_[i].statement);
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
        RELAXC_UNREACHABLE("releases are where they belong");
    }
    rest.push_back(s);
  }
  return body();
}

}  // namespace relaxc::lower
