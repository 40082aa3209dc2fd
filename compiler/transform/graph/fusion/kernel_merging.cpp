// kernel_merging.cpp: see kernel_merging.h.
#include "compiler/transform/graph/fusion/kernel_merging.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "compiler/arith/visit.h"
#include "compiler/relax/builder.h"
#include "compiler/relax/call_symbols.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/print.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/graph/fusion/parameterize_constants.h"
#include "compiler/transform/graph/rewriting/origins.h"

namespace relaxc {
namespace {

using namespace relax;

// Counted in code for Cortex-M4 at -Oz, of keyword spotting of MLPerf Tiny and the networks of docs/performance.md: an
// argument costs about six bytes at each call, a kernel 24 for its entry and exit, and a node of its expressions and
// statements about three.
constexpr size_t kBytesOfArgument = 6, kBytesOfKernel = 24, kBytesOfNode = 3;

size_t nodes_of(const tir::PrimFunc& function) {
  size_t count = 0;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    ++count;
    for (Expr e : tir::expressions(s)) arith::for_each_node(e, [&](Expr) { ++count; });
  });
  return count;
}

/// Returns the function's text without its name, by which kernels are compared; their origins are merged instead.
std::string content(tir::PrimFunc nameless) {
  nameless.name = "kernel";
  return tir::to_string(nameless);
}

class Merging {
 public:
  Merging(Module& module, PassContext& context) : module_(module), context_(context) {
    for (Function* function : module.functions())
      for (Op* op : ops_of(function->body(), true))
        if (!op->callee.empty()) uses_[op->callee].push_back(op);
    for (const tir::PrimFunc* function : module.prim_funcs())
      tir::for_each_stmt(function->body, [&](tir::Stmt s) {
        if (const auto* invoke = s.as<tir::Invoke>()) invoked_.insert(invoke->callee);
      });
  }

  /// Names computed dims, which calls find by their operands. Returns whether a kernel has other symbols now.
  bool name_dims() {
    bool any = false;
    for (tir::PrimFunc* function : module_.prim_funcs()) {
      auto uses = uses_.find(function->name);
      if (!function->is_private || invoked_.count(function->name) != 0 || uses == uses_.end()) continue;
      const auto may_name = [&](const Op* op) { return op->kind == OpKind::kCallTir && has_symbols(*op, *function); };
      if (!std::all_of(uses->second.begin(), uses->second.end(), may_name)) continue;
      std::optional<tir::PrimFunc> named =
          with_named_dims(module_.context(), *function,
                          [&](size_t tensor, size_t axis) { return name_of_dim(uses->second, tensor, axis); });
      if (!named) continue;
      *function = std::move(*named);
      any = true;
    }
    return any;
  }

  void merge_equal() {
    std::map<std::string, tir::PrimFunc*> first;
    for (tir::PrimFunc* function : module_.prim_funcs()) {
      if (!function->is_private || invoked_.count(function->name) != 0) continue;
      auto [it, fresh] = first.emplace(content(*function), function);
      if (!fresh) replace(*function, *it->second);
    }
  }

  void merge_numbers() {
    merge_similar(extract_constants, [](const auto&, const auto& columns) { return columns.size() <= kMostNumbers; });
  }

  void merge_sizes(size_t most) {
    merge_similar(extract_sizes, [&](const auto& members, const auto& columns) {
      return columns.size() <= most && saves_code(members, columns.size());
    });
  }

  bool remove_merged() {
    return module_.remove_if([&](const std::string& name) { return merged_.count(name) != 0; });
  }

 private:
  /// Returns the dims of the tensors that are known before a call; of a tensor of unknown shape, none.
  static std::vector<std::vector<Expr>> known_dims(const Op& call) {
    std::vector<std::vector<Expr>> dims;
    for (const Value* tensor : tensors_known_before(call))
      dims.push_back(tensor->info->as<TensorInfo>()->shape.value_or(std::vector<Expr>()));
    return dims;
  }

  /// Returns whether the dims of the call's tensors decide the symbols of its kernel, so that none of them has to be a
  /// variable of the caller.
  static bool has_symbols(const Op& call, const tir::PrimFunc& kernel) {
    arith::Substitution found;
    solve_symbols(kernel, known_dims(call), found);
    return std::all_of(kernel.symbols.begin(), kernel.symbols.end(),
                       [&](arith::Var symbol) { return found.count(symbol) != 0; });
  }

  /// The name of a dim has its upper bound and its divisor in all calls, where there are any: schedules depend on them,
  /// so that kernels which differ in them remain several. Nothing if the dim is not known before a call.
  static std::optional<std::string> name_of_dim(const std::vector<Op*>& calls, size_t tensor, size_t axis) {
    int64_t upper = 0, factor = 0;
    for (const Op* call : calls) {
      const arith::Facts& facts = call->block->parent->function->facts;
      const std::vector<std::vector<Expr>> dims = known_dims(*call);
      if (tensor >= dims.size() || axis >= dims[tensor].size()) return std::nullopt;
      upper = std::max(upper, arith::bounds(dims[tensor][axis], facts).upper);
      factor = std::gcd(factor, arith::divisor(dims[tensor][axis], facts));
    }
    return "dim" + (upper != INT64_MAX ? fmt::format("_to_{}", upper) : "") +
           (factor > 1 ? fmt::format("_by_{}", factor) : "");
  }

  static constexpr size_t kMostNumbers = 16;  ///< arguments that one merged kernel may take

  struct Similar {
    tir::PrimFunc* kernel = nullptr;
    KernelConstants numbers;
  };
  using TakeOut = KernelConstants (*)(arith::Context&, const tir::PrimFunc&);
  using Columns = std::vector<std::vector<Expr>>;
  /// Decides whether kernels that differ in these columns are merged.
  using Pays = std::function<bool(const std::vector<Similar>&, const Columns&)>;

  void merge_similar(TakeOut take_out, const Pays& pays) {
    std::map<std::string, std::vector<Similar>> alike;
    for (tir::PrimFunc* function : module_.prim_funcs()) {
      if (merged_.count(function->name) != 0 || !may_be_handed_more(*function)) continue;
      Similar one{function, take_out(module_.context(), *function)};
      if (one.numbers.values.empty()) continue;
      std::string text = constants(*function) + content(one.numbers.kernel);
      alike[std::move(text)].push_back(std::move(one));
    }
    for (const auto& [text, members] : alike)
      if (members.size() > 1) merge(members, pays);
  }

  /// Returns whether the removed kernels are more code than the arguments that all calls get.
  bool saves_code(const std::vector<Similar>& members, size_t numbers) const {
    size_t calls = 0;
    for (const Similar& member : members) calls += uses_.at(member.kernel->name).size();
    const size_t each = kBytesOfKernel + nodes_of(*members.front().kernel) * kBytesOfNode;
    return (members.size() - 1) * each > calls * numbers * kBytesOfArgument;
  }

  /// Returns whether only calls name the kernel, with operands that are tensors and numbers, so that more arguments can
  /// follow, and with the dims that it wants without a guard.
  bool may_be_handed_more(const tir::PrimFunc& function) const {
    auto uses = uses_.find(function.name);
    if (!function.is_private || invoked_.count(function.name) != 0 || uses == uses_.end()) return false;
    return std::all_of(uses->second.begin(), uses->second.end(), [&](const Op* op) {
      return op->kind == OpKind::kCallTir &&
             std::all_of(op->operands().begin(), op->operands().end(),
                         [](const Value* v) { return v->info->as<TensorInfo>() || v->info->as<PrimInfo>(); }) &&
             has_known_dims(function, *op);
    });
  }

  static bool has_known_dims(const tir::PrimFunc& function, const Op& call) {
    std::vector<const Value*> tensors;
    for (const std::vector<Value*>* values : {&call.operands(), &call.results})
      for (const Value* value : *values)
        if (value->info->as<TensorInfo>() != nullptr) tensors.push_back(value);
    size_t at = 0;
    for (const tir::Param& param : function.params) {
      if (param.buffer == nullptr) continue;
      if (at == tensors.size()) return true;  // bound values and scratch follow
      const std::vector<Expr>&wanted = param.buffer->shape, &given = tensors[at++]->shape();
      if (wanted.size() != given.size()) return false;
      for (size_t axis = 0; axis < wanted.size(); ++axis)
        if (wanted[axis].constant() != nullptr && !(wanted[axis] == given[axis])) return false;
    }
    return true;
  }

  /// Returns a letter for each operand: c if it is a constant in every call of the kernel, else v.
  std::string constants(const tir::PrimFunc& function) const {
    std::string letters;
    const std::vector<Op*>& calls = uses_.at(function.name);
    for (size_t i = 0; i < calls.front()->operands().size(); ++i) {
      bool all = std::all_of(calls.begin(), calls.end(), [&](const Op* call) {
        return call->operand(i)->op != nullptr && call->operand(i)->op->kind == OpKind::kConstant;
      });
      letters += all ? 'c' : 'v';
    }
    return letters;
  }

  void merge(const std::vector<Similar>& members, const Pays& pays) {
    Columns columns = differing_columns(members);
    if (!pays(members, columns)) return;
    tir::PrimFunc& kept = *members.front().kernel;
    const std::vector<Expr> given = take_in(kept, members, columns);
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto* var = given[i].as<arith::VarNode>();
      if (var == nullptr || is_dim(kept, arith::Var(var))) continue;
      kept.params.push_back({nullptr, arith::Var(var)});
      for (size_t which = 0; which < members.size(); ++which)
        for (Op* call : uses_.at(members[which].kernel->name))
          call->add_operand(GraphBuilder(module_, context_.ops, call, context_.diag).prim(columns[i][which]));
    }
    tir::collect_symbols(kept);
    for (const Similar& other : members)
      if (other.kernel != &kept) replace(*other.kernel, kept);
  }

  /// Returns whether a call finds the variable among its operands' dims.
  static bool is_dim(const tir::PrimFunc& kernel, arith::Var var) {
    return std::any_of(kernel.params.begin(), kernel.params.end(), [&](const tir::Param& param) {
      return param.buffer != nullptr && std::any_of(param.buffer->shape.begin(), param.buffer->shape.end(),
                                                    [&](Expr dim) { return dim == Expr(var); });
    });
  }

  static std::vector<Expr> column_of(const std::vector<Similar>& members, size_t place) {
    std::vector<Expr> column;
    for (const Similar& member : members) column.push_back(member.numbers.values[place]);
    return column;
  }

  static bool differs(const std::vector<Expr>& column) {
    return std::any_of(column.begin(), column.end(), [&](Expr e) { return !(e == column.front()); });
  }

  /// Returns the numbers in which members differ, by member; places that always agree with each other are one column.
  static Columns differing_columns(const std::vector<Similar>& members) {
    Columns found;
    for (size_t place = 0; place < members.front().numbers.values.size(); ++place) {
      std::vector<Expr> column = column_of(members, place);
      if (differs(column) && std::find(found.begin(), found.end(), column) == found.end())
        found.push_back(std::move(column));
    }
    return found;
  }

  /// Puts a variable into the kernel for each column, and numbers where members agree. A dim's last index, to which
  /// subscripts are clamped, stays one less than the dim: nothing could be proved of another variable.
  /// \return what replaces each column
  std::vector<Expr> take_in(tir::PrimFunc& kernel, const std::vector<Similar>& members, const Columns& columns) {
    std::vector<Expr> given;
    for (size_t i = 0; i < columns.size(); ++i)
      given.push_back(module_.context().var("c" + std::to_string(i), columns[i].front().dtype()));
    const KernelConstants& numbers = members.front().numbers;
    arith::Substitution by;
    const auto fill_in = [&] {
      for (size_t place = 0; place < numbers.values.size(); ++place) {
        auto column = std::find(columns.begin(), columns.end(), column_of(members, place));
        by[numbers.variables[place]] =
            column == columns.end() ? numbers.values[place] : given[static_cast<size_t>(column - columns.begin())];
      }
      kernel = tir::clone(module_.context(), numbers.kernel, by);
    };
    fill_in();
    if (derive_last_places(kernel, columns, given)) fill_in();
    return given;
  }

  /// Replaces variables that are one less than a dim in all members by `dim - 1`. \return whether there are any
  static bool derive_last_places(const tir::PrimFunc& kernel, const Columns& columns, std::vector<Expr>& given) {
    const std::vector<Expr> variables = given;
    const auto dim = [&](size_t i) {
      const auto* var = variables[i].as<arith::VarNode>();
      return var->dtype.is_index() && is_dim(kernel, arith::Var(var));
    };
    for (size_t last = 0; last < columns.size(); ++last)
      for (size_t i = 0; i < columns.size() && variables[last].dtype().is_index(); ++i)
        if (!dim(last) && dim(i) && is_one_less(columns[last], columns[i])) given[last] = variables[i] - 1;
    return given != variables;
  }

  static bool is_one_less(const std::vector<Expr>& column, const std::vector<Expr>& than) {
    for (size_t i = 0; i < column.size(); ++i)
      if (!(column[i] == than[i] - 1)) return false;
    return true;
  }

  void replace(const tir::PrimFunc& gone, tir::PrimFunc& by) {
    add_origins(by.origins, gone.origins);
    std::vector<Op*> moved = uses_[gone.name];
    for (Op* op : moved) op->callee = by.name;
    std::vector<Op*>& uses = uses_[by.name];
    uses.insert(uses.end(), moved.begin(), moved.end());
    uses_.erase(gone.name);
    merged_.insert(gone.name);
  }

  Module& module_;
  PassContext& context_;
  std::map<std::string, std::vector<Op*>> uses_;  ///< ops that name a function
  std::set<std::string> invoked_;                 ///< prim funcs that other prim funcs call
  std::set<std::string> merged_;
};

}  // namespace

Changed merge_kernels(relax::Module& module, PassContext& context) {
  Merging merging(module, context);
  const bool named = merging.name_dims();
  merging.merge_equal();
  merging.merge_numbers();
  return merging.remove_merged() || named ? Changed::kYes : Changed::kNo;
}

Changed merge_kernels_of_sizes(relax::Module& module, PassContext& context, size_t most) {
  Merging merging(module, context);
  merging.merge_sizes(most);
  return merging.remove_merged() ? Changed::kYes : Changed::kNo;
}

}  // namespace relaxc
