// function_uses.cpp: see function_uses.h.
#include "compiler/codegen/c/function_uses.h"

#include <functional>
#include <map>
#include <unordered_set>
#include <vector>

#include "compiler/tir/visit.h"

namespace relaxc::codegen_c {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

namespace {

Expr place_of(BufferRef buffer, const std::vector<Expr>& indices) {
  return tir::element_offset(indices[0].context(), *buffer, indices);
}

/// The expressions in the text of `s`. A block's regions and the extents of its axes are not printed, and of subscripts
/// only the offset that they come to: for a tensor without elements, simplification may leave none of them.
std::vector<Expr> printed_expressions(Stmt s) {
  std::vector<Expr> out;
  if (const auto* store = s.as<tir::Store>(); store != nullptr && !store->indices.empty())
    return {place_of(store->buffer, store->indices), store->value};
  const auto* block = s.as<tir::Block>();
  if (block == nullptr) return tir::expressions(s);
  for (const tir::IterVar& iter : block->iters) out.insert(out.end(), {iter.min, iter.binding});
  if (block->predicate) out.push_back(block->predicate);
  return out;
}

/// Calls `f` for every node of `e` that is printed.
void for_each_printed(Expr e, const std::function<void(Expr)>& f) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> pending{e};
  while (!pending.empty()) {
    const Expr node = pending.back();
    pending.pop_back();
    if (!node || !seen.insert(node).second) continue;
    f(node);
    const auto* load = node.as<arith::Load>();
    if (load != nullptr && !load->indices.empty())
      pending.push_back(place_of(load->buffer, load->indices));
    else
      for (Expr operand : arith::operands(node)) pending.push_back(operand);
  }
}

/// Calls `f` for every buffer that is an argument of the call `s`.
void for_each_passed(Stmt s, const std::function<void(BufferRef)>& f) {
  const auto* invoke = s.as<tir::Invoke>();
  if (invoke == nullptr) return;
  for (const tir::Argument& argument : invoke->args)
    if (const auto* buffer = std::get_if<BufferRef>(&argument)) f(*buffer);
}

}  // namespace

FunctionUses::FunctionUses(const tir::PrimFunc& function) : function_(function) {
  tir::for_each_stmt(function.body, [&](Stmt s) { look_at(s); });
}

void FunctionUses::look_at(Stmt s) {
  if (const auto* invoke = s.as<tir::Invoke>(); invoke != nullptr && invoke->external) foreign_.insert(invoke->callee);
  if (const auto* view = s.as<tir::View>()) buffers_.insert(view->base), declares(view->buffer);
  if (const auto* alloc = s.as<tir::Alloc>()) declares(alloc->buffer);
  if (const auto* store = s.as<tir::Store>()) buffers_.insert(store->buffer);
  if (const auto* let = s.as<tir::Let>()) declares(let->var);
  for (Expr e : printed_expressions(s)) for_each_printed(e, [&](Expr node) { look_at(node); });
  for_each_passed(s, [&](BufferRef buffer) { buffers_.insert(buffer); });
}

void FunctionUses::look_at(Expr e) {
  if (const auto* external = e.as<arith::Extern>()) foreign_.insert(external->name);
  if (const auto* load = e.as<arith::Load>()) buffers_.insert(load->buffer);
  if (e.as<arith::VarNode>() != nullptr) vars_.insert(e->id);
}

void FunctionUses::declares(arith::Var var) {
  if (!bound_.insert(var->id).second) rebound_.insert(var->id);
}

void FunctionUses::declares(BufferRef buffer) {
  if (!named_.insert(buffer).second) renamed_.insert(buffer);
}

std::set<BufferRef> FunctionUses::written() const {
  std::set<BufferRef> written;
  if (function_.c_function) written = {function_.c_function->context, function_.c_function->error};
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* store = s.as<tir::Store>()) written.insert(store->buffer);
    if (const auto* view = s.as<tir::View>()) written.insert(view->base);  // null, of an address, is not a parameter
    for_each_passed(s, [&](BufferRef buffer) { written.insert(buffer); });
  });
  return written;
}

std::set<BufferRef> FunctionUses::changed() const {
  std::set<BufferRef> changed;
  std::map<BufferRef, BufferRef> bases;
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* view = s.as<tir::View>(); view != nullptr && view->base != nullptr)
      bases[view->buffer] = view->base;
  });
  auto change = [&](BufferRef buffer) {
    for (; changed.insert(buffer).second && bases.count(buffer) != 0; buffer = bases.at(buffer)) {
    }
  };
  tir::for_each_stmt(function_.body, [&](Stmt s) {
    if (const auto* store = s.as<tir::Store>()) change(store->buffer);
    for_each_passed(s, change);
  });
  return changed;
}

}  // namespace relaxc::codegen_c
