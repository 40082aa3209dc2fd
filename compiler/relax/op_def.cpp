// op_def.cpp: the op table, and what all operators share: checking a call, deducing its results, making its prim
// func.
#include "compiler/relax/op_def.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/relax/attr_text.h"
#include "compiler/relax/builder.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax {
namespace {

size_t required_operands(const OpDef& def) {
  return static_cast<size_t>(std::count_if(def.operands.begin(), def.operands.end(),
                                           [](const OperandDef& o) { return o.arity == OperandDef::kRequired; }));
}

bool is_variadic(const OpDef& def) {
  return !def.operands.empty() && def.operands.back().arity == OperandDef::kVariadic;
}

Status check_operands(const Op& op, Diagnostics& diag) {
  const OpDef& def = *op.def;
  size_t given = op.operands().size(), least = required_operands(def), most = def.operands.size();
  if (given < least || (given > most && !is_variadic(def)))
    return diag.error(op.location, Kind::wrong_arity, "'{}' takes {}{} operands, found {}", def.name, least,
                      is_variadic(def) ? " or more"
                      : most == least  ? ""
                                       : " to " + std::to_string(most),
                      given);
  for (size_t i = 0; i < def.operands.size() && i < given; ++i)
    if (def.operands[i].arity == OperandDef::kRequired && op.operand(i) == nullptr)
      return diag.error(op.location, Kind::wrong_arity, "operand '{}' of '{}' is missing", def.operands[i].name,
                        def.name);
  return Done{};
}

}  // namespace

OpTable::OpTable(std::vector<std::span<const OpDef>> families) : by_index_(std::size(kOpNames)) {
  for (std::span<const OpDef> family : families)
    for (const OpDef& def : family) {
      RELAXC_CHECK((def.define != nullptr) != (def.expand != nullptr),
                   std::string(def.name.text()) + " needs exactly one meaning");
      const OpDef*& place = by_index_[def.name.index()];
      RELAXC_CHECK(place == nullptr, "two operators named " + std::string(def.name.text()));
      place = &def;
    }
  std::copy_if(by_index_.begin(), by_index_.end(), std::back_inserter(by_name_),
               [](const OpDef* d) { return d != nullptr; });
}

const OpDef* OpTable::find(std::string_view name) const {
  std::optional<OpName> known = OpName::find(name);
  return known ? of(*known) : nullptr;
}

Result<const TensorInfo*> InferContext::tensor(size_t index) {
  std::string_view name = op.def == nullptr || op.def->operands.empty()
                              ? std::string_view("operand")
                              : op.def->operands[std::min(index, op.def->operands.size() - 1)].name;
  Value* value = op.operand(index);
  const auto* info = value == nullptr || value->info == nullptr ? nullptr : value->info->as<TensorInfo>();
  if (info == nullptr)
    return error(Kind::dtype_mismatch, "operand '{}' of '{}' must be a tensor, found {}", name, op.def->name,
                 value == nullptr ? "nothing" : to_string(value->info));
  if (!info->shape || !info->dtype)
    return error(Kind::shape_mismatch,
                 "operand '{}' of '{}' needs a known shape and dtype, found {}; give them with match_cast", name,
                 op.def->name, to_string(value->info));
  return info;
}

Result<std::vector<Expr>> InferContext::shape_value(size_t index) {
  Value* value = op.operand(index);
  const auto* info = value == nullptr ? nullptr : value->info->as<ShapeInfo>();
  if (info == nullptr || !info->dims) {
    Failure failure =
        error(Kind::shape_mismatch, "operand '{}' of '{}' must be a shape of known dims, found {}",
              op.def->operands[index].name, op.def->name, value == nullptr ? "nothing" : to_string(value->info));
    const auto* prim = value == nullptr ? nullptr : value->info->as<PrimInfo>();
    const auto* tensor = value == nullptr ? nullptr : value->info->as<TensorInfo>();
    if (prim != nullptr && prim->value)
      diag.note(nullptr, "a shape of one dim is written with a comma: ({},)", arith::to_string(prim->value));
    else if (tensor != nullptr && tensor->ndim == 0)
      diag.note(nullptr, "a shape of one dim is written with a comma: (n,)");
    return failure;
  }
  return *info->dims;
}

Result<int64_t> InferContext::axis(int64_t axis, int64_t rank, bool inclusive) {
  int64_t positions = rank + (inclusive ? 1 : 0);
  if (positions == 0)
    return error(Kind::invalid_attribute, "axis {} of '{}' is an axis of a scalar, which has none", axis, op.def->name);
  if (axis < -positions || axis >= positions)
    return error(Kind::invalid_attribute, "axis {} of '{}' is outside -{}..{}", axis, op.def->name, positions,
                 positions - 1);
  return axis < 0 ? axis + positions : axis;
}

Status InferContext::require(Expr condition, int32_t code, Expr expected, Expr actual, const Found& found,
                             const std::string& text) {
  arith::Truth truth = arith::decide(condition, facts);
  if (truth == arith::Truth::kTrue) return Done{};
  if (truth == arith::Truth::kFalse) return error(Kind::shape_mismatch, "{}", text);
  // An op without results has no name yet; its place is added when the message is printed.
  std::string place = op.results.empty() ? std::string() : origin_text(op);
  op.requirements.push_back({condition, code, expected, actual, place + ": " + sentence(found)});
  return Done{};
}

Var InferContext::bound_symbol(size_t index, std::string name) {
  while (op.binds.size() <= index) op.binds.push_back(context.var(name));
  return op.binds[index];
}

const std::vector<Expr>& DefineContext::shape_value(size_t index) const {
  const auto* info = op.operand(index)->info->as<ShapeInfo>();
  RELAXC_CHECK(info != nullptr && info->dims, "operand is not a shape of known dims");
  return *info->dims;
}

tir::Stmt DefineContext::require(Expr condition, int32_t code, Expr expected, Expr actual) {
  tir::Guard guard;
  guard.condition = condition;
  guard.code = code;
  guard.expected = expected, guard.actual = actual;
  return builder.guard(std::move(guard));
}

Status complete_op(Op& op, Diagnostics& diag) {
  const OpDef& def = *op.def;
  RELAXC_DO(check_operands(op, diag));
  for (const auto& [name, value] : op.attrs.all()) {
    auto known =
        std::find_if(def.attrs.begin(), def.attrs.end(), [&name = name](const AttrDef& a) { return a.name == name; });
    if (known == def.attrs.end())
      return diag.error(op.location, Kind::invalid_attribute, "'{}' has no attribute '{}'", def.name, name);
    if (attr_type(value) != known->type) {
      std::optional<AttrValue> converted = convert_attr(value, known->type);
      if (!converted)
        return diag.error(op.location, Kind::invalid_attribute, "attribute '{}' of '{}' must be {}, found {}", name,
                          def.name, attr_type_name(known->type), attr_text(value));
      op.attrs.set(name, *converted);
    }
  }
  for (const AttrDef& attr : def.attrs) {
    if (op.attrs.has(attr.name)) continue;
    if (attr.required)
      return diag.error(op.location, Kind::invalid_attribute, "'{}' needs attribute '{}'", def.name, attr.name);
    op.attrs.set(std::string(attr.name), parse_attr(attr.fallback, attr.type));
  }
  return Done{};
}

namespace {

/// Returns the struct info that the op's rule deduces. A program may contain dims of any value, so a rule that reads
/// beyond a container is reported as an error, and so is a result with a negative dim or one that no memory holds.
InferResult deduced(InferContext& context) {
  std::vector<Info> infos;
  try {
    RELAXC_TRY(infos, context.op.def->infer(context));
  } catch (const std::logic_error&) {  // thrown by a container: an index out of range, or an impossible length
    return context.error(Kind::rank_mismatch, "'{}' takes operands of other ranks or lengths", context.op.def->name);
  }
  for (Info info : infos) {
    if (std::string wrong = impossible_size(info); !wrong.empty())
      return context.error(Kind::overflow, "'{}' would give {}", context.op.def->name, wrong);
    const auto* tensor = info->as<TensorInfo>();
    if (tensor == nullptr || !tensor->shape) continue;
    for (Expr dim : *tensor->shape)
      if (const int64_t* known = dim.constant(); known != nullptr && *known < 0)
        return context.error(Kind::invalid_value, "'{}' would give {}, which has a dim below 0", context.op.def->name,
                             to_string(info));
  }
  return infos;
}

}  // namespace

Status infer_op(Function& function, Op& op, const arith::Facts& facts, Diagnostics& diag) {
  InferContext context(function.context(), op, facts, diag);
  op.requirements.clear();
  RELAXC_TRY(std::vector<Info> infos, deduced(context));
  for (size_t i = 0; i < infos.size(); ++i) {
    if (i < op.results.size())
      op.results[i]->info = infos[i];
    else
      function.make_result(&op, {}, infos[i]);
  }
  RELAXC_CHECK(op.results.size() == infos.size(), "the number of results changed");
  return Done{};
}

namespace {

/// Makes the buffer of an operand or result, with symbols that the op binds replaced by their upper bounds.
tir::BufferRef buffer_of(tir::Builder& builder, const Value& value, std::string name,
                         const arith::Substitution& bounds) {
  std::vector<Expr> shape = value.shape();
  for (Expr& dim : shape) dim = arith::substitute(dim, bounds);
  return builder.buffer(std::move(name), value.dtype(), std::move(shape));
}

/// Adds a scalar parameter for each symbol of Shape and Prim operands, since no buffer's shape defines those.
void add_scalar_params(tir::PrimFunc& function, const Op& op) {
  for (Value* operand : op.operands()) {
    if (operand == nullptr || operand->info->as<TensorInfo>() != nullptr) continue;
    for (Var var : symbols_of(operand->info)) {
      auto is = [&](const tir::Param& param) { return param.var == var; };
      if (std::none_of(function.params.begin(), function.params.end(), is)) function.params.push_back({nullptr, var});
    }
  }
}

}  // namespace

tir::PrimFunc define_op(Context& context, const Op& op, std::string name) {
  RELAXC_CHECK(op.def != nullptr && op.def->define != nullptr, "an operator without a definition");
  tir::Builder builder(context);
  arith::Substitution bounds;
  for (size_t i = 0; i < op.binds.size(); ++i)
    if (Expr bound = op.def->upper_bound(op, i)) bounds[op.binds[i]] = bound;

  tir::PrimFunc function;
  function.name = std::move(name);
  function.location = op.location;
  function.origins = op.origins.empty() ? std::vector<Location>{op.location} : op.origins;
  std::vector<tir::BufferRef> inputs, outputs, bound_values;
  for (size_t i = 0; i < op.operands().size(); ++i) {
    Value* operand = op.operand(i);
    bool tensor = operand != nullptr && operand->info->as<TensorInfo>() != nullptr;
    inputs.push_back(tensor ? buffer_of(builder, *operand, "x" + std::to_string(i), {}) : nullptr);
    if (tensor) function.params.push_back({inputs.back(), {}});
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    bool tensor = op.results[i]->info->as<TensorInfo>() != nullptr;
    std::string result = op.results.size() == 1 ? "y" : "y" + std::to_string(i);
    outputs.push_back(tensor ? buffer_of(builder, *op.results[i], result, bounds) : nullptr);
    if (tensor) function.params.push_back({outputs.back(), {}});
  }
  for (size_t i = 0; i < op.binds.size(); ++i) {
    bound_values.push_back(builder.buffer(op.binds[i].name(), DType::i(64), {context.index(1)}));
    function.params.push_back({bound_values.back(), {}});
  }
  add_scalar_params(function, op);
  DefineContext define(builder, op, std::move(inputs), std::move(outputs));
  define.bound_values_ = std::move(bound_values);
  function.body = op.def->define(define);
  tir::collect_symbols(function);
  return function;
}

}  // namespace relaxc::relax
