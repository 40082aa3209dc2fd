// lift_transform_params.cpp: moves what is computed of weights alone into a function that the caller runs once.
//
// Weights that are constants are transposed, cast and dequantized when compiling. Where the caller has them, since they
// are trained further or come from elsewhere, every run would do that again. So a function of whose parameters those
// after `num_input` are weights is split, as by relax.transform.LiftTransformParams of TVM: NAME_prepare computes from
// the weights what depends on nothing else, and NAME takes its results in place of the weights that it no longer reads.
//
// What stays: views, which cost nothing where they are; ops whose result has more elements than their operands (a
// broadcast), since the prepared form is memory that the caller keeps; shapes with symbols; weights that are states,
// which a run changes; functions that are called in the module.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/relax/copy.h"
#include "compiler/transform/graph/dead_code.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Returns the number of elements of a tensor of constant dims; nothing for any other value.
std::optional<int64_t> elements_of(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return std::nullopt;
  std::optional<std::vector<int64_t>> dims = numbers_of(*tensor->shape);
  if (!dims) return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *dims) count *= dim;
  return count;
}

class Lifting {
 public:
  Lifting(Module& module, Function& function, PassContext& context)
      : module_(module), function_(function), context_(context) {}

  Result<Changed> run() {
    const std::vector<Value*> weights = weights_of_caller();
    moved_.insert(weights.begin(), weights.end());
    for (const Op* op : ops_of(function_.body()))
      if (may_move(*op)) moved_.insert(op->results.begin(), op->results.end());
    leave_views();
    std::vector<Value*> prepared = boundary();
    if (prepared.empty()) return Changed::kNo;
    const std::string name = function_.name + "_prepare";
    if (module_.find_function(name) != nullptr || module_.find_prim_func(name) != nullptr)
      return context_.diag.error(function_.location, Kind::redefinition,
                                 "the weights of '{}' are prepared by '{}', which is defined", function_.name, name);
    make_prepare(name, weights, prepared);
    take_prepared(weights, prepared);
    return Changed::kYes;
  }

 private:
  std::vector<Value*> weights_of_caller() const {
    std::vector<Value*> weights;
    const std::vector<Value*>& all = function_.body().arguments;
    const size_t first =
        function_.num_input ? static_cast<size_t>(std::max<int64_t>(*function_.num_input, 0)) : all.size();
    for (size_t i = first; i < all.size(); ++i) {
      auto is_own = [&](const State& state) { return state.input == all[i]->name; };
      const bool state = std::any_of(function_.states.begin(), function_.states.end(), is_own);
      if (!state && !all[i]->unused() && elements_of(*all[i])) weights.push_back(all[i]);
    }
    return weights;
  }

  /// Whether the op depends on weights alone, and its results are not larger than what it reads.
  bool may_move(const Op& op) const {
    if (op.kind != OpKind::kOperator || !op.def->pure || op.def->define == nullptr) return false;
    if (!op.requirements.empty() || !op.binds.empty()) return false;
    int64_t read = 0, made = 0;
    bool weights = false;
    for (const Value* operand : op.operands()) {
      if (operand == nullptr || is_fixed(*operand)) continue;
      if (moved_.count(operand) == 0) return false;
      weights = true;
      read += *elements_of(*operand);
    }
    for (const Value* result : op.results) {
      std::optional<int64_t> count = elements_of(*result);
      if (!count) return false;
      made += *count;
    }
    return weights && made <= read;
  }

  /// Whether both functions can have the value: a constant, or a shape of numbers.
  static bool is_fixed(const Value& value) {
    if (constant_of(&value) != nullptr) return true;
    return value.op != nullptr && value.op->kind == OpKind::kShape && symbols_of(value.info).empty();
  }

  bool is_moved(const Op& op) const { return !op.results.empty() && moved_.count(op.results[0]) != 0; }

  bool is_read_outside(const Value& value) const {
    return std::any_of(value.uses().begin(), value.uses().end(), [&](const Use& use) { return !is_moved(*use.user); });
  }

  /// Takes back views of which nothing moves that depends on them.
  void leave_views() {
    std::vector<Op*> ops = ops_of(function_.body());
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      if (is_moved(**op) && (*op)->def->role == Role::kView && is_read_outside(*(*op)->result()))
        for (const Value* result : (*op)->results) moved_.erase(result);
  }

  std::vector<Value*> boundary() const {
    std::vector<Value*> values;
    for (const Op* op : ops_of(function_.body()))
      if (is_moved(*op))
        for (Value* result : op->results)
          if (is_read_outside(*result)) values.push_back(result);
    return values;
  }

  /// Returns the first of the weights of which the value is computed.
  const Value& first_weight(const Value& value) const {
    const Value* at = &value;
    while (at->op != nullptr) {
      const std::vector<Value*>& operands = at->op->operands();
      at = *std::find_if(operands.begin(), operands.end(), [&](const Value* one) { return moved_.count(one) != 0; });
    }
    return *at;
  }

  void make_prepare(const std::string& name, const std::vector<Value*>& weights, const std::vector<Value*>& prepared) {
    Function* made = module_.add_function(name);
    made->location = function_.location;
    Block* block = made->make_block(&made->body(), true);
    Copy copy(*made, block);
    for (Value* weight : weights) copy.values[weight] = made->make_argument(&made->body(), weight->name, weight->info);
    for (const Op* op : ops_of(function_.body())) {
      if (!is_moved(*op)) continue;
      for (const Value* operand : op->operands())
        if (operand != nullptr && is_fixed(*operand) && copy.values.count(operand) == 0) copy.op(*operand->op);
      copy.op(*op);
    }
    std::set<std::string> taken;
    for (const Value* argument : function_.body().arguments) taken.insert(argument->name);
    for (Value* value : prepared) {
      made->body().yield->add_operand(copy.of(value));
      const std::string base = value->name.empty() ? first_weight(*value).name + "_prepared" : value->name;
      std::string unique = base;
      for (int i = 1; !taken.insert(unique).second; ++i) unique = base + "_" + std::to_string(i);
      made->output_names.push_back(unique);
    }
    prepare_ = made;
  }

  void take_prepared(const std::vector<Value*>& weights, const std::vector<Value*>& prepared) {
    for (size_t i = 0; i < prepared.size(); ++i) {
      Value* argument = function_.make_argument(&function_.body(), prepare_->output_names[i], prepared[i]->info);
      prepared[i]->replace_all_uses_with(argument);
    }
    remove_dead_ops(module_);
    drop_unused(*prepare_, [](const Value*) { return true; });
    drop_unused(function_, [&](const Value* v) { return std::count(weights.begin(), weights.end(), v) != 0; });
  }

  template <typename Which>
  static void drop_unused(Function& function, Which which) {
    std::vector<Value*>& arguments = function.body().arguments;
    std::erase_if(arguments, [&](const Value* value) { return value->unused() && which(value); });
    for (size_t i = 0; i < arguments.size(); ++i) arguments[i]->index = static_cast<uint32_t>(i);
  }

  Module& module_;
  Function& function_;
  PassContext& context_;
  std::unordered_set<const Value*> moved_;  ///< weights, and what is computed of them alone
  Function* prepare_ = nullptr;
};

bool is_called(const Module& module, const Function& function) {
  for (const Function* caller : module.functions())
    for (const Op* op : ops_of(caller->body(), true))
      if (op->callee == function.name) return true;
  return false;
}

}  // namespace

Result<Changed> lift_transform_params(relax::Module& module, PassContext& context) {
  if (context.option(kLiftTransformParams) == 0) return Changed::kNo;
  Changed changed = Changed::kNo;
  for (Function* function : module.functions())
    if (!function->is_private && !is_called(module, *function)) {
      RELAXC_TRY(Changed here, Lifting(module, *function, context).run());
      changed |= here;
    }
  if (changed == Changed::kNo)
    context.diag.warning(nullptr, Kind::usage,
                         "no function computes anything of weights alone (parameters after 'num_input') that could be "
                         "prepared, so none is split");
  return changed;
}

}  // namespace relaxc
