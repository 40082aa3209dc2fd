// interpret.cpp: runs a module as the language says, with concrete sizes.
//
// A value is the list of its leaves (a tuple's fields flattened; a shape is a vector of int64, a scalar a tensor of
// rank 0). Symbols have their values in an environment of the call; an op that binds symbols overwrites them, so loop
// bodies need no scopes of their own. Operators run by their definition through the Evaluator; those that expand are
// expanded into a function of their own, which is kept, and that is run. Nothing here is quick, and nothing is clever:
// this is what optimized programs are compared with.
#include "compiler/relax/interpret.h"

#include <cstring>
#include <unordered_map>

#include "compiler/relax/builder.h"

namespace relaxc::relax {
namespace {

using Part = std::shared_ptr<const HostTensor>;
using Parts = std::vector<Part>;

// Numbers of rlx_status.
constexpr int32_t kRank = 5, kStaticDim = 6, kSymbolEquality = 7, kDerivedDim = 8, kDtype = 4, kTensorCount = 2;
constexpr int32_t kExternalFailed = 35, kRecursionDepth = 36, kSizeOverflow = 20, kDataBound = 40;
constexpr int kDeepestCall = 256;

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

/// The address of a tensor's elements; never null.
void* address(const HostTensor& t) {
  alignas(64) static constexpr std::byte kNothing[64]{};
  return const_cast<std::byte*>(t.bytes.empty() ? kNothing : t.bytes.data());
}

/// What runs share: the program, and what was made of its operators.
struct Program {
  Module& module;
  const OpTable& table;
  tir::Evaluator& evaluator;
  const tir::CallExternal& external;
  std::unordered_map<const Op*, tir::PrimFunc> definitions;
  std::unordered_map<const Op*, std::unique_ptr<Function>> expansions;
};

/// One call of one function.
class Frame {
 public:
  Frame(Program& program, int depth) : program_(program), depth_(depth) {}

  bool call(const Function& function, const Parts& inputs, Parts& outputs);
  const RunFault& fault() const { return fault_; }

 private:
  bool fail(int32_t code, std::string text, int64_t expected = 0, int64_t actual = 0) {
    fault_.status.code = code;
    fault_.status.expected = expected;
    fault_.status.actual = actual;
    fault_.text = std::move(text);
    return false;
  }

  std::optional<int64_t> evaluate(Expr e) const;
  bool evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what);
  bool match(Info info, std::span<const Part> parts, const std::string& what);
  bool match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual, const std::string& what);
  void forget(const std::vector<Var>& symbols) {
    for (Var var : symbols) env_.erase(var);
  }

  bool run_region(const Region& region);
  bool run(const Op& op);
  bool run_operator(const Op& op);
  bool run_definition(const Op& op);
  bool run_expansion(const Op& op);
  bool run_call_tir(const Op& op);
  bool run_call(const Op& op);
  bool run_external(const Op& op);
  bool run_shape_function(const Op& op);
  bool run_if(const Op& op);
  bool run_loop(const Op& op);
  bool run_prim_func(const tir::PrimFunc& function, const Parts& inputs, const std::vector<int64_t>& scalars,
                     std::vector<std::shared_ptr<HostTensor>>& outputs, const std::string& what);

  bool allocate(const TensorInfo& info, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out,
                const std::string& what);
  const Parts& parts(const Value* value) const {
    auto it = values_.find(value);
    RELAXC_CHECK(it != values_.end(), "'" + value->name + "' is used before it has a value");
    return it->second;
  }
  bool flag(const Value* value) const { return decode_integer(parts(value)[0]->dtype, parts(value)[0]->bytes.data()); }
  /// Gives the results of an op their leaves, binding its symbols.
  bool set_results(const Op& op, const Parts& all);

  Program& program_;
  int depth_;
  std::unordered_map<Expr, int64_t> env_;
  std::unordered_map<const Value*, Parts> values_;
  RunFault fault_;
};

std::string label(const Op& op) {
  std::string name = op.def != nullptr ? std::string(op.def->name) : op.callee;
  return op.results.empty() || op.results[0]->name.empty() ? "'" + name + "'"
                                                           : "'" + name + "' giving '" + op.results[0]->name + "'";
}

std::optional<int64_t> Frame::evaluate(Expr e) const {
  for (Var var : arith::free_vars(e))
    if (!env_.contains(var)) return std::nullopt;
  return arith::evaluate(e, [&](Var var) { return env_.at(var); });
}

bool Frame::evaluate_dims(const std::vector<Expr>& dims, std::vector<int64_t>& out, const std::string& what) {
  for (Expr dim : dims) {
    std::optional<int64_t> value = evaluate(dim);
    if (!value) return fail(kSizeOverflow, what + ": " + arith::to_string(dim) + " has no value");
    out.push_back(*value);
  }
  return true;
}

/// Symbols that have no value yet take it where they stand alone; everything else is compared.
bool Frame::match_dims(const std::vector<Expr>& dims, const std::vector<int64_t>& actual, const std::string& what) {
  if (dims.size() != actual.size())
    return fail(kRank, what + " has another rank", static_cast<int64_t>(dims.size()),
                static_cast<int64_t>(actual.size()));
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k].as<arith::VarNode>() != nullptr) env_.try_emplace(dims[k], actual[k]);
  for (size_t k = 0; k < dims.size(); ++k) {
    std::optional<int64_t> expected = evaluate(dims[k]);
    bool symbol = dims[k].as<arith::VarNode>() != nullptr;
    int32_t code = dims[k].constant() != nullptr ? kStaticDim : symbol ? kSymbolEquality : kDerivedDim;
    if (!expected) return fail(kSizeOverflow, what + ": " + arith::to_string(dims[k]) + " has no value");
    if (*expected != actual[k])
      return fail(code, what + ", axis " + std::to_string(k) + ": " + arith::to_string(dims[k]), *expected, actual[k]);
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
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && prim->value && !prim->dtype.is_float())
    return match_dims({prim->value}, values_of(t), what);
  return true;
}

bool Frame::call(const Function& function, const Parts& inputs, Parts& outputs) {
  size_t next = 0;
  for (const Value* argument : function.body().arguments) {
    size_t count = leaves(argument->info);
    if (next + count > inputs.size())
      return fail(kTensorCount, function.name + " takes more inputs", static_cast<int64_t>(next + count),
                  static_cast<int64_t>(inputs.size()));
    std::span<const Part> list = std::span(inputs).subspan(next, count);
    // Symbols that stand alone first, so that n * 4 may come before n.
    values_[argument] = Parts(list.begin(), list.end());
    next += count;
  }
  if (next != inputs.size())
    return fail(kTensorCount, function.name + " takes fewer inputs", static_cast<int64_t>(next),
                static_cast<int64_t>(inputs.size()));
  for (int pass = 0; pass < 2; ++pass)
    for (const Value* argument : function.body().arguments) {
      const Parts& list = values_[argument];
      if (pass == 0) {
        if (const auto* tensor = argument->info->as<TensorInfo>(); tensor != nullptr && tensor->shape)
          for (size_t k = 0; k < std::min(tensor->shape->size(), list[0]->shape.size()); ++k)
            if ((*tensor->shape)[k].as<arith::VarNode>() != nullptr)
              env_.try_emplace((*tensor->shape)[k], list[0]->shape[k]);
      } else if (!match(argument->info, list, "input '" + argument->name + "'")) {
        return false;
      }
    }
  if (!run_region(function.body())) return false;
  for (const Value* result : function.body().results())
    for (const Part& part : parts(result)) outputs.push_back(part);
  return true;
}

bool Frame::run_region(const Region& region) {
  for (const Block* block : region.blocks)
    for (const Op* op : block->ops)
      if (!run(*op)) return false;
  return true;
}

bool Frame::set_results(const Op& op, const Parts& all) {
  forget(op.binds);
  size_t next = 0;
  for (const Value* result : op.results) {
    size_t count = leaves(result->info);
    RELAXC_CHECK(next + count <= all.size(), label(op) + " gave too few results");
    std::span<const Part> list = std::span(all).subspan(next, count);
    if (!match(result->info, list, "result of " + label(op))) return false;
    values_[result] = Parts(list.begin(), list.end());
    next += count;
  }
  RELAXC_CHECK(next == all.size(), label(op) + " gave too many results");
  return true;
}

bool Frame::run(const Op& op) {
  for (const Requirement& r : op.requirements)
    if (std::optional<int64_t> holds = evaluate(r.condition); !holds || *holds == 0)
      return fail(r.code, label(op) + " requires " + arith::to_string(r.condition),
                  r.expected ? evaluate(r.expected).value_or(0) : 0, r.actual ? evaluate(r.actual).value_or(0) : 0);
  switch (op.kind) {
    case OpKind::kOperator:
      return run_operator(op);
    case OpKind::kConstant:
      values_[op.result()] = {std::make_shared<HostTensor>(
          HostTensor{op.constant->dtype(), op.constant->shape(), op.constant->to_vector()})};
      return true;
    case OpKind::kShape: {
      std::vector<int64_t> dims;
      if (!evaluate_dims(*op.result()->info->as<ShapeInfo>()->dims, dims, "a shape")) return false;
      values_[op.result()] = {vector_of(dims)};
      return true;
    }
    case OpKind::kPrim: {
      const auto& info = *op.result()->info->as<PrimInfo>();
      HostTensor t{info.dtype.is_index() ? DType::i(64) : info.dtype, {}, {}};
      if (const auto* number = info.value.as<arith::FloatImm>()) {
        t.bytes = encode_scalar(t.dtype, number->value);
      } else {
        std::vector<int64_t> value;
        if (!evaluate_dims({info.value}, value, "a scalar")) return false;
        t.bytes.resize(static_cast<size_t>(t.dtype.bytes()));
        std::memcpy(t.bytes.data(), value.data(), t.bytes.size());
      }
      values_[op.result()] = {std::make_shared<HostTensor>(std::move(t))};
      return true;
    }
    case OpKind::kTuple: {
      Parts all;
      for (const Value* operand : op.operands())
        for (const Part& part : parts(operand)) all.push_back(part);
      values_[op.result()] = std::move(all);
      return true;
    }
    case OpKind::kTupleGet: {
      const auto& fields = op.operand(0)->info->as<TupleInfo>()->fields;
      size_t index = static_cast<size_t>(op.attrs.integer("index")), first = 0;
      for (size_t k = 0; k < index; ++k) first += leaves(fields[k]);
      auto begin = parts(op.operand(0)).begin() + static_cast<std::ptrdiff_t>(first);
      Parts field(begin, begin + static_cast<std::ptrdiff_t>(leaves(fields[index])));
      values_[op.result()] = std::move(field);
      return true;
    }
    case OpKind::kMatchCast: {
      Parts same = parts(op.operand(0));
      return set_results(op, same);
    }
    case OpKind::kCallTir:
      return run_call_tir(op);
    case OpKind::kCallFunction:
      return run_call(op);
    case OpKind::kCallExternal:
      return run_external(op);
    case OpKind::kShapeFunction:
      return run_shape_function(op);
    case OpKind::kIf:
      return run_if(op);
    case OpKind::kLoop:
      return run_loop(op);
  }
  RELAXC_UNREACHABLE();
}

bool Frame::run_operator(const Op& op) {
  return op.def->expand != nullptr ? run_expansion(op) : run_definition(op);
}

bool Frame::allocate(const TensorInfo& info, const std::vector<Expr>& shape, std::shared_ptr<HostTensor>& out,
                     const std::string& what) {
  out = std::make_shared<HostTensor>(HostTensor{*info.dtype, {}, {}});
  if (!evaluate_dims(shape, out->shape, what)) return false;
  int64_t bytes = info.dtype->bytes();
  for (int64_t dim : out->shape)
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes) || bytes > (int64_t{1} << 40))
      return fail(kSizeOverflow, what + " has a size that cannot be", 0, dim);
  out->bytes.resize(static_cast<size_t>(bytes));
  return true;
}

bool Frame::run_definition(const Op& op) {
  auto [it, made] = program_.definitions.try_emplace(&op);
  if (made) it->second = define_op(program_.module.context(), op, std::string(op.def->name));
  const tir::PrimFunc& function = it->second;
  arith::Substitution bounds;
  for (size_t k = 0; k < op.binds.size(); ++k)
    if (Expr bound = op.def->upper_bound(op, k)) bounds[op.binds[k]] = bound;

  std::vector<void*> addresses;
  for (const Value* operand : op.operands())
    if (operand != nullptr && operand->info->as<TensorInfo>() != nullptr)
      addresses.push_back(address(*parts(operand)[0]));
  std::vector<std::shared_ptr<HostTensor>> outputs(op.results.size());
  for (size_t k = 0; k < op.results.size(); ++k) {
    const auto* tensor = op.results[k]->info->as<TensorInfo>();
    if (tensor == nullptr) continue;
    std::vector<Expr> shape = *tensor->shape;
    for (Expr& dim : shape) dim = arith::substitute(dim, bounds);
    if (!allocate(*tensor, shape, outputs[k], "result of " + label(op))) return false;
    addresses.push_back(address(*outputs[k]));
  }
  std::vector<int64_t> bound_values(op.binds.size());
  for (int64_t& value : bound_values) addresses.push_back(&value);
  std::vector<Expr> vars;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) vars.push_back(param.var);
  for (Var var : function.symbols) vars.push_back(var);
  std::vector<int64_t> scalars;
  if (!evaluate_dims(vars, scalars, label(op))) return false;

  tir::RunStatus status = program_.evaluator.run(function, addresses, scalars);
  if (!status) {
    fault_ = {status, label(op)};
    return false;
  }
  for (size_t k = 0; k < op.binds.size(); ++k) {
    env_[op.binds[k]] = bound_values[k];
    Expr bound = op.def->upper_bound(op, k);
    std::optional<int64_t> most = bound ? evaluate(bound) : std::nullopt;
    if (most && bound_values[k] > *most) return fail(kDataBound, label(op), *most, bound_values[k]);
  }
  for (size_t k = 0; k < op.results.size(); ++k) {
    const Value* result = op.results[k];
    if (const auto* shape = result->info->as<ShapeInfo>()) {
      std::vector<int64_t> dims;
      if (!evaluate_dims(*shape->dims, dims, "result of " + label(op))) return false;
      values_[result] = {vector_of(dims)};
      continue;
    }
    HostTensor& t = *outputs[k];
    t.shape.clear();
    if (!evaluate_dims(result->shape(), t.shape, "result of " + label(op))) return false;
    t.bytes.resize(static_cast<size_t>(t.elements() * t.dtype.bytes()));
    values_[result] = {outputs[k]};
  }
  return true;
}

/// The expansion of an op as a function of the op's operands. Constants stay constants, so that what looks at them sees
/// them.
bool Frame::run_expansion(const Op& op) {
  std::unique_ptr<Function>& expansion = program_.expansions[&op];
  if (expansion == nullptr) {
    auto function = std::make_unique<Function>(program_.module.context(), std::string(op.def->name));
    Block* block = function->make_block(&function->body(), true);
    Diagnostics diag;
    GraphBuilder builder(program_.module, program_.table, block, diag);
    builder.location = op.location;
    Op* copy = function->make_op(OpKind::kOperator, op.location);
    copy->def = op.def;
    copy->attrs = op.attrs;
    copy->binds = op.binds;
    for (Value* operand : op.operands()) {
      if (operand == nullptr) {
        copy->add_operand(nullptr);
      } else if (operand->op != nullptr && operand->op->kind == OpKind::kConstant) {
        copy->add_operand(builder.constant(operand->op->constant, operand->name));
        function->make_argument(&function->body(), operand->name, operand->info);
      } else {
        copy->add_operand(function->make_argument(&function->body(), operand->name, operand->info));
      }
    }
    for (const Value* result : op.results) function->make_result(copy, result->name, result->info);
    Result<std::vector<Value*>> results = op.def->expand(builder, *copy);
    RELAXC_CHECK(bool(results), label(op) + " does not expand: " + render(diag));
    for (Value* result : *results) function->body().yield->add_operand(result);
    expansion = std::move(function);
  }
  size_t argument = 0;
  for (Value* operand : op.operands())
    if (operand != nullptr) values_[expansion->body().arguments[argument++]] = parts(operand);
  if (!run_region(expansion->body())) return false;
  Parts all;
  for (const Value* result : expansion->body().results())
    for (const Part& part : parts(result)) all.push_back(part);
  return set_results(op, all);
}

/// `inputs` and `outputs` are the buffer parameters in order, `scalars` the scalar ones. Symbols in buffer shapes take
/// their values from the tensors.
bool Frame::run_prim_func(const tir::PrimFunc& function, const Parts& inputs, const std::vector<int64_t>& scalars,
                          std::vector<std::shared_ptr<HostTensor>>& outputs, const std::string& what) {
  std::unordered_map<Expr, int64_t> outer = std::exchange(env_, {});
  size_t buffer = 0, scalar = 0;
  std::vector<void*> addresses;
  std::vector<const HostTensor*> tensors;
  for (const Part& input : inputs) tensors.push_back(input.get());
  for (const auto& output : outputs) tensors.push_back(output.get());
  std::vector<int64_t> all = scalars;
  bool ok = true;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) {
      RELAXC_CHECK(scalar < scalars.size(), what + " is called with too few scalars");
      env_[param.var] = scalars[scalar++];
    }
  for (const tir::Param& param : function.params) {
    if (param.buffer == nullptr) continue;
    RELAXC_CHECK(buffer < tensors.size(), what + " is called with too few tensors");
    const HostTensor& t = *tensors[buffer++];
    ok = ok && match_dims(param.buffer->shape, t.shape, "an argument of " + what);
    addresses.push_back(address(t));
  }
  ok = ok && evaluate_dims(std::vector<Expr>(function.symbols.begin(), function.symbols.end()), all, what);
  env_ = std::move(outer);
  if (!ok) return false;
  tir::RunStatus status = program_.evaluator.run(function, addresses, all);
  if (status) return true;
  fault_ = {status, what};
  return false;
}

/// Leaves of the operands: tensors, and scalars of shapes and prims.
void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars) {
  if (info->as<TensorInfo>() != nullptr || info->as<TupleInfo>() != nullptr) {
    tensors.insert(tensors.end(), parts.begin(), parts.end());
    return;
  }
  for (int64_t value : values_of(*parts[0])) scalars.push_back(value);
}

/// The tensor infos of an op's results, tuples flattened.
void collect_tensors(Info info, std::vector<const TensorInfo*>& out) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) collect_tensors(field, out);
  else if (const auto* tensor = info->as<TensorInfo>())
    out.push_back(tensor);
}

bool Frame::run_call_tir(const Op& op) {
  const tir::PrimFunc* function = program_.module.find_prim_func(op.callee);
  RELAXC_CHECK(function != nullptr, "no prim func " + op.callee);
  Parts inputs;
  std::vector<int64_t> scalars;
  for (const Value* operand : op.operands())
    if (operand != nullptr) collect(parts(operand), operand->info, inputs, scalars);
  std::vector<const TensorInfo*> infos;
  for (const Value* result : op.results) collect_tensors(result->info, infos);
  std::vector<std::shared_ptr<HostTensor>> outputs(infos.size());
  for (size_t k = 0; k < infos.size(); ++k)
    if (!allocate(*infos[k], *infos[k]->shape, outputs[k], "result of " + label(op))) return false;
  if (!run_prim_func(*function, inputs, scalars, outputs, label(op))) return false;
  return set_results(op, Parts(outputs.begin(), outputs.end()));
}

bool Frame::run_call(const Op& op) {
  const Function* function = program_.module.find_function(op.callee);
  RELAXC_CHECK(function != nullptr, "no function " + op.callee);
  if (depth_ >= kDeepestCall) return fail(kRecursionDepth, label(op) + " recurses too deeply", kDeepestCall);
  Parts inputs, outputs;
  for (const Value* operand : op.operands())
    for (const Part& part : parts(operand)) inputs.push_back(part);
  Frame inner(program_, depth_ + 1);
  if (!inner.call(*function, inputs, outputs)) {
    fault_ = inner.fault();
    return false;
  }
  return set_results(op, outputs);
}

bool Frame::run_external(const Op& op) {
  std::vector<tir::ExternalArg> args;
  for (const Value* operand : op.operands()) {
    Parts tensors;
    std::vector<int64_t> scalars;
    collect(parts(operand), operand->info, tensors, scalars);
    for (const Part& t : tensors) args.push_back({address(*t), t->dtype, t->shape, 0});
    for (int64_t value : scalars) args.push_back({nullptr, DType::i(64), {}, value});
  }
  std::vector<const TensorInfo*> infos;
  for (const Value* result : op.results) collect_tensors(result->info, infos);
  Parts outputs;
  for (const TensorInfo* info : infos) {
    std::shared_ptr<HostTensor> out;
    if (!allocate(*info, *info->shape, out, "result of " + label(op))) return false;
    args.push_back({address(*out), out->dtype, out->shape, 0});
    outputs.push_back(std::move(out));
  }
  RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
  if (int32_t code = program_.external(op.callee, args); code != 0) return fail(kExternalFailed, label(op), 0, code);
  return set_results(op, outputs);
}

bool Frame::run_shape_function(const Op& op) {
  std::vector<tir::ExternalArg> args;
  for (const Value* operand : op.operands())
    for (const Part& t : parts(operand)) args.push_back({address(*t), t->dtype, t->shape, 0});
  std::vector<int64_t> dims(static_cast<size_t>(op.result()->info->as<ShapeInfo>()->ndim));
  args.push_back({dims.data(), DType::i(64), {static_cast<int64_t>(dims.size())}, 0});
  RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
  if (int32_t code = program_.external(op.callee, args); code != 0) return fail(kExternalFailed, label(op), 0, code);
  return set_results(op, {vector_of(dims)});
}

bool Frame::run_if(const Op& op) {
  const Region& region = *op.regions[flag(op.operand(0)) ? 0 : 1];
  if (!run_region(region)) return false;
  Parts all;
  for (const Value* result : region.results())
    for (const Part& part : parts(result)) all.push_back(part);
  return set_results(op, all);
}

/// Tensors of one shape along a new leading dim.
Part stacked(const std::vector<Part>& list, DType dtype, const std::vector<int64_t>& element_shape) {
  HostTensor t{dtype, {static_cast<int64_t>(list.size())}, {}};
  t.shape.insert(t.shape.end(), element_shape.begin(), element_shape.end());
  for (const Part& part : list) t.bytes.insert(t.bytes.end(), part->bytes.begin(), part->bytes.end());
  return std::make_shared<HostTensor>(std::move(t));
}

bool Frame::run_loop(const Op& op) {
  const Region& body = *op.regions[0];
  int64_t trips = op.operand(0) == nullptr ? INT64_MAX : values_of(*parts(op.operand(0))[0])[0];
  bool going = op.operand(1) == nullptr || flag(op.operand(1));
  size_t carried_count = op.operands().size() - 2, scan_count = body.results().size() - 1 - carried_count;
  std::vector<Parts> carried;
  for (size_t k = 0; k < carried_count; ++k) carried.push_back(parts(op.operand(k + 2)));
  std::vector<std::vector<Part>> scans(scan_count);
  for (int64_t i = 0; i < trips && going; ++i) {
    forget(op.binds);
    Value* iteration = body.arguments[0];
    values_[iteration] = {std::make_shared<HostTensor>(*vector_of({i}))};
    if (const auto* prim = iteration->info->as<PrimInfo>(); prim != nullptr && prim->value) {
      env_[prim->value] = i;
      auto scalar = std::make_shared<HostTensor>(*vector_of({i}));
      scalar->shape.clear();
      values_[iteration] = {scalar};
    }
    for (size_t k = 0; k < carried_count; ++k) {
      const Value* argument = body.arguments[k + 1];
      if (!match(argument->info, carried[k], "carried value '" + argument->name + "'")) return false;
      values_[argument] = carried[k];
    }
    if (!run_region(body)) return false;
    const std::vector<Value*>& results = body.results();
    going = results[0] == nullptr || flag(results[0]);
    for (size_t k = 0; k < carried_count; ++k) carried[k] = parts(results[k + 1]);
    for (size_t k = 0; k < scan_count; ++k) scans[k].push_back(parts(results[k + 1 + carried_count])[0]);
  }
  Parts all;
  for (const Parts& value : carried) all.insert(all.end(), value.begin(), value.end());
  for (size_t k = 0; k < scan_count; ++k) {
    const TensorInfo& info = op.results[carried_count + k]->tensor();
    std::vector<int64_t> shape;
    if (!scans[k].empty()) shape = scans[k][0]->shape;
    for (const Part& part : scans[k])
      if (part->shape != shape) return fail(kDerivedDim, "a scan output of a loop changes its shape");
    if (scans[k].empty())
      for (size_t axis = 1; axis < info.shape->size(); ++axis)
        shape.push_back(evaluate((*info.shape)[axis]).value_or(0));
    all.push_back(stacked(scans[k], *info.dtype, shape));
  }
  return set_results(op, all);
}

}  // namespace

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

std::variant<std::vector<HostTensor>, RunFault> interpret(Module& module, const OpTable& table,
                                                          const Function& function, std::span<const HostTensor> inputs,
                                                          tir::Evaluator& evaluator,
                                                          const tir::CallExternal& external) {
  Program program{module, table, evaluator, external, {}, {}};
  Parts in, out;
  for (const HostTensor& input : inputs) in.push_back(std::make_shared<HostTensor>(input));
  Frame frame(program, 0);
  if (!frame.call(function, in, out)) return frame.fault();
  std::vector<HostTensor> outputs;
  for (const Part& part : out) outputs.push_back(*part);
  return outputs;
}

}  // namespace relaxc::relax
