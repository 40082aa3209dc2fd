// values.cpp: converts terms to values of the graph.
#include "frontends/relax/function/values.h"

#include <cstring>

#include "frontends/relax/function/closures.h"
#include "frontends/relax/function/expressions.h"

namespace relaxc::frontend {

using relax::Value;

namespace {

/// Returns a shape value for a sequence of dims, and a tuple for any other.
Result<Value*> sequence_value(FunctionParts& fn, const Term& term, Place place) {
  if (term.is_dims()) {
    RELAXC_TRY(std::vector<arith::Expr> list, fn.dims.list_of(term, place));
    return fn.graph.at(place).shape(std::move(list));
  }
  std::vector<Value*> fields;
  for (const Term& item : term.items) {
    RELAXC_TRY(Value * field, as_value(fn, item, place));
    if (field == nullptr) return fn.source.error(place, Kind::invalid_value, "None cannot be in a tuple");
    fields.push_back(field);
  }
  return fn.graph.at(place).tuple(std::move(fields));
}

}  // namespace

Result<relax::Value*> as_value(FunctionParts& fn, const Term& term, Place place) {
  Diagnostics& diag = fn.source.diag();
  switch (term.kind) {
    case Term::kPoison:
      return diag.failed();
    case Term::kNone:
      return static_cast<Value*>(nullptr);
    case Term::kValue:
      return term.value;
    case Term::kScalar:
      if (term.scalar.literal == Scalar::kReal) return number(fn, term.scalar, DType::f(32), place);
      if (term.scalar.literal == Scalar::kDimLiteral)
        return fn.graph.at(place).prim(fn.context().imm(DType::index(), *term.scalar.expr.constant()));
      return fn.graph.at(place).prim(term.scalar.expr);
    case Term::kSequence:
      return sequence_value(fn, term, place);
    case Term::kString:
      return fn.source.error(
          place, Kind::dtype_mismatch,
          "a string cannot be a value of the object: an external function takes tensors, shapes, scalars and objects");
    case Term::kModule:
      return fn.source.error(place, Kind::dtype_mismatch, "expected a value, found the module");
    case Term::kSelf:
      return fn.captures->self_closure(place);
    case Term::kGlobal:
      return global_closure(fn, term.text, {}, place);
    case Term::kExternal:
      break;
  }
  return fn.source.error(place, Kind::unsupported, "the function '{}' is not a value; call it", term.text);
}

relax::Value* operand_value(FunctionParts& fn, const ast::Expr& e) {
  Result<Term> term = eval(fn, e);
  if (!term) return nullptr;
  Result<Value*> value = as_value(fn, *term, e.place);
  if (!value) return nullptr;
  if (*value == nullptr) (void)fn.source.error(e.place, Kind::invalid_value, "expected a value, found None");
  return *value;
}

Result<relax::Value*> number(FunctionParts& fn, const Scalar& scalar, DType dtype, Place place) {
  RELAXC_TRY(arith::Expr typed, fn.dims.adapt(scalar, dtype, place));
  if (dtype.is_float())
    return fn.graph.at(place).scalar(dtype, static_cast<const arith::FloatImm*>(typed.node())->value);
  std::vector<std::byte> bytes(static_cast<size_t>(dtype.bytes()));
  int64_t value = *typed.constant();
  std::memcpy(bytes.data(), &value, bytes.size());
  return fn.graph.at(place).constant(relax::ConstantData::inline_bytes(dtype, {}, std::move(bytes)));
}

Result<relax::Value*> scalar_tensor(FunctionParts& fn, arith::Expr dim, DType dtype, Place place) {
  relax::GraphBuilder& build = fn.graph.at(place);
  RELAXC_TRY(Value * vector, build.call("shape_to_tensor", {build.shape({dim})}));
  RELAXC_TRY(Value * element, build.call("reshape", {vector, build.shape({})}));
  return dtype == DType::i(64) ? Result<Value*>(element) : build.call("astype", {element}, {{"dtype", dtype}});
}

void pin(FunctionParts& fn, Value& value) {
  if (value.region != &fn.function.body()) return;
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const auto* shape = value.info->as<relax::ShapeInfo>();
  bool open = (tensor && tensor->ndim >= 0 && !tensor->shape) || (shape && shape->ndim >= 0 && !shape->dims);
  if (!open) return;
  std::vector<arith::Expr> dims;
  int32_t ndim = tensor != nullptr ? tensor->ndim : shape->ndim;
  for (int32_t i = 0; i < ndim; ++i) {
    arith::Var var = fn.context().var(value.name + "_" + std::to_string(i));
    fn.function.symbols.push_back(var);
    if (tensor != nullptr) fn.function.facts.bound(var, arith::Range::at_least(0));
    dims.push_back(var);
  }
  value.info = tensor != nullptr ? relax::tensor_info(fn.context(), std::move(dims), tensor->dtype)
                                 : relax::shape_info(fn.context(), std::move(dims));
}

const relax::TensorInfo* matched_info(const FunctionParts& fn, const Value& value) {
  for (const relax::Use& use : value.uses()) {
    if (use.user->kind != relax::OpKind::kMatchCast || use.user->block == nullptr) continue;
    const auto* tensor = use.user->result()->info->as<relax::TensorInfo>();
    if (tensor == nullptr || !tensor->shape) continue;
    for (const relax::Region* region = &fn.graph.region(); region != nullptr;
         region = region->parent_op == nullptr ? nullptr : region->parent_op->block->parent)
      if (region == use.user->block->parent) return tensor;
  }
  return nullptr;
}

const std::vector<arith::Expr>* known_dims(FunctionParts& fn, Value& value) {
  const auto* tensor = value.info->as<relax::TensorInfo>();
  const relax::TensorInfo* matched = tensor->shape ? tensor : matched_info(fn, value);
  if (matched == nullptr) {
    pin(fn, value);
    matched = value.info->as<relax::TensorInfo>();
  }
  return matched->shape ? &*matched->shape : nullptr;
}

Result<std::vector<Value*>> tuple_fields(FunctionParts& fn, Value* tuple, Place place) {
  std::vector<Value*> fields(tuple->info->as<relax::TupleInfo>()->fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    RELAXC_TRY(fields[i], fn.graph.at(place).tuple_get(tuple, static_cast<int64_t>(i)));
  }
  return fields;
}

Term results_of(const relax::Op* op) {
  if (op->results.size() == 1) return Term::of(op->results[0]);
  std::vector<Term> terms;
  for (Value* value : op->results) terms.push_back(Term::of(value));
  return Term::sequence(std::move(terms));
}

std::optional<Scalar> as_scalar(const Term& term) {
  if (term.kind == Term::kScalar) return term.scalar;
  const auto* prim = term.kind == Term::kValue ? term.value->info->as<relax::PrimInfo>() : nullptr;
  return prim != nullptr && prim->value ? std::optional<Scalar>(Scalar{prim->value}) : std::nullopt;
}

}  // namespace relaxc::frontend
