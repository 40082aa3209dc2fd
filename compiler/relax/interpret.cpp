// interpret.cpp: runs a module as the language says, with concrete sizes.
//
// Operators run by their definition through the Evaluator (interpret_operator.cpp); calls, branches and loops are in
// interpret_call.cpp. Nothing here is quick, and nothing is clever: this is what optimized programs are compared with.
#include "compiler/relax/interpret.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "compiler/relax/callable.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

size_t leaves(Info info) {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return 1;
  size_t count = 0;
  for (Info field : tuple->fields) count += leaves(field);
  return count;
}

Part vector_of(const std::vector<int64_t>& values) {
  HostTensor t{DType::i(64), {static_cast<int64_t>(values.size())}, {}};
  t.bytes.resize(values.size() * sizeof(int64_t));
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return std::make_shared<HostTensor>(std::move(t));
}

std::vector<int64_t> values_of(const HostTensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.elements()));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = decode_integer(t.dtype, t.bytes.data() + k * static_cast<size_t>(t.dtype.bytes()));
  return values;
}

int64_t cell_of(const HostTensor& t) {
  if (t.dtype.is_float()) return std::bit_cast<int64_t>(decode_scalar(t.dtype, t.bytes.data()));
  return decode_integer(t.dtype, t.bytes.data());
}

Part part_of(DType dtype, int64_t cell) {
  HostTensor t{dtype.is_index() ? DType::i(64) : dtype, {}, {}};
  if (dtype.is_float()) {
    t.bytes = encode_scalar(t.dtype, std::bit_cast<double>(cell));
  } else {
    t.bytes.resize(static_cast<size_t>(t.dtype.bytes()));
    std::memcpy(t.bytes.data(), &cell, t.bytes.size());
  }
  return std::make_shared<HostTensor>(std::move(t));
}

/// The address of a tensor's elements; never null.
void* address(const HostTensor& t) {
  alignas(64) static constexpr std::byte kNothing[64]{};
  return const_cast<std::byte*>(t.bytes.empty() ? kNothing : t.bytes.data());
}

std::string label(const Op& op) {
  std::string name = op.def != nullptr ? std::string(op.def->name.text()) : op.callee;
  return op.results.empty() || op.results[0]->name.empty() ? "'" + name + "'"
                                                           : "'" + name + "' giving '" + op.results[0]->name + "'";
}

std::optional<int64_t> Frame::evaluate(Expr e) const {
  for (Var var : arith::free_vars(e))
    if (!env_.contains(var)) return std::nullopt;
  bool plain = true;
  arith::for_each_node(e, [&](Expr node) { plain &= node.dtype().is_index() || node.dtype().is_bool(); });
  return plain ? arith::evaluate(e, [&](Var var) { return env_.at(var); }) : evaluate_element(e);
}

/// Arithmetic of elements means here what it means in a kernel: the Evaluator runs it.
std::optional<int64_t> Frame::evaluate_element(Expr e) const {
  tir::Builder builder(program_.module.context());
  DType dtype = e.dtype().is_index() ? DType::i(64) : e.dtype();
  tir::PrimFunc function;
  function.name = "scalar";
  tir::BufferRef out = builder.buffer("y", dtype, {builder.index(1)});
  function.params.push_back({out, {}});
  function.body = builder.store(out, {builder.index(0)}, arith::cast(dtype, e));
  std::vector<int64_t> cells;
  for (Var var : arith::free_vars(e)) {
    function.params.push_back({nullptr, var});
    cells.push_back(env_.at(var));
  }
  HostTensor result{dtype, {}, std::vector<std::byte>(static_cast<size_t>(dtype.bytes()))};
  void* to = result.bytes.data();
  if (!program_.evaluator.run(function, {&to, 1}, cells)) return std::nullopt;
  return cell_of(result);
}

bool Frame::evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what) {
  for (Expr dim : dims) {
    std::optional<int64_t> value = evaluate(dim);
    if (!value) return fail(kSizeOverflow, what + ": " + arith::to_string(dim) + " has no value");
    out.push_back(*value);
  }
  return true;
}

/// The only symbol of `dim` without a value gets the one that makes it `actual`, where `dim` is linear in it: the
/// buffers of a kernel may be flat views, (n * 6,), and name it nowhere alone. What is wrong here is found by the
/// comparison.
void Frame::solve(Expr dim, int64_t actual) {
  std::vector<Var> unknown;
  for (Var var : arith::free_vars(dim))
    if (!env_.contains(var)) unknown.push_back(var);
  if (unknown.size() != 1) return;
  auto at = [&](int64_t value) {
    env_[unknown[0]] = value;
    std::optional<int64_t> result = evaluate(dim);
    env_.erase(unknown[0]);
    return result;
  };
  std::optional<int64_t> base = at(0), next = at(1);
  if (base && next && *next != *base && (actual - *base) % (*next - *base) == 0)
    env_[unknown[0]] = (actual - *base) / (*next - *base);
}

/// Symbols that have no value yet take it where they stand alone; everything else is compared.
bool Frame::match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual, const std::string& what) {
  if (dims.size() != actual.size())
    return fail(kStaticDim, what + " has another length", static_cast<int64_t>(dims.size()),
                static_cast<int64_t>(actual.size()));
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k].as<arith::VarNode>() != nullptr) env_.try_emplace(dims[k], actual[k]);
  for (size_t k = 0; k < dims.size(); ++k) solve(dims[k], actual[k]);
  for (size_t k = 0; k < dims.size(); ++k) {
    std::optional<int64_t> expected = evaluate(dims[k]);
    bool symbol = dims[k].as<arith::VarNode>() != nullptr;
    int32_t code = dims[k].constant() != nullptr ? kStaticDim : symbol ? kSymbolEquality : kDerivedDim;
    if (!expected) return fail(kSizeOverflow, what + ": " + arith::to_string(dims[k]) + " has no value");
    if (*expected != actual[k])
      return fail(code, fmt::format("{}: dim {} is {{actual}}, must be {{expected}}", what, k), *expected, actual[k]);
  }
  return true;
}

bool Frame::match(Info info, std::span<const Part> list, const std::string& what) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (Info field : tuple->fields) {
      size_t count = leaves(field);
      if (count > list.size()) return fail(kTensorCount, what + " has too few parts");
      if (!match(field, list.first(count), what)) return false;
      list = list.subspan(count);
    }
    return true;
  }
  if (list.size() != 1)
    return fail(kTensorCount, what + " has another number of parts", 1, static_cast<int64_t>(list.size()));
  const HostTensor& t = *list[0];
  if (const auto* tensor = info->as<TensorInfo>()) {
    if (tensor->dtype && *tensor->dtype != t.dtype)
      return fail(kDtype, what + " has dtype " + to_string(t.dtype) + ", not " + to_string(*tensor->dtype));
    if (tensor->ndim >= 0 && tensor->ndim != static_cast<int32_t>(t.shape.size()))
      return fail(kRank, what + " has another rank", tensor->ndim, static_cast<int64_t>(t.shape.size()));
    return !tensor->shape || match_dims(*tensor->shape, t.shape, what);
  }
  if (const auto* shape = info->as<ShapeInfo>()) return !shape->dims || match_dims(*shape->dims, values_of(t), what);
  if (const auto* prim = info->as<PrimInfo>()) {
    DType dtype = prim->dtype.is_index() ? DType::i(64) : prim->dtype;
    if (t.dtype != dtype || !t.shape.empty())
      return fail(kDtype, what + " is no scalar of dtype " + to_string(dtype) + " but has " + to_string(t.dtype));
    return !prim->value || match_dims({prim->value}, {cell_of(t)}, what);
  }
  return true;
}

/// Symbols that stand alone take their values, so that n * 4 may come before n.
void Frame::bind_bare(Info info, std::span<const Part> list) {
  if (const auto* tuple = info->as<TupleInfo>()) {
    for (Info field : tuple->fields) {
      size_t count = std::min(leaves(field), list.size());
      bind_bare(field, list.first(count));
      list = list.subspan(count);
    }
    return;
  }
  if (list.empty()) return;
  std::vector<Expr> formal;
  std::vector<int64_t> actual;
  if (const auto* tensor = info->as<TensorInfo>(); tensor != nullptr && tensor->shape)
    formal = *tensor->shape, actual = list[0]->shape;
  if (const auto* shape = info->as<ShapeInfo>(); shape != nullptr && shape->dims)
    formal = *shape->dims, actual = values_of(*list[0]);
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && prim->value)
    formal = {prim->value}, actual = {cell_of(*list[0])};
  for (size_t k = 0; k < formal.size() && k < actual.size(); ++k)
    if (formal[k].as<arith::VarNode>() != nullptr) env_.try_emplace(formal[k], actual[k]);
}

bool Frame::call(const Function& function, const Parts& inputs, Parts& outputs) {
  const Function* running = &function;
  if (!enter(function, inputs) || !run_region(function.body())) return false;
  while (next_ != nullptr) {
    running = std::exchange(next_, nullptr);
    Parts given = std::move(next_inputs_);
    values_.clear();
    env_.clear();
    if (!enter(*running, given) || !run_region(running->body())) return false;
  }
  for (const Value* result : running->body().results())
    for (const Part& part : parts(result)) outputs.push_back(part);
  return true;
}

bool Frame::enter(const Function& function, const Parts& inputs) {
  size_t next = 0;
  for (const Value* argument : function.body().arguments) {
    size_t count = leaves(argument->info);
    if (next + count > inputs.size())
      return fail(kTensorCount, function.name + " takes more inputs", static_cast<int64_t>(next + count),
                  static_cast<int64_t>(inputs.size()));
    std::span<const Part> list = std::span(inputs).subspan(next, count);
    values_[argument] = Parts(list.begin(), list.end());
    next += count;
  }
  if (next != inputs.size())
    return fail(kTensorCount, function.name + " takes fewer inputs", static_cast<int64_t>(next),
                static_cast<int64_t>(inputs.size()));
  for (const Value* argument : function.body().arguments) bind_bare(argument->info, values_[argument]);
  for (const Value* argument : function.body().arguments)
    if (!match(argument->info, values_[argument], "input '" + argument->name + "'")) return false;
  return true;
}

bool Frame::run_region(const Region& region) {
  for (const Block* block : region.blocks)
    for (const Op* op : block->ops)
      if (!run(*op)) return false;  // a call in tail position is the last op there is
  return true;
}

bool Frame::set_results(const Op& op, const Parts& all) {
  forget(op.binds);
  size_t next = 0;
  for (const Value* result : op.results) {
    size_t count = leaves(result->info);
    RELAXC_CHECK(next + count <= all.size(), label(op) + " gave too few results");
    std::span<const Part> list = std::span(all).subspan(next, count);
    bind_bare(result->info, list);
    if (!match(result->info, list, "result of " + label(op))) return false;
    values_[result] = Parts(list.begin(), list.end());
    next += count;
  }
  RELAXC_CHECK(next == all.size(), label(op) + " gave too many results");
  return true;
}

bool Frame::run_shape(const Op& op) {
  std::vector<int64_t> dims;
  if (!evaluate_dims(*op.result()->info->as<ShapeInfo>()->dims, dims, "a shape")) return false;
  values_[op.result()] = {vector_of(dims)};
  return true;
}

bool Frame::run_prim(const Op& op) {
  const auto& info = *op.result()->info->as<PrimInfo>();
  std::vector<int64_t> value;
  if (!evaluate_dims({info.value}, value, "a scalar")) return false;
  values_[op.result()] = {part_of(info.dtype, value[0])};
  return true;
}

bool Frame::run_tuple(const Op& op) {
  Parts all;
  for (const Value* operand : op.operands())
    for (const Part& part : parts(operand)) all.push_back(part);
  values_[op.result()] = std::move(all);
  return true;
}

bool Frame::run_tuple_get(const Op& op) {
  const auto& fields = op.operand(0)->info->as<TupleInfo>()->fields;
  size_t index = static_cast<size_t>(op.attrs.integer("index")), first = 0;
  for (size_t k = 0; k < index; ++k) first += leaves(fields[k]);
  auto begin = parts(op.operand(0)).begin() + static_cast<std::ptrdiff_t>(first);
  Parts field(begin, begin + static_cast<std::ptrdiff_t>(leaves(fields[index])));
  values_[op.result()] = std::move(field);
  return true;
}

bool Frame::run(const Op& op) {
  for (const Requirement& r : op.requirements)
    if (std::optional<int64_t> holds = evaluate(r.condition); !holds || *holds == 0)
      return fail(r.code, located_text(op, r), r.expected ? evaluate(r.expected).value_or(0) : 0,
                  r.actual ? evaluate(r.actual).value_or(0) : 0);
  switch (op.kind) {
    case OpKind::kOperator:
      return run_operator(op);
    case OpKind::kConstant:
      values_[op.result()] = {std::make_shared<HostTensor>(
          HostTensor{op.constant->dtype(), op.constant->shape(), op.constant->to_vector()})};
      return true;
    case OpKind::kShape:
      return run_shape(op);
    case OpKind::kPrim:
      return run_prim(op);
    case OpKind::kTuple:
      return run_tuple(op);
    case OpKind::kTupleGet:
      return run_tuple_get(op);
    case OpKind::kMatchCast:
      return run_match_cast(op);
    case OpKind::kCallTir:
      return run_call_tir(op);
    case OpKind::kCallFunction:
      return run_call(op);
    case OpKind::kMakeClosure:
      return run_make_closure(op);
    case OpKind::kCallClosure:
      return run_call_closure(op);
    case OpKind::kCallExternal:
      return run_external(op);
    case OpKind::kShapeFunction:
      return run_shape_function(op);
    case OpKind::kCallInplace:
      return run_inplace(op);
    case OpKind::kAssert:
      return run_assert(op);
    case OpKind::kPrint:
      return run_print(op);
    case OpKind::kIf:
      return run_if(op);
    case OpKind::kLoop:
      return run_loop(op);
  }
  RELAXC_UNREACHABLE();
}

}  // namespace relaxc::relax::interpreter

namespace relaxc::relax {

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator,
                                                          const tir::CallExternal& external) {
  using namespace interpreter;
  Program program{module, table, evaluator, external, {}, {}};
  Parts in, out;
  for (const Value* argument : function.body().arguments)
    if (holds_callable(argument->info))
      return RunFault{{kDtype, 0, 0}, "input '" + argument->name + "' is a function, which no host can give"};
  for (const HostTensor& input : inputs) in.push_back(std::make_shared<HostTensor>(input));
  Frame frame(program, 0);
  if (!frame.call(function, in, out)) return frame.fault();
  std::vector<HostTensor> outputs;
  for (const Part& part : out) outputs.push_back(*part);
  return outputs;
}

}  // namespace relaxc::relax
