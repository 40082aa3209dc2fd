// host_interface.cpp: what the outside sees of a function: its records, and the part of the shape program that runs
// before anything is touched.
#include <algorithm>

#include "compiler/interface/quantization.h"
#include "compiler/relax/origin_text.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

namespace {

interface::Tensor::Kind kind_of(Info info) {
  if (info->as<ShapeInfo>() != nullptr) return interface::Tensor::kShape;
  if (info->as<PrimInfo>() != nullptr) return interface::Tensor::kScalar;
  const auto* tensor = info->as<TensorInfo>();
  if (tensor != nullptr && tensor->dtype == DType::handle()) return interface::Tensor::kHandle;
  return interface::Tensor::kTensor;
}

/// `name`, or the first of `name_1`, `name_2`, … that is not in `taken`.
std::string distinct(const std::string& name, const std::vector<std::string>& taken) {
  std::string made = name;
  for (int i = 1; std::find(taken.begin(), taken.end(), made) != taken.end(); ++i)
    made = name + "_" + std::to_string(i);
  return made;
}

tir::PrimFunc index_function(std::string name, const std::vector<Var>& symbols) {
  tir::PrimFunc made;
  made.name = std::move(name);
  made.checks.overflow_code = kSizeOverflow;
  for (Var var : symbols) made.params.push_back({nullptr, var});
  return made;
}

}  // namespace

void HostFunction::add_entry(const std::string& call) {
  interface::Entry entry;
  entry.name = function_.name;
  entry.call = call;
  entry.needs_allocator = heap_.is_needed();
  std::vector<std::string> taken;
  auto add = [&](std::vector<interface::Tensor>& list, const std::string& name, Info info, BufferRef buffer,
                 int32_t pair, int32_t append_axis) {
    interface::Tensor tensor = describe(name, info, buffer);
    tensor.identifier = distinct(tensor.identifier, taken);
    tensor.pair = pair, tensor.append_axis = append_axis;
    taken.push_back(tensor.identifier);
    list.push_back(std::move(tensor));
  };
  for (const Input& input : inputs_)
    add(entry.inputs, input.name, input.info, input.buffer, input.pair, input.append_axis);
  for (const Output& output : outputs_)
    add(entry.outputs, output.name, output.info, output.buffer, output.pair, output.append_axis);
  taken.clear();
  for (Var var : symbols_.entry()) {
    entry.symbols.push_back(describe(var));
    entry.symbols.back().name = distinct(entry.symbols.back().name, taken);
    taken.push_back(entry.symbols.back().name);
  }
  give_quantizations(entry);
  entry.shapes = add_shapes();
  entry.arena = add_arena();
  if (!read_values_.empty()) entry.values = add_values();
  entry.nodes = origins_.names().names(), entry.num_kernels = origins_.names().num_kernels();
  shared_.object.entries.push_back(std::move(entry));
}

void HostFunction::give_quantizations(interface::Entry& entry) const {
  if (function_.quantized.empty()) return;
  std::optional<interface::QuantizedTensors> all = interface::parse_quantized(function_.quantized);
  auto give = [&](std::vector<interface::Tensor>& tensors, const std::map<size_t, interface::Quantization>& list) {
    for (const auto& [index, q] : list) {
      if (index >= tensors.size() || !tensors[index].dtype.is_integer()) return false;
      const std::vector<int64_t>& dims = tensors[index].dims;
      size_t axis = static_cast<size_t>(std::max(q.axis, 0));
      if (q.axis >= 0 && (axis >= dims.size() || dims[axis] != static_cast<int64_t>(q.scale.size()))) return false;
      tensors[index].quant = q;
    }
    return true;
  };
  if (!all || !give(entry.inputs, all->inputs) || !give(entry.outputs, all->outputs))
    diag().error(
        function_.location, Kind::invalid_attribute,
        "attribute 'quantized' must list integer tensors as \"input 0: scale 0.5 zero 3\", or with \"axis 1\" in "
        "front of as many scales and zero points as there are places");
}

interface::Tensor HostFunction::describe(const std::string& name, Info info, BufferRef buffer) const {
  interface::Tensor tensor;
  tensor.name = name;
  tensor.identifier = interface::identifier(name);
  tensor.kind = kind_of(info);
  tensor.dtype = buffer->dtype;
  std::vector<Expr> shape = tensor.kind == interface::Tensor::kTensor ? shapes_.dims(info) : buffer->shape;
  tensor.data_dependent = !symbols_.of_entry(shape);
  for (Expr dim : shape) {
    auto symbol = std::find(symbols_.entry().begin(), symbols_.entry().end(), dim);
    bool bare = symbol != symbols_.entry().end();
    tensor.dims.push_back(dim.constant() != nullptr ? *dim.constant()
                          : bare                    ? -1 - (symbol - symbols_.entry().begin())
                                                    : INT64_MIN);
    tensor.dim_text.push_back(arith::to_string(dim));
  }
  return tensor;
}

interface::Symbol HostFunction::describe(Var var) const {
  interface::Symbol symbol;
  symbol.name = var.name();
  arith::Range range = function_.facts.range_of(var);
  symbol.multiple_of = std::max<int64_t>(function_.facts.multiple_of(var), 1);
  symbol.lower = range.lower, symbol.upper = range.upper;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].info->as<TensorInfo>() == nullptr) continue;
    const std::vector<Expr>& shape = inputs_[i].buffer->shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (!(shape[axis] == var)) continue;
      symbol.lower = std::max<int64_t>(symbol.lower, 0);
      symbol.tensor = static_cast<int32_t>(i), symbol.axis = static_cast<int32_t>(axis);
      return symbol;
    }
  }
  return symbol;
}

/// All dims of inputs and outputs, after the guards on the symbols.
std::string HostFunction::add_shapes() {
  tir::PrimFunc made = index_function(shared_.module.unique_name(function_.name + "_shapes"), symbols_.entry());
  std::vector<Expr> all;
  for (const Input& input : inputs_) all.insert(all.end(), input.buffer->shape.begin(), input.buffer->shape.end());
  for (const Output& output : outputs_) all.insert(all.end(), output.buffer->shape.begin(), output.buffer->shape.end());
  BufferRef to = build_.buffer("dims", DType::i(64), {build_.index(static_cast<int64_t>(all.size()))});
  made.params.push_back({to, {}});
  std::vector<tir::Stmt> body;
  for (const tir::Guard& guard : shapes_.guards()) body.push_back(build_.guard(guard));
  for (Expr assumed : function_.facts.assumptions()) {
    Expr condition = symbols_.known(assumed);
    if (!symbols_.of_entry(condition)) continue;
    tir::Guard guard = relation(condition);
    guard.condition = condition, guard.error_node = origins_.of({Finding::kRelation, to_string(assumed)});
    body.push_back(build_.guard(guard));
  }
  add_size_guards(body);
  for (size_t i = 0; i < all.size(); ++i)
    body.push_back(build_.store(to, {build_.index(static_cast<int64_t>(i))}, arith::cast(DType::i(64), all[i])));
  made.body = build_.seq(std::move(body));
  return shared_.module.add_prim_func(std::move(made))->name;
}

/// Of no bytes; plan_memory fills it in.
std::string HostFunction::add_arena() {
  tir::PrimFunc made = index_function(shared_.module.unique_name(function_.name + "_arena"), symbols_.entry());
  BufferRef bytes = build_.buffer("bytes", DType::i(64), {build_.index(1)});
  made.params.push_back({bytes, {}});
  made.body = build_.store(bytes, {build_.index(0)}, context().imm(DType::i(64), 0));
  return shared_.module.add_prim_func(std::move(made))->name;
}

/// Reads the symbols that no dim gives: elements of inputs, and what shape functions make of earlier symbols.
std::string HostFunction::add_values() {
  std::vector<Var> given;
  for (Var var : symbols_.entry())
    if (std::none_of(read_values_.begin(), read_values_.end(), [&](const ValueSymbol& v) { return v.var == var; }))
      given.push_back(var);
  tir::PrimFunc made = index_function(shared_.module.unique_name(function_.name + "_values"), {});
  // What is read here has constant dims; of the others the dims may be what is being read.
  for (const Input& input : inputs_) {
    bool read = std::any_of(read_values_.begin(), read_values_.end(),
                            [&](const ValueSymbol& value) { return value.buffer == input.buffer; });
    BufferRef unread = read ? nullptr : build_.buffer(input.name, input.buffer->dtype, {build_.index(1)});
    made.params.push_back({read ? input.buffer : unread, {}});
  }
  for (Var var : given) made.params.push_back({nullptr, var});
  Expr count = build_.index(static_cast<int64_t>(symbols_.entry().size()));
  BufferRef to = build_.buffer("symbols", DType::i(64), {count});
  made.params.push_back({to, {}});

  Steps steps(build_);
  std::map<const Op*, BufferRef> answers;
  for (const ValueSymbol& value : read_values_) {
    BufferRef from = value.buffer;
    if (value.function != nullptr) {
      BufferRef& answer = answers[value.function];
      if (answer == nullptr) answer = ask_shape_function(value, value.asked, tir::Scope::kLocal, steps);
      from = answer;
    } else if (from->shape.size() > 1) {
      Expr elements = tir::element_count(context(), *from);
      from = build_.buffer(from->name, from->dtype, {elements});
      steps.view(from, value.buffer, build_.index(0));
    }
    tir::Indices at(from->shape.size(), build_.index(value.element));
    // The least number says that nothing has been read (runtime-lite/core/symbols.c); what a slice means by it, its
    // neighbour means too.
    Expr read = arith::cast(DType::index(), build_.load(from, at));
    steps.let(value.var, from->dtype == DType::i(64) ? arith::max(read, build_.index(INT64_MIN + 1)) : read);
    auto k = std::find(symbols_.entry().begin(), symbols_.entry().end(), value.var) - symbols_.entry().begin();
    steps.add(build_.store(to, {build_.index(k)}, arith::cast(DType::i(64), value.var)));
  }
  made.body = steps.finish();
  return shared_.module.add_prim_func(std::move(made))->name;
}

/// Calls the shape function with the numbers `asked`; its answer lies in memory of `scope`.
BufferRef HostFunction::ask_shape_function(const ValueSymbol& value, const std::vector<Expr>& asked, tir::Scope scope,
                                           Steps& steps) {
  const Op& op = *value.function;
  Expr count = build_.index(static_cast<int64_t>(relax_dims(op.results.at(0)->info).size()));
  int alignment = scope == tir::Scope::kGlobal ? WeightLayout::kAlignment : 0;
  BufferRef answer = build_.buffer(op.callee, DType::i(64), {count}, scope, alignment);
  steps.alloc(answer);
  tir::Invoke invoke;
  invoke.callee = op.callee, invoke.external = true, invoke.error_node = origins_.number(origin_text(op));
  for (Expr number : asked) invoke.args.push_back(number);
  invoke.args.push_back(answer);
  steps.add(build_.invoke(std::move(invoke)));
  return answer;
}

}  // namespace relaxc::lower
