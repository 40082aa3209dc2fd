// parameterize_constants.cpp: see parameterize_constants.h.
//
// Every occurrence gets a variable of its own, though equal numbers are one node: 131 may be the same bound twice in
// one layer and two bounds in the next. So expressions are walked as trees, as in their text.
//
// Computed dims: the maps of a network for images of open height are (height + 1) // 2 high, then half of that or 1,
// and so on. A kernel needs such a dim only as one number. As a symbol, it leaves conditions on borders that simplify:
// in copies of windows, loads were masked because of bounds that were not proved of max(max((height + 1) // 4, 1) // 2,
// 1), and a depthwise convolution took twice as long. Layers that differ in nothing else become one kernel. And a dim
// that comes from data can be a hundred nodes, which each of 91 slices of one tensor computed again, a tenth of what
// LLVM compiled of an SSD. If the symbol replaces all uses of the dim's variables, only the range of the number is
// lost, which calls know.
#include "compiler/transform/graph/fusion/parameterize_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/visit.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::ExprKind;

constexpr int kMostNodes = 4096;  ///< limit of a kernel's nodes, with expressions counted as trees

/// What both extractions share: a new variable for each place of a number.
class TakingOut {
 public:
  explicit TakingOut(arith::Context& context) : context_(context) {}

 protected:
  static bool is_number(Expr e) { return e->kind == ExprKind::kIntImm || e->kind == ExprKind::kFloatImm; }

  Expr taken_out(Expr number) {
    std::string name = fmt::format("{}_{}", to_string(number.dtype()), made_.variables.size());
    made_.values.push_back(number);
    return made_.variables.emplace_back(context_.var(std::move(name), number.dtype()));
  }

  /// Counts a node of a tree; returns false beyond the limit, since trees may be exponentially large.
  bool is_one_more() { return ++nodes_ <= kMostNodes; }

  KernelConstants made_by(const tir::PrimFunc& kernel) {
    if (nodes_ > kMostNodes) return {kernel, {}, {}};
    return std::move(made_);
  }

  arith::Context& context_;
  KernelConstants made_;

 private:
  int nodes_ = 0;
};

class TakingOutNumbers : TakingOut {
 public:
  using TakingOut::TakingOut;

  KernelConstants run(const tir::PrimFunc& kernel) {
    made_.kernel = kernel;
    made_.kernel.body = tir::rewrite(context_, kernel.body,
                                     {.on_expr = {},
                                      .on_stmt =
                                          [&](tir::Stmt s) {
                                            const auto* block = s.as<tir::Block>();
                                            return block != nullptr && maps(*block) ? of_map(*block) : s;
                                          },
                                      .on_buffer = {}});
    return made_by(kernel);
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
    if (!is_one_more()) return e;
    std::vector<Expr> parts = arith::operands(e);
    if (parts.empty()) return e;
    // Numbers of subscripts stay, but not those in data that a subscript depends on, as in a table look-up.
    bool subscript = e->kind == ExprKind::kLoad || e.dtype().is_index();
    for (Expr& part : parts) part = !subscript && is_number(part) && takes_register(e) ? taken_out(part) : walked(part);
    return arith::with_operands(e, parts);
  }

  static bool takes_register(Expr e) {
    bool either = e->kind == ExprKind::kAdd || e->kind == ExprKind::kSub || e->kind == ExprKind::kMin ||
                  e->kind == ExprKind::kMax;
    bool of_floats = e->kind == ExprKind::kMul || e->kind == ExprKind::kSelect;
    bool compares = e->kind == ExprKind::kLt || e->kind == ExprKind::kLe;
    return either || (of_floats && e.dtype().is_float()) || (compares && arith::operands(e)[0].dtype().is_float());
  }
};

class TakingOutSizes : TakingOut {
 public:
  using TakingOut::TakingOut;

  KernelConstants run(const tir::PrimFunc& kernel) {
    made_.kernel = kernel;
    for (tir::Param& param : made_.kernel.params)
      if (param.buffer != nullptr) param.buffer = open(param.buffer);
    made_.kernel.body = tir::rewrite(context_, kernel.body,
                                     {.on_expr = [&](Expr e) { return walked(e); },
                                      .on_stmt = [&](tir::Stmt s) { return with_fixed_numbers(s); },
                                      .on_buffer = [&](tir::BufferRef buffer) { return open(buffer); }});
    for (size_t i = made_.values.size(); i-- > 0;)
      if (fixed_.count(made_.variables[i]->id) != 0) {
        made_.variables.erase(made_.variables.begin() + static_cast<ptrdiff_t>(i));
        made_.values.erase(made_.values.begin() + static_cast<ptrdiff_t>(i));
      }
    return made_by(kernel);
  }

 private:
  static bool is_in_registers(tir::BufferRef buffer) { return buffer->scope == tir::Scope::kLocal; }

  /// Puts numbers back where a schedule needs constants: in extents of loops that are not serial, and in subscripts of
  /// memory in registers.
  tir::Stmt with_fixed_numbers(tir::Stmt s) {
    if (const auto* loop = s.as<tir::For>(); loop != nullptr && loop->loop_kind != tir::LoopKind::kSerial) {
      tir::For made = *loop;
      made.min = with_numbers(loop->min), made.extent = with_numbers(loop->extent);
      return tir::Stmt(context_.arena().make<tir::For>(std::move(made)));
    }
    if (const auto* store = s.as<tir::Store>(); store != nullptr && is_in_registers(store->buffer)) {
      std::vector<Expr> indices = store->indices;
      for (Expr& index : indices) index = with_numbers(index);
      return tir::Builder(context_).store(store->buffer, indices, store->value);
    }
    return s;
  }

  Expr with_numbers(Expr e) {
    arith::Substitution by;
    for (arith::Var var : arith::free_vars(e)) {
      auto place = std::find(made_.variables.begin(), made_.variables.end(), var);
      if (place == made_.variables.end()) continue;
      by.emplace(var, made_.values[static_cast<size_t>(place - made_.variables.begin())]);
      fixed_.insert(var->id);
    }
    return by.empty() ? e : arith::substitute(e, by);
  }

  tir::BufferRef open(tir::BufferRef buffer) {
    if (is_in_registers(buffer)) return buffer;
    auto [known, fresh] = opened_.emplace(buffer, buffer);
    if (!fresh) return known->second;
    tir::Buffer made = *buffer;
    made.id = context_.next_id();
    for (std::vector<Expr>* sizes : {&made.shape, &made.strides})
      for (Expr& size : *sizes) size = walked(size);
    tir::BufferRef result = context_.arena().make<tir::Buffer>(std::move(made));
    opened_.emplace(result, result);
    return known->second = result;
  }

  Expr walked(Expr e) {
    if (!is_one_more()) return e;
    if (is_number(e)) return e.dtype().is_index() ? taken_out(e) : e;
    if (const auto* load = e.as<arith::Load>(); load != nullptr && is_in_registers(load->buffer)) return e;
    std::vector<Expr> parts = arith::operands(e);
    if (parts.empty()) return e;
    for (size_t i = 0; i < parts.size(); ++i)
      if (i == 0 || !divides(e)) parts[i] = walked(parts[i]);
    return arith::with_operands(e, parts);
  }

  static bool divides(Expr e) {
    return e->kind == ExprKind::kDiv || e->kind == ExprKind::kMod || e->kind == ExprKind::kFloorDiv ||
           e->kind == ExprKind::kFloorMod;
  }

  std::map<tir::BufferRef, tir::BufferRef> opened_;  // looked up only
  std::set<uint32_t> fixed_;  ///< ids of variables whose numbers were put back; asked for membership only
};

bool is_computed(Expr dim) {
  return dim.constant() == nullptr && dim.as<arith::VarNode>() == nullptr;
}

/// Calls `f` with every expression of the kernel, including those in shapes.
void for_each_expression(const tir::PrimFunc& kernel, const std::function<void(Expr)>& f) {
  auto of_buffer = [&](tir::BufferRef buffer) {
    if (buffer == nullptr) return;
    for (const std::vector<Expr>* sizes : {&buffer->shape, &buffer->strides})
      std::for_each(sizes->begin(), sizes->end(), f);
  };
  for (const tir::Param& param : kernel.params) of_buffer(param.buffer);
  tir::for_each_stmt(kernel.body, [&](tir::Stmt s) {
    for (Expr e : tir::expressions(s)) f(e);
    if (const auto* alloc = s.as<tir::Alloc>()) of_buffer(alloc->buffer);
    if (const auto* view = s.as<tir::View>()) of_buffer(view->buffer);
  });
}

/// What replaces expressions of the kernel where `symbol` is `dim`: it replaces n // 2, and half of it n // 4.
arith::Substitution with_named(const tir::PrimFunc& kernel, Expr dim, arith::Var symbol) {
  arith::Substitution named{{dim, symbol}};
  const auto* quotient = dim.as<arith::FloorDiv>();
  const int64_t* divisor = quotient != nullptr ? quotient->b.constant() : nullptr;
  if (divisor == nullptr || *divisor <= 0) return named;
  const auto add = [&](Expr node) {
    const auto* other = node.as<arith::FloorDiv>();
    const int64_t* by = other != nullptr && other->a == quotient->a ? other->b.constant() : nullptr;
    if (by != nullptr && *by > *divisor && *by % *divisor == 0)
      named.emplace(node, arith::floordiv(symbol, *by / *divisor));
  };
  for_each_expression(kernel, [&](Expr e) {
    if (e) arith::for_each_node(e, add);
  });
  return named;
}

/// Returns whether no variable of `dim` is left in the kernel once it is `named`.
bool is_all_of_its_variables(const tir::PrimFunc& kernel, Expr dim, const arith::Substitution& named) {
  const std::vector<arith::Var> variables = arith::free_vars(dim);
  bool all = true;
  for_each_expression(kernel, [&](Expr e) {
    if (!e || !all) return;
    for (arith::Var left : arith::free_vars(arith::substitute(e, named)))
      all &= std::find(variables.begin(), variables.end(), left) == variables.end();
  });
  return all;
}

}  // namespace

KernelConstants extract_constants(arith::Context& context, const tir::PrimFunc& kernel) {
  return TakingOutNumbers(context).run(kernel);
}

KernelConstants extract_sizes(arith::Context& context, const tir::PrimFunc& kernel) {
  return TakingOutSizes(context).run(kernel);
}

std::optional<tir::PrimFunc> with_named_dims(arith::Context& context, const tir::PrimFunc& kernel,
                                             const NameOfDim& name_of) {
  arith::Substitution named;
  const std::vector<tir::BufferRef> tensors = analysis::buffer_params(kernel);
  for (size_t i = 0; i < tensors.size(); ++i)
    for (size_t axis = 0; axis < tensors[i]->shape.size(); ++axis) {
      const Expr dim = tensors[i]->shape[axis];
      const auto name = is_computed(dim) && named.count(dim) == 0 ? name_of(i, axis) : std::nullopt;
      if (!name) continue;
      const arith::Var symbol = context.var(*name, DType::index());
      const arith::Substitution replaced = with_named(kernel, dim, symbol);
      if (is_all_of_its_variables(kernel, dim, replaced)) named.insert(replaced.begin(), replaced.end());
    }
  if (named.empty()) return std::nullopt;
  // Other symbols keep their identity: new ones would give sums and products in dims another order than in calls, by
  // which these find the symbols.
  for (arith::Var symbol : kernel.symbols) named.emplace(symbol, symbol);
  return tir::clone(context, kernel, named);
}

}  // namespace relaxc
