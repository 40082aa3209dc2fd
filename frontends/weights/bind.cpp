// bind.cpp: binds tensors of a weights file to the constants and parameters of a program.
//
// A parameter becomes a constant as in TVM's BindParams, with one addition: a symbol in the dims of a weight is known
// from then on, and is replaced by its value in the whole function.
#include "frontends/weights/bind.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "compiler/arith/visit.h"
#include "compiler/support/suggest.h"

namespace relaxc::frontend {
namespace {

using relax::Value;

/// Returns the number in "3" or "relax.expr.Constant[3]".
std::optional<int64_t> number_of(std::string_view name) {
  constexpr std::string_view kPrefix = "relax.expr.Constant[";
  if (name.starts_with(kPrefix) && name.ends_with("]")) {
    name.remove_prefix(kPrefix.size());
    name.remove_suffix(1);
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  bool plain = error == std::errc() && end == name.data() + name.size() && number >= 0;
  return plain && std::to_string(number) == name ? std::optional(number) : std::nullopt;
}

/// Binds the parameters of one function.
class FunctionBinder {
 public:
  FunctionBinder(relax::Module& module, relax::Function& function, const NamedConstants& named, Diagnostics& diag)
      : module_(module), function_(function), named_(named), diag_(diag) {}

  /// Adds the names of bound parameters to `bound`, and rewrites the function if all tensors fit.
  Status run(std::set<std::string>& bound) {
    Diagnostics& diag = diag_;
    inputs_ = function_.num_input;
    for (Value* param : function_.body().arguments) {
      auto found = named_.find(param->name);
      if (found == named_.end()) {
        if (inputs_ && param->index >= *inputs_) missing_.push_back(param->name);
        continue;
      }
      bound.insert(param->name);
      RELAXC_DO(check(*param, *found->second));
      weights_.emplace_back(param, found->second);
    }
    if (!missing_.empty())
      return diag.error(function_.location, Kind::missing_data,
                        "the weights have no '{}', which is a parameter of '{}' after its {} inputs",
                        fmt::join(missing_, "', '"), function_.name, *inputs_);
    if (weights_.empty()) return Done{};
    RELAXC_DO(check_derived());
    RELAXC_DO(check_callers());
    replace();
    return Done{};
  }

 private:
  Status check(const Value& param, const relax::ConstantData& data) {
    Diagnostics& diag = diag_;
    const auto* info = param.info->as<relax::TensorInfo>();
    bool fits = info != nullptr && (!info->dtype || *info->dtype == data.dtype()) &&
                (info->ndim < 0 || info->ndim == static_cast<int32_t>(data.shape().size()));
    for (size_t i = 0; fits && info->shape && i < data.shape().size(); ++i)
      fits = dim_fits((*info->shape)[i], data.shape()[i]);
    if (!fits) return mismatch(param, data);
    if (inputs_ && param.index < *inputs_)
      return diag.error(function_.location, Kind::invalid_value,
                        "the weights have '{}', which is an input of '{}' (num_input = {})", param.name, function_.name,
                        *inputs_);
    return Done{};
  }

  bool dim_fits(arith::Expr dim, int64_t extent) {
    if (dim.constant() != nullptr) return *dim.constant() == extent;
    if (dim.as<arith::VarNode>() == nullptr) return true;  // n * 4: checked once all symbols are known
    arith::Range range = function_.facts.range_of(dim);
    if (extent < range.lower || extent > range.upper || extent % function_.facts.multiple_of(dim) != 0) return false;
    auto [known, is_new] = values_.emplace(dim, module_.context().imm(DType::index(), extent));
    return is_new || *known->second.constant() == extent;
  }

  Failure mismatch(const Value& param, const relax::ConstantData& data) {
    return diag_.error(function_.location, Kind::shape_mismatch,
                       "parameter '{}' of '{}' is {}, and the weights have [{}] of {}", param.name, function_.name,
                       relax::to_string(param.info), fmt::join(data.shape(), ", "), to_string(data.dtype()));
  }

  Status check_derived() {
    for (const auto& [param, data] : weights_) {
      const auto* info = param->info->as<relax::TensorInfo>();
      for (size_t i = 0; info->shape && i < data->shape().size(); ++i) {
        arith::Expr dim = arith::substitute((*info->shape)[i], values_);
        if (dim.constant() == nullptr || *dim.constant() != data->shape()[i]) return mismatch(*param, *data);
      }
    }
    return Done{};
  }

  Status check_callers() {
    for (relax::Function* caller : module_.functions())
      for (relax::Op* op : relax::ops_of(caller->body(), true))
        if (op->kind == relax::OpKind::kCallFunction && op->callee == function_.name)
          return diag_.error(op->location, Kind::unsupported,
                             "'{}' is called here, so its parameter '{}' cannot become a constant", function_.name,
                             weights_.front().first->name);
    return Done{};
  }

  void replace() {
    relax::Region& body = function_.body();
    relax::Block* block = function_.make_block(&body, false);
    std::rotate(body.blocks.begin(), body.blocks.end() - 1, body.blocks.end());
    for (const auto& [param, data] : weights_) {
      relax::Op* op = function_.make_op(relax::OpKind::kConstant, function_.location);
      op->constant = data;
      op->block = block;
      block->ops.push_back(op);
      std::vector<arith::Expr> shape;
      for (int64_t dim : data->shape()) shape.push_back(module_.context().imm(DType::index(), dim));
      Value* made = function_.make_result(op, param->name,
                                          relax::tensor_info(module_.context(), std::move(shape), data->dtype()));
      param->replace_all_uses_with(made);
    }
    std::erase_if(body.arguments, [&](Value* argument) {
      return std::any_of(weights_.begin(), weights_.end(),
                         [&](const auto& weight) { return weight.first == argument; });
    });
    for (size_t i = 0; i < body.arguments.size(); ++i) body.arguments[i]->index = static_cast<uint32_t>(i);
    function_.num_input.reset();
    std::erase_if(function_.symbols, [&](arith::Var symbol) { return values_.count(symbol) != 0; });
    if (!values_.empty()) substitute(body);
  }

  /// Replaces symbols by their values in a region. Regions nest at most as deep as the text's indentation.
  void substitute(relax::Region& region) {
    auto renew = [&](Value* value) { value->info = relax::substitute(module_.context(), value->info, values_); };
    for (Value* argument : region.arguments) renew(argument);
    for (relax::Op* op : relax::ops_of(region)) {
      for (Value* result : op->results) renew(result);
      for (relax::Requirement& requirement : op->requirements)
        for (arith::Expr* e : {&requirement.condition, &requirement.expected, &requirement.actual})
          if (*e) *e = arith::substitute(*e, values_);
      for (relax::Region* inner : op->regions) substitute(*inner);
    }
  }

  relax::Module& module_;
  relax::Function& function_;
  const NamedConstants& named_;
  Diagnostics& diag_;
  std::optional<int64_t> inputs_;
  std::vector<std::string> missing_;
  std::vector<std::pair<Value*, relax::ConstantRef>> weights_;
  arith::Substitution values_;
};

/// Adds to `all` what it lacks of the tensors that the text gives for parameters of `function`.
void add_values_of_text(const relax::Function& function, const NamedConstants& said, NamedConstants& all,
                        Diagnostics& diag) {
  std::vector<std::string> absent;
  for (const auto& [name, data] : said) {
    if (data != nullptr)
      all.emplace(name, data);
    else if (all.count(name) == 0)
      absent.push_back(name);
  }
  if (absent.empty()) return;
  diag.warning(function.location, Kind::missing_data,
               "the text has no values for '{}' of '{}', so they stay inputs; print the module with show_meta=True, or "
               "name a file that has them with --params",
               fmt::join(absent, "', '"), function.name);
}

/// Reports tensors that nothing in the module refers to: they may be misspelt, or belong to another program.
Status check_all_used(const relax::Module& module, const NamedConstants& named, const std::set<std::string>& bound,
                      Diagnostics& diag) {
  std::set<const relax::ConstantData*> constants;
  std::vector<std::string> params(bound.begin(), bound.end());
  for (relax::Function* function : module.functions()) {
    for (relax::Op* op : relax::ops_of(function->body(), true)) constants.insert(op->constant.get());
    for (Value* param : function->body().arguments) params.push_back(param->name);
  }
  bool ok = true;
  for (const auto& [name, data] : named) {
    if (bound.count(name) != 0 || constants.count(data.get()) != 0) continue;
    diag.error(nullptr, Kind::unbound_name,
               "the weights have '{}', which is neither a parameter nor a constant of the program", name);
    if (auto near = nearest_name(name, params)) diag.note(nullptr, "did you mean '{}'?", *near);
    ok = false;
  }
  if (!ok) return diag.failed();
  return Done{};
}

}  // namespace

Result<std::map<int64_t, relax::ConstantRef>> numbered_constants(const NamedConstants& named, Diagnostics& diag) {
  std::map<int64_t, relax::ConstantRef> constants;
  for (const auto& [name, data] : named) {
    std::optional<int64_t> number = number_of(name);
    if (number && !constants.emplace(*number, data).second)
      return diag.error(nullptr, Kind::redefinition, "the weights have two tensors for constant {}", *number);
  }
  return constants;
}

Status bind_parameters(relax::Module& module, const NamedConstants& named, Diagnostics& diag,
                       const std::map<std::string, NamedConstants>& of_text) {
  std::set<std::string> bound;
  bool ok = true;
  for (relax::Function* function : module.functions()) {
    auto said = of_text.find(function->name);
    const bool in_text = said != of_text.end();
    if (function->is_private || (named.empty() && !of_text.empty() && !in_text)) continue;
    NamedConstants all = named;
    if (in_text) add_values_of_text(*function, said->second, all, diag);
    if (all.empty() && in_text) continue;  // the text lacks all of them, which was reported
    ok = bool(FunctionBinder(module, *function, all, diag).run(bound)) && ok;
  }
  if (!ok) return diag.failed();
  return check_all_used(module, named, bound, diag);
}

}  // namespace relaxc::frontend
