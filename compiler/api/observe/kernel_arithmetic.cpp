// kernel_arithmetic.cpp: walks the definition of a kernel for sums, functions and dtypes.
#include "compiler/api/observe/kernel_arithmetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/arith/math.h"
#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::api {
namespace {

/// Whether the block's result is a sum: its body stores an addition or a fused multiply-add.
bool adds_up(const tir::Block& block) {
  bool sum = false;
  tir::for_each_stmt(block.body, [&](tir::Stmt s) {
    const auto* store = s.as<tir::Store>();
    if (store == nullptr || !store->buffer->dtype.is_float()) return;
    const auto* call = store->value.as<arith::Call>();
    const bool fused = call != nullptr && call->intrinsic == arith::Intrinsic::k_fma;
    sum = sum || fused || store->value->kind == arith::ExprKind::kAdd;
  });
  return sum;
}

void look_at(const tir::Block& block, KernelArithmetic& found) {
  arith::Expr terms;
  for (const tir::IterVar& iter : block.iters)
    if (iter.iter_kind == tir::IterKind::kReduce || iter.iter_kind == tir::IterKind::kScan)
      terms = terms ? arith::simplify(terms * iter.extent) : iter.extent;
  if (terms && adds_up(block)) found.sums.insert(arith::to_string(terms));
}

/// Whether the value equals one of its operands, or is a load, a variable or a constant, so that nothing is rounded.
bool only_moves(arith::Expr e) {
  switch (e->kind) {
    case arith::ExprKind::kLoad:
    case arith::ExprKind::kVar:
    case arith::ExprKind::kFloatImm:
    case arith::ExprKind::kSelect:
    case arith::ExprKind::kMin:
    case arith::ExprKind::kMax:
      return true;
    default:
      return false;
  }
}

void look_at(arith::Expr e, KernelArithmetic& found) {
  arith::for_each_node(e, [&](arith::Expr node) {
    if (!node->dtype.is_float()) return;
    const auto* call = node.as<arith::Call>();
    if (call != nullptr && arith::is_expandable(call->intrinsic))
      found.functions.insert(
          fmt::format("{} ({})", arith::intrinsic_name(call->intrinsic), relaxc::to_string(node->dtype)));
    if (!only_moves(node)) found.floats.insert(relaxc::to_string(node->dtype));
  });
}

/// Returns the error of a function in units in the last place, as docs/numerics.md states it.
int ulps_of(const std::string& function) {
  if (function.find("(float64)") == std::string::npos) return function.find("(float32)") == std::string::npos ? 1 : 2;
  return function.starts_with("pow ") ? 6 : 4;
}

/// Returns the test that compares a function with one of more digits.
std::string test_of(const std::string& function) {
  if (function.starts_with("pow ")) return "unit_arith:pow is within its bounds, special cases included";
  if (function.find("(float64)") != std::string::npos) return "unit_arith:functions of float64 are within 4 ULP";
  return "unit_arith:functions of float32 are within 2 ULP";
}

}  // namespace

KernelArithmetic arithmetic_of(const tir::PrimFunc& definition) {
  KernelArithmetic found;
  tir::for_each_stmt(definition.body, [&](tir::Stmt s) {
    if (const auto* block = s.as<tir::Block>()) look_at(*block, found);
    for (arith::Expr e : tir::expressions(s)) look_at(e, found);
  });
  return found;
}

std::vector<ErrorBound> error_bounds(const KernelArithmetic& arithmetic, const std::string& steps) {
  if (arithmetic.floats.empty()) return {{"exact: no operation rounds", "onnx_numerics"}};
  std::vector<ErrorBound> bounds{
      {fmt::format("each operation on {} rounds to nearest: 0.5 ULP", fmt::join(arithmetic.floats, ", ")),
       "onnx_numerics"}};
  for (const std::string& terms : arithmetic.sums)
    bounds.push_back({fmt::format("a sum of {} terms: in any order within (k + 1) u / (1 - (k + 1) u) of the sum of "
                                  "their magnitudes, for k = {} and u half a ULP of 1",
                                  terms, terms),
                      "driver:certificate"});
  for (const std::string& function : arithmetic.functions)
    bounds.push_back({fmt::format("{}: {} ULP", function, ulps_of(function)), test_of(function)});
  if (steps.find("winograd") != std::string::npos)
    bounds.push_back(
        {"Winograd's transforms, for k channels: within (22/3)^2 9 k (k + 32) u max |w| max |x|, in place of the sum's",
         "unit_schedule:convolutions by Winograd's algorithm stay within the bound"});
  return bounds;
}

}  // namespace relaxc::api
