// entry_functions.cpp: the part of the shape program that runs before any buffer is written.
#include "compiler/transform/lower/host/entry_functions.h"

#include <algorithm>
#include <map>

#include "compiler/plan/storage.h"
#include "compiler/relax/origin_text.h"
#include "compiler/tir/visit.h"

namespace relaxc::lower {

using namespace relax;

namespace {

tir::PrimFunc index_function(std::string name, const std::vector<Var>& symbols) {
  tir::PrimFunc made;
  made.name = std::move(name);
  made.checks.overflow_code = kSizeOverflow;
  for (Var var : symbols) made.params.push_back({nullptr, var});
  return made;
}

/// Guards on the sizes of inputs and outputs: dims are not negative, and the bytes fit the address space. Reports a
/// tensor whose bytes do not fit 64 bits whatever its symbols are.
class SizeGuardEmitter {
 public:
  SizeGuardEmitter(HostLowering& host, std::vector<tir::Stmt>& body)
      : host_(host), build_(host.at.build()), known_(host.shapes.symbols().entry_facts()), body_(body) {}

  void add() {
    int32_t tensor = 0;
    for (const Input& input : host_.signature.inputs()) add(*input.buffer, tensor++);
    for (const Output& output : host_.signature.outputs()) {
      // Dims that data decides need no guard here: they have a bound, and any capacity is accepted.
      if (host_.shapes.symbols().of_entry(host_.signature.output_dims(output))) add(*output.buffer, tensor);
      ++tensor;
    }
  }

 private:
  void add(const tir::Buffer& buffer, int32_t tensor) {
    const std::vector<Expr>& shape = buffer.shape;
    if (plan::size_of(host_.context(), shape, buffer.dtype.bytes()).overflow)
      host_.diag().error(host_.function.location, Kind::overflow, "the size of '{}' does not fit 64 bits", buffer.name);
    Expr elements = build_.index(1);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      tir::Guard record;
      record.code = kDimBounds, record.axis = static_cast<int32_t>(axis);
      record.symbol = host_.shapes.our_symbol(shape[axis]);
      record.expected = build_.index(0), record.actual = shape[axis];
      require(arith::ge(shape[axis], build_.index(0)), std::move(record), tensor);
      elements = elements * shape[axis];
    }
    // The limit of runtime-lite/core/size.c, which counts bits in an int64.
    int64_t address_space = host_.shared.context.target.pointer_bits == 32 ? INT32_MAX : INT64_MAX;
    tir::Guard record;
    record.code = kSizeOverflow;
    record.expected = build_.index(address_space), record.actual = elements;
    int64_t most = std::min(address_space, (INT64_MAX - 1) / 8) / std::max<int64_t>(buffer.dtype.bytes(), 1);
    require(arith::le(elements, build_.index(most)), std::move(record), tensor);
  }

  void require(Expr condition, tir::Guard record, int32_t tensor) {
    if (arith::prove(condition, known_)) return;
    known_.assume(condition);
    record.condition = condition, record.tensor = tensor;
    body_.push_back(build_.guard(std::move(record)));
  }

  HostLowering& host_;
  tir::Builder& build_;
  arith::Facts known_;
  std::vector<tir::Stmt>& body_;
};

/// Adds guards for what the program assumes of entry symbols.
void add_assumptions(HostLowering& host, std::vector<tir::Stmt>& body) {
  const Symbols& symbols = host.shapes.symbols();
  for (Expr assumed : host.function.facts.assumptions()) {
    Expr condition = symbols.known(assumed);
    if (!symbols.of_entry(condition)) continue;
    tir::Guard guard = relation(condition);
    guard.condition = condition, guard.error_node = host.origins.of({Finding::kRelation, to_string(assumed)});
    body.push_back(host.at.build().guard(guard));
  }
}

/// Makes the function that reads the symbols from data and stores each at its index among the entry symbols.
class ValueReader {
 public:
  explicit ValueReader(HostLowering& host) : host_(host), build_(host.at.build()), steps_(host.at.build()) {}

  tir::PrimFunc run() {
    tir::PrimFunc made = index_function(host_.shared.module.unique_name(host_.function.name + "_values"), {});
    add_params(made);
    for (const ValueSymbol& value : host_.entry.values()) read(value, made.params.back().buffer);
    made.body = steps_.finish();
    return made;
  }

 private:
  /// Adds the parameters: all inputs, the symbols that dims give, and a buffer that takes all symbols.
  void add_params(tir::PrimFunc& made) const {
    const std::vector<ValueSymbol>& values = host_.entry.values();
    const std::vector<Var>& symbols = host_.shapes.symbols().entry();
    // Inputs that are read here have constant dims; dims of the others may be symbols that are only read here.
    for (const Input& input : host_.signature.inputs()) {
      bool read = std::any_of(values.begin(), values.end(),
                              [&](const ValueSymbol& value) { return value.buffer == input.buffer; });
      BufferRef unread = read ? nullptr : build_.buffer(input.name, input.buffer->dtype, {build_.index(1)});
      made.params.push_back({read ? input.buffer : unread, {}});
    }
    for (Var var : symbols)
      if (std::none_of(values.begin(), values.end(), [&](const ValueSymbol& v) { return v.var == var; }))
        made.params.push_back({nullptr, var});
    Expr count = build_.index(static_cast<int64_t>(symbols.size()));
    made.params.push_back({build_.buffer("symbols", DType::i(64), {count}), {}});
  }

  void read(const ValueSymbol& value, BufferRef to) {
    BufferRef from = source_of(value);
    tir::Indices at(from->shape.size(), build_.index(value.element));
    // The least int64 means "not read" (runtime-lite/core/symbols.c). It is replaced by its neighbour, which means the
    // same as a bound of a slice.
    Expr read = arith::cast(DType::index(), build_.load(from, at));
    steps_.let(value.var, from->dtype == DType::i(64) ? arith::max(read, build_.index(INT64_MIN + 1)) : read);
    const std::vector<Var>& symbols = host_.shapes.symbols().entry();
    auto k = std::find(symbols.begin(), symbols.end(), value.var) - symbols.begin();
    steps_.add(build_.store(to, {build_.index(k)}, arith::cast(DType::i(64), value.var)));
  }

  BufferRef source_of(const ValueSymbol& value) {
    if (value.function != nullptr) {
      BufferRef& answer = answers_[value.function];
      if (answer == nullptr) answer = call_shape_function(host_, value, value.asked, tir::Scope::kLocal, steps_);
      return answer;
    }
    if (value.buffer->shape.size() <= 1) return value.buffer;
    Expr elements = tir::element_count(host_.context(), *value.buffer);
    BufferRef flat = build_.buffer(value.buffer->name, value.buffer->dtype, {elements});
    steps_.view(flat, value.buffer, build_.index(0));
    return flat;
  }

  HostLowering& host_;
  tir::Builder& build_;
  Steps steps_;
  std::map<const Op*, BufferRef> answers_;
};

}  // namespace

std::string add_shapes(HostLowering& host) {
  tir::Builder& build = host.at.build();
  relax::Module& module = host.shared.module;
  tir::PrimFunc made =
      index_function(module.unique_name(host.function.name + "_shapes"), host.shapes.symbols().entry());
  std::vector<Expr> all;
  auto append = [&](const auto& leaves) {
    for (const auto& leaf : leaves) all.insert(all.end(), leaf.buffer->shape.begin(), leaf.buffer->shape.end());
  };
  append(host.signature.inputs());
  append(host.signature.outputs());
  BufferRef to = build.buffer("dims", DType::i(64), {build.index(static_cast<int64_t>(all.size()))});
  made.params.push_back({to, {}});
  std::vector<tir::Stmt> body;
  for (const tir::Guard& guard : host.shapes.guards()) body.push_back(build.guard(guard));
  add_assumptions(host, body);
  SizeGuardEmitter(host, body).add();
  for (size_t i = 0; i < all.size(); ++i)
    body.push_back(build.store(to, {build.index(static_cast<int64_t>(i))}, arith::cast(DType::i(64), all[i])));
  made.body = build.seq(std::move(body));
  return module.add_prim_func(std::move(made))->name;
}

std::string add_arena(HostLowering& host) {
  tir::Builder& build = host.at.build();
  relax::Module& module = host.shared.module;
  tir::PrimFunc made = index_function(module.unique_name(host.function.name + "_arena"), host.shapes.symbols().entry());
  BufferRef bytes = build.buffer("bytes", DType::i(64), {build.index(1)});
  made.params.push_back({bytes, {}});
  made.body = build.store(bytes, {build.index(0)}, host.context().imm(DType::i(64), 0));
  return module.add_prim_func(std::move(made))->name;
}

std::string add_values(HostLowering& host) {
  return host.shared.module.add_prim_func(ValueReader(host).run())->name;
}

BufferRef call_shape_function(HostLowering& host, const ValueSymbol& value, const std::vector<Expr>& asked,
                              tir::Scope scope, Steps& steps) {
  tir::Builder& build = host.at.build();
  const Op& op = *value.function;
  Expr count = build.index(static_cast<int64_t>(relax_dims(op.results.at(0)->info).size()));
  int alignment = scope == tir::Scope::kGlobal ? WeightLayout::kAlignment : 0;
  BufferRef answer = build.buffer(op.callee, DType::i(64), {count}, scope, alignment);
  steps.alloc(answer);
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = host.origins.number(origin_text(op));
  for (Expr number : asked) invoke.args.push_back(number);
  invoke.args.push_back(answer);
  steps.add(build.invoke(std::move(invoke)));
  return answer;
}

}  // namespace relaxc::lower
