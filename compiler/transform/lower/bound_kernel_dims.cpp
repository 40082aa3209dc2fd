// bound_kernel_dims.cpp: gives kernels the ranges that callers know of their dims.
//
// An index is an int64 by the ABI. On a Cortex-M a counter of 64 bits takes two registers, each addition two
// instructions and each comparison three, in loops whose body has five. Backends use 32 bits if the range of a value
// allows it (compiler/tir/index_widths.h). An entry's guards keep every input and output within the address space, so
// its dims have ranges; on 32-bit machines this pass gives them to the kernels that are called.
//
// Kernels keep taking their dims as int64: it is what generic calls pass, and costs nothing in a loop.
#include <algorithm>
#include <map>

#include "compiler/tir/index_widths.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Range;

/// Returns what `call` passes for the callee's symbol `k`: an argument after the parameters, or a dim of a buffer.
Expr symbol_argument(const tir::Invoke& call, const tir::PrimFunc& callee, size_t k) {
  if (call.args.size() == callee.params.size() + callee.symbols.size())
    return std::get<Expr>(call.args[callee.params.size() + k]);
  for (size_t i = 0; i < callee.params.size(); ++i) {
    const auto* buffer = std::get_if<tir::BufferRef>(&call.args[i]);
    if (buffer == nullptr) continue;
    const std::vector<Expr>& shape = callee.params[i].buffer->shape;
    auto dim = std::find(shape.begin(), shape.end(), callee.symbols[k]);
    if (dim != shape.end()) return (*buffer)->shape.at(static_cast<size_t>(dim - shape.begin()));
  }
  return {};
}

/// The ranges of the arguments over all calls, by callee. Only private functions have them: others have other callers.
class Calls {
 public:
  explicit Calls(const relax::Module& module) : module_(module) {
    for (const tir::PrimFunc* caller : module.prim_funcs()) {
      tir::IndexRanges known(*caller);
      tir::for_each_stmt(caller->body, [&](tir::Stmt s) {
        const auto* call = s.as<tir::Invoke>();
        const tir::PrimFunc* callee =
            call != nullptr && !call->external ? module_.find_prim_func(call->callee) : nullptr;
        if (callee != nullptr) add(*call, *callee, known);
      });
    }
  }

  std::vector<Range> of(const tir::PrimFunc& callee) const {
    auto found = ranges_.find(callee.name);
    return found != ranges_.end() && callee.is_private ? found->second : std::vector<Range>();
  }

 private:
  void add(const tir::Invoke& call, const tir::PrimFunc& callee, tir::IndexRanges& known) {
    std::vector<Range> given;
    auto range = [&](Expr e) { given.push_back(e && e.dtype().is_index() ? known.range(e) : Range()); };
    for (size_t i = 0; i < callee.params.size(); ++i)
      if (callee.params[i].buffer == nullptr) range(std::get<Expr>(call.args[i]));
    for (size_t k = 0; k < callee.symbols.size(); ++k) {
      range(symbol_argument(call, callee, k));
      given.back().lower = std::max<int64_t>(given.back().lower, 0);  // a dim is not negative
    }
    auto [all, fresh] = ranges_.emplace(callee.name, given);
    for (size_t i = 0; !fresh && i < given.size(); ++i)
      all->second[i] = {std::min(all->second[i].lower, given[i].lower), std::max(all->second[i].upper, given[i].upper)};
  }

  const relax::Module& module_;
  std::map<std::string, std::vector<Range>> ranges_;
};

}  // namespace

Result<Changed> bound_kernel_dims(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.target.pointer_bits != 32) return changed;
  const Calls calls(module);
  for (tir::PrimFunc* function : module.prim_funcs()) {
    if (!function->checks.ranges.empty() || !tir::may_have_narrow_indices(*function)) continue;
    function->checks.ranges = calls.of(*function);
    if (!function->checks.ranges.empty()) changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
