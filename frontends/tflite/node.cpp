// node.cpp: see node.h.
#include "frontends/tflite/node.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontends/tflite/fixed_point.h"
#include "frontends/tflite/importer.h"

namespace relaxc::tflite {
namespace {

template <typename T>
relax::ConstantRef inline_constant(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  std::vector<std::byte> bytes;
  for (T value : values) {
    if (dtype.is_integer() && dtype.bits == 64) {  // which a double cannot carry
      auto integer = static_cast<int64_t>(value);
      for (int k = 0; k < 8; ++k) bytes.push_back(static_cast<std::byte>(integer >> (8 * k)));
      continue;
    }
    std::vector<std::byte> one = relax::encode_scalar(dtype, static_cast<double>(value));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return relax::ConstantData::inline_bytes(dtype, std::move(shape), std::move(bytes));
}

}  // namespace

Node::Node(Importer& importer, const Subgraph& graph, const Operator& op, Location location)
    : importer(importer), graph(graph), op(op), location(location), diag(importer.diagnostics()) {}

const void* Node::empty_table() {
  // A table of FlatBuffers that has no fields: its list of fields, of four bytes, and how far behind that it is.
  alignas(8) static constexpr uint8_t kBytes[] = {4, 0, 4, 0, 4, 0, 0, 0};
  return kBytes + 4;
}

bool Node::quantized(size_t i) const {
  return (type(i) == TensorType::INT8 || type(i) == TensorType::UINT8 || type(i) == TensorType::INT16) &&
         !in(i).quantization.scale.empty();
}

float Node::scale_of(const Tensor& tensor) {
  if (tensor.quantization.scale.size() == 1) return tensor.quantization.scale[0];
  error(Kind::unsupported, "tensor '{}' has {} scales; it must have one", tensor.name,
        tensor.quantization.scale.size());
  return 1;
}

int64_t Node::zero_of(const Tensor& tensor) {
  if (tensor.quantization.zero_point.size() != 1) {
    scale_of(tensor);
    return 0;
  }
  int64_t zero = tensor.quantization.zero_point[0];
  Limits limits = limits_of(dtype_of(tensor));
  if (zero >= limits.low && zero <= limits.high) return zero;
  error(Kind::invalid_value, "the zero point {} of '{}' does not fit {}", zero, tensor.name, type_name(tensor.type));
  return 0;
}

DType Node::dtype_of(const Tensor& tensor) {
  Result<DType> dtype = tflite::dtype_of(tensor.type, location, diag);
  if (!dtype) failed_ = true;
  return dtype ? *dtype : DType::f(32);
}

Value* Node::input(size_t i) {
  if (failed_) return nullptr;
  if (!has(i)) {
    error(Kind::wrong_arity, "input {} is missing", i);
    return nullptr;
  }
  Value* value = importer.value_of(op.inputs[i]);
  if (value == nullptr) failed_ = true;
  return value;
}

std::vector<Value*> Node::all_inputs() {
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs(); ++i) values.push_back(input(i));
  return values;
}

relax::ConstantRef Node::constant(size_t i) {
  if (failed_ || !has(i)) return nullptr;
  if (in(i).constant) return importer.constant_of(in(i));
  const Value* value = importer.scope().slots[static_cast<size_t>(op.inputs[i])].value;
  if (value == nullptr || value->op == nullptr || value->op->kind != relax::OpKind::kConstant) return nullptr;
  return value->op->constant;
}

std::optional<Ints> Node::known_ints(size_t i) {
  relax::ConstantRef data = constant(i);
  if (data == nullptr || !(data->dtype().is_integer() || data->dtype().is_bool())) return std::nullopt;
  Ints values;
  data->with_bytes([&](std::span<const std::byte> bytes) {
    auto width = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = 0; at + width <= bytes.size(); at += width)
      values.push_back(relax::decode_integer(data->dtype(), bytes.data() + at));
  });
  return values;
}

Ints Node::constant_ints(size_t i, std::string_view what) {
  if (failed_) return {};
  std::optional<Ints> values = known_ints(i);
  if (!values) error(Kind::unsupported, "{} must be a constant of integers", what);
  return values.value_or(Ints());
}

std::vector<double> Node::constant_numbers(size_t i, std::string_view what) {
  if (failed_) return {};
  relax::ConstantRef data = constant(i);
  std::vector<double> values;
  if (data == nullptr) {
    error(Kind::unsupported, "{} must be a constant", what);
    return values;
  }
  data->with_bytes([&](std::span<const std::byte> bytes) {
    auto width = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = 0; at + width <= bytes.size(); at += width)
      values.push_back(relax::decode_scalar(data->dtype(), bytes.data() + at));
  });
  return values;
}

Ints Node::dims(const Value* x) {
  Ints out;
  if (failed_ || x == nullptr) return out;
  for (arith::Expr extent : x->shape()) {
    const int64_t* number = extent.constant();
    if (number == nullptr) {
      error(Kind::unsupported, "its operand has a size that depends on data: {}", relax::to_string(x->info));
      return {};
    }
    out.push_back(*number);
  }
  return out;
}

int64_t Node::axis(int64_t axis, int64_t rank) {
  if (failed_) return 0;
  if (axis < -rank || axis >= rank) {
    error(Kind::invalid_attribute, "axis {} of {} dims", axis, rank);
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

Ints Node::axes(Ints axes, int64_t rank) {
  for (int64_t& one : axes) one = axis(one, rank);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool Node::expect_rank(const Value* x, int64_t wanted, std::string_view what) {
  if (failed_ || x == nullptr) return false;
  if (rank(x) == wanted) return true;
  error(Kind::rank_mismatch, "{} must have {} dims, found {}", what, wanted, relax::to_string(x->info));
  return false;
}

relax::GraphBuilder& Node::builder() {
  return importer.builder();
}

Value* Node::call(OpName name, std::vector<Value*> operands, Attrs attrs) {
  if (failed_ || std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
  Result<Value*> made = builder().call(name, std::move(operands), std::move(attrs));
  if (!made) failed_ = true;
  return made ? *made : nullptr;
}

std::vector<Value*> Node::call_many(OpName name, std::vector<Value*> operands, Attrs attrs) {
  if (failed_ || std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return {};
  Result<std::vector<Value*>> made = builder().call_many(name, std::move(operands), std::move(attrs));
  if (!made) failed_ = true;
  return made ? *made : std::vector<Value*>();
}

Value* Node::number(DType dtype, double value) {
  return failed_ ? nullptr : builder().scalar(dtype, value);
}

Value* Node::list(DType dtype, const Ints& values, Ints shape) {
  if (failed_) return nullptr;
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return builder().constant(inline_constant(dtype, std::move(shape), values));
}

Value* Node::reals(const std::vector<float>& values, Ints shape) {
  if (failed_) return nullptr;
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return builder().constant(inline_constant(DType::f(32), std::move(shape), values));
}

Value* Node::reals64(const std::vector<double>& values) {
  if (failed_) return nullptr;
  return builder().constant(inline_constant(DType::f(64), {static_cast<int64_t>(values.size())}, values));
}

Value* Node::shape(const Ints& dims) {
  if (failed_) return nullptr;
  std::vector<arith::Expr> extents;
  for (int64_t extent : dims) extents.push_back(importer.module().context().index(extent));
  return builder().shape(std::move(extents));
}

Value* Node::as(Value* x, DType dtype) {
  return x == nullptr || x->dtype() == dtype ? x : call("astype", {x}, {{"dtype", dtype}});
}

Value* Node::reshape(Value* x, const Ints& wanted) {
  if (x == nullptr || failed_) return nullptr;
  return dims(x) == wanted ? x : call("reshape", {x, shape(wanted)});
}

Value* Node::slice(Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
  return call("strided_slice", {x, shape({begin}), shape({end}), shape({step})}, {{"axes", Ints{axis}}});
}

Value* Node::concat(std::vector<Value*> parts, int64_t axis) {
  if (parts.size() == 1) return parts[0];
  return call("concat", std::move(parts), {{"axis", axis}});
}

Value* Node::reduce(OpName name, Value* x, Ints axes, bool keepdims) {
  return call(name, {x}, {{"axis", std::move(axes)}, {"keepdims", keepdims}, {"none_is_all", false}});
}

Value* Node::pad(Value* x, const Ints& pads, Value* value) {
  if (std::all_of(pads.begin(), pads.end(), [](int64_t n) { return n == 0; })) return x;
  std::vector<Value*> operands{x, shape(pads)};
  if (value != nullptr) operands.push_back(value);
  return call("pad", std::move(operands));
}

Value* Node::channels_first(Value* x) {
  if (failed_ || x == nullptr) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return permute(x, std::move(axes));
}

Value* Node::channels_last(Value* x) {
  if (failed_ || x == nullptr) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return permute(x, std::move(axes));
}

Value* Node::scale(Value* x, const std::vector<Multiplier>& m, const Stored& stored) {
  if (failed_ || x == nullptr) return nullptr;
  FixedPoint fixed(*this);
  return store(stored.reduced ? fixed.scale_reduced(x, m) : fixed.scale(x, m), stored);
}

Value* Node::store(Value* x, const Stored& stored) {
  Limits limits = stored.limits.value_or(limits_of(stored.dtype));
  x = add(x, static_cast<double>(stored.zero_point));
  if (limits.low > INT32_MIN || limits.high < INT32_MAX)
    x = clamp(x, static_cast<double>(limits.low), static_cast<double>(limits.high));
  return as(x, stored.dtype);
}

Value* Node::saturate(Value* x, DType dtype) {
  Limits limits = limits_of(dtype);
  return as(clamp(x, static_cast<double>(limits.low), static_cast<double>(limits.high)), dtype);
}

Value* Node::look_up(Value* x, const Ints& table, DType dtype) {
  if (x == nullptr || failed_) return nullptr;
  Ints by_bits = table;  // the bits of a byte name its place, whatever its sign
  if (x->dtype().is_int()) std::rotate(by_bits.begin(), by_bits.begin() + 128, by_bits.end());
  return call("take", {list(dtype, by_bits), as(x, DType::u(8))}, {{"axis", int64_t{0}}});
}

Value* Node::interpolate(Value* x, const std::vector<int16_t>& table) {
  if (failed_ || x == nullptr) return nullptr;
  Value* entries = list(DType::i(32), Ints(table.begin(), table.end()));
  Value* place = add(call("right_shift", {x, like(x, 7)}), 256);
  auto entry = [&](Value* at) {
    return call("take", {entries, at}, {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
  };
  Value *here = entry(place), *next = entry(add(place, 1));
  Value* rest = call("bitwise_and", {x, like(x, 0x7F)});
  Value* rise = add(multiply(subtract(next, here), rest), 64);
  return add(here, call("right_shift", {rise, like(rise, 7)}));
}

Limits Node::activation_limits(Activation activation, const Tensor& tensor) {
  Limits limits = limits_of(dtype_of(tensor));
  if (failed_ || activation == Activation::NONE) return limits;
  float scale = scale_of(tensor);
  int64_t zero = zero_of(tensor);
  auto quantized = [&](float real) {
    double steps = std::round(real / scale);
    return zero + static_cast<int64_t>(std::clamp(steps, -2147483648.0, 2147483647.0));
  };
  std::optional<float> low, high;
  if (activation == Activation::RELU) low = 0.0F;
  if (activation == Activation::RELU6) low = 0.0F, high = 6.0F;
  if (activation == Activation::RELU_N1_TO_1) low = -1.0F, high = 1.0F;
  if (!low) {
    error(Kind::unsupported, "activation {} of integers is not supported", static_cast<int>(activation));
    return limits;
  }
  int64_t least = std::clamp(quantized(*low), limits.low, limits.high);
  int64_t most = high ? std::clamp(quantized(*high), limits.low, limits.high) : limits.high;
  return {least, most};
}

Value* Node::activate(Value* x, Activation activation) {
  switch (activation) {
    case Activation::NONE:
      return x;
    case Activation::RELU:
      return maximum(x, like(x, 0));
    case Activation::RELU6:
      return clamp(x, 0, 6);
    case Activation::RELU_N1_TO_1:
      return clamp(x, -1, 1);
    case Activation::TANH:
      return call("tanh", {x});
    default:
      return refuse("activation {} is not supported", static_cast<int>(activation));
  }
}

Status Node::set(size_t i, Value* value) {
  if (failed_ || value == nullptr) return diag.failed();
  TensorValue& slot = importer.scope().slots[static_cast<size_t>(op.outputs.at(i))];
  if (value->name.empty()) value->name = out(i).name;
  slot.value = value;
  return Done{};
}

}  // namespace relaxc::tflite
