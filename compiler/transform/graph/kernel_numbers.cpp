// kernel_numbers.cpp: see kernel_numbers.h.
//
// Every place is a variable of its own, though equal numbers are one node: 131 may be the same bound twice in one layer
// and two bounds in the next. So expressions are walked as the trees that their text is.
#include "compiler/transform/graph/kernel_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::ExprKind;

constexpr int kMostNodes = 4096;  ///< of a tree

class TakingOut {
 public:
  explicit TakingOut(arith::Context& context) : context_(context) {}

  KernelNumbers run(const tir::PrimFunc& kernel) {
    made_.body = tir::rewrite(context_, kernel.body,
                              {.on_expr = {},
                               .on_stmt =
                                   [&](tir::Stmt s) {
                                     const auto* block = s.as<tir::Block>();
                                     return block != nullptr && maps(*block) ? of_map(*block) : s;
                                   },
                               .on_buffer = {}});
    if (nodes_ > kMostNodes) return {kernel.body, {}, {}};
    return std::move(made_);
  }

 private:
  static bool maps(const tir::Block& block) {
    return !block.init && block.body.as<tir::Store>() != nullptr &&
           std::all_of(block.iters.begin(), block.iters.end(),
                       [](const tir::IterVar& iter) { return iter.iter_kind == tir::IterKind::kSpatial; });
  }

  tir::Stmt of_map(const tir::Block& block) {
    const tir::Store& store = *block.body.as<tir::Store>();
    tir::Builder build(context_);
    tir::Block made = block;
    made.body = build.store(store.buffer, store.indices, walked(store.value));
    return build.block(std::move(made));
  }

  Expr walked(Expr e) {
    if (++nodes_ > kMostNodes) return e;
    std::vector<Expr> parts = arith::operands(e);
    if (parts.empty()) return e;
    // A subscript may come from data, which numbers make: a look into a table.
    bool subscript = e->kind == ExprKind::kLoad || e.dtype().is_index();
    for (Expr& part : parts) part = !subscript && is_number(part) && takes_register(e) ? taken_out(part) : walked(part);
    return arith::with_operands(e, parts);
  }

  static bool is_number(Expr e) { return e->kind == ExprKind::kIntImm || e->kind == ExprKind::kFloatImm; }

  static bool takes_register(Expr e) {
    bool either = e->kind == ExprKind::kAdd || e->kind == ExprKind::kSub || e->kind == ExprKind::kMin ||
                  e->kind == ExprKind::kMax;
    bool of_floats = e->kind == ExprKind::kMul || e->kind == ExprKind::kSelect;
    bool compares = e->kind == ExprKind::kLt || e->kind == ExprKind::kLe;
    return either || (of_floats && e.dtype().is_float()) || (compares && arith::operands(e)[0].dtype().is_float());
  }

  Expr taken_out(Expr number) {
    std::string name = fmt::format("{}_{}", to_string(number.dtype()), made_.variables.size());
    made_.values.push_back(number);
    return made_.variables.emplace_back(context_.var(std::move(name), number.dtype()));
  }

  arith::Context& context_;
  KernelNumbers made_;
  int nodes_ = 0;
};

}  // namespace

KernelNumbers take_out_numbers(arith::Context& context, const tir::PrimFunc& kernel) {
  return TakingOut(context).run(kernel);
}

}  // namespace relaxc
