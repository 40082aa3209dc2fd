// parameterize_constants.cpp: see parameterize_constants.h.
//
// Every occurrence gets a variable of its own, though equal numbers are one node: 131 may be the same bound twice in
// one layer and two bounds in the next. So expressions are walked as trees, as in their text.
//
// Long dims: if a reshape takes its dims from data, a size is a sum of products of selects, of a hundred nodes. Every
// tensor computed from it has it as a dim, and each kernel computed it again from the symbols that it got: for 91
// slices of one tensor, which take 20 instructions each, that was a tenth of what LLVM compiled of an SSD. A kernel
// needs the dim only as one number. If the symbol replaces all uses of the dim's variables, only the range of the
// number is lost, which is a size.
#include "compiler/transform/graph/fusion/parameterize_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

constexpr size_t kLongDim = 32;  ///< nodes: far more than convolutions and strided slices make of one symbol

bool is_long(Expr dim) {
  size_t nodes = 0;
  arith::for_each_node(dim, [&](Expr) { ++nodes; });
  return nodes >= kLongDim;
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

/// Returns whether no variable of `dim` is left in the kernel once `symbol` replaces `dim`.
bool is_all_of_its_variables(const tir::PrimFunc& kernel, Expr dim, arith::Var symbol) {
  const std::vector<arith::Var> variables = arith::free_vars(dim);
  bool all = true;
  for_each_expression(kernel, [&](Expr e) {
    if (!e || !all) return;
    for (arith::Var left : arith::free_vars(arith::substitute(e, {{dim, symbol}})))
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

std::optional<tir::PrimFunc> with_named_dims(arith::Context& context, const tir::PrimFunc& kernel) {
  arith::Substitution named;
  for (const tir::Param& param : kernel.params) {
    if (param.buffer == nullptr) continue;
    for (Expr dim : param.buffer->shape) {
      if (named.count(dim) != 0 || !is_long(dim)) continue;
      arith::Var symbol = context.var("dim", DType::index());
      if (is_all_of_its_variables(kernel, dim, symbol)) named.emplace(dim, symbol);
    }
  }
  if (named.empty()) return std::nullopt;
  return tir::clone(context, kernel, named);
}

}  // namespace relaxc
