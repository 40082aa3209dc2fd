// entry_record.cpp: records of inputs, outputs and symbols.
#include "compiler/transform/lower/host/entry_record.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/transform/lower/host/entry_functions.h"

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

/// Names that are in use.
class Taken {
 public:
  /// Takes `name`, or the first of `name_1`, `name_2`, … that is not taken, and returns it.
  std::string take(const std::string& name) {
    std::string made = name;
    int& last = last_[name];
    while (!made_.insert(made).second) made = name + "_" + std::to_string(++last);
    return made;
  }

 private:
  std::set<std::string> made_;
  /// The last number that was tried behind a name, so that equal names take linear time.
  std::map<std::string, int> last_;
};

/// Sets the quantizations of the tensors at the given indices; returns false if one does not fit its tensor.
bool give(std::vector<interface::Tensor>& tensors, const std::map<size_t, interface::Quantization>& list) {
  for (const auto& [index, q] : list) {
    if (index >= tensors.size() || !tensors[index].dtype.is_integer()) return false;
    const std::vector<int64_t>& dims = tensors[index].dims;
    size_t axis = static_cast<size_t>(std::max(q.axis, 0));
    if (q.axis >= 0 && (axis >= dims.size() || dims[axis] != static_cast<int64_t>(q.scale.size()))) return false;
    tensors[index].quant = q;
  }
  return true;
}

class EntryRecord {
 public:
  explicit EntryRecord(HostLowering& host) : host_(host), symbols_(host.shapes.symbols()) {}

  interface::Entry describe(const std::string& call) {
    entry_.name = host_.function.name;
    entry_.call = call;
    entry_.needs_allocator = host_.heap.is_needed();
    for (const Input& input : host_.signature.inputs()) add(entry_.inputs, input);
    for (const Output& output : host_.signature.outputs()) add(entry_.outputs, output);
    taken_ = {};
    find_places();
    for (Var var : symbols_.entry()) {
      entry_.symbols.push_back(symbol(var));
      entry_.symbols.back().name = taken_.take(entry_.symbols.back().name);
    }
    give_quantizations();
    return std::move(entry_);
  }

 private:
  template <typename Leaf>
  void add(std::vector<interface::Tensor>& list, const Leaf& leaf) {
    interface::Tensor made = tensor(leaf.name, leaf.info, leaf.buffer);
    made.identifier = taken_.take(made.identifier);
    made.pair = leaf.pair, made.append_axis = leaf.append_axis;
    list.push_back(std::move(made));
  }

  interface::Tensor tensor(const std::string& name, Info info, BufferRef buffer) const;
  interface::Symbol symbol(Var var) const;
  void find_places();
  void give_quantizations();

  HostLowering& host_;
  const Symbols& symbols_;
  interface::Entry entry_;
  Taken taken_;
  std::unordered_map<Expr, std::pair<int32_t, int32_t>> places_;  ///< the first input and axis with a symbol as its dim
};

interface::Tensor EntryRecord::tensor(const std::string& name, Info info, BufferRef buffer) const {
  interface::Tensor tensor;
  tensor.name = name;
  tensor.identifier = interface::identifier(name);
  tensor.kind = kind_of(info);
  tensor.dtype = buffer->dtype;
  std::vector<Expr> shape = tensor.kind == interface::Tensor::kTensor ? host_.shapes.dims(info) : buffer->shape;
  tensor.data_dependent = !symbols_.of_entry(shape);
  for (Expr dim : shape) {
    int32_t symbol = host_.shapes.our_symbol(dim);
    tensor.dims.push_back(dim.constant() != nullptr ? *dim.constant() : symbol >= 0 ? -1 - symbol : INT64_MIN);
    tensor.dim_text.push_back(arith::to_string(dim));
  }
  return tensor;
}

interface::Symbol EntryRecord::symbol(Var var) const {
  interface::Symbol symbol;
  symbol.name = var.name();
  arith::Range range = host_.function.facts.range_of(var);
  symbol.multiple_of = std::max<int64_t>(host_.function.facts.multiple_of(var), 1);
  symbol.lower = range.lower, symbol.upper = range.upper;
  const auto place = places_.find(var);
  if (place == places_.end()) return symbol;
  symbol.lower = std::max<int64_t>(symbol.lower, 0);
  std::tie(symbol.tensor, symbol.axis) = place->second;
  return symbol;
}

void EntryRecord::find_places() {
  const std::vector<Input>& inputs = host_.signature.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].info->as<TensorInfo>() == nullptr) continue;
    const std::vector<Expr>& shape = inputs[i].buffer->shape;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      places_.emplace(shape[axis], std::pair(static_cast<int32_t>(i), static_cast<int32_t>(axis)));
  }
}

void EntryRecord::give_quantizations() {
  if (host_.function.quantized.empty()) return;
  const tir::QuantizedTensors& all = host_.function.quantized;
  if (!give(entry_.inputs, all.inputs) || !give(entry_.outputs, all.outputs))
    host_.diag().error(host_.function.location, Kind::invalid_attribute,
                       "attribute 'quantized' must name inputs and outputs that are integers, with one scale and zero "
                       "point, or as many as its axis has places");
}

}  // namespace

void add_entry(HostLowering& host, const std::string& call) {
  interface::Entry entry = EntryRecord(host).describe(call);
  entry.shapes = add_shapes(host);
  entry.arena = add_arena(host);
  if (!host.entry.values().empty()) entry.values = add_values(host);
  entry.nodes = host.origins.names().names(), entry.num_kernels = host.origins.names().num_kernels();
  host.shared.object.entries.push_back(std::move(entry));
}

}  // namespace relaxc::lower
