// operands.cpp: see operands.h.
#include "frontends/tflite/operands.h"

#include <algorithm>

#include "frontends/tflite/importer.h"
#include "frontends/tflite/quantization.h"

namespace relaxc::tflite {

const void* Operands::empty_table() {
  // An empty FlatBuffers table: a vtable of four bytes, then the table, whose first field is the distance back to it.
  alignas(8) static constexpr uint8_t kBytes[] = {4, 0, 4, 0, 4, 0, 0, 0};
  return kBytes + 4;
}

bool Operands::quantized(size_t i) const {
  return (type(i) == TensorType::INT8 || type(i) == TensorType::UINT8 || type(i) == TensorType::INT16) &&
         !in(i).quantization.scale.empty();
}

float Operands::scale_of(const Tensor& tensor) {
  if (tensor.quantization.scale.size() == 1) return tensor.quantization.scale[0];
  report_.error(Kind::unsupported, "tensor '{}' has {} scales; it must have one", tensor.name,
                tensor.quantization.scale.size());
  return 1;
}

int64_t Operands::zero_of(const Tensor& tensor) {
  if (tensor.quantization.zero_point.size() != 1) {
    scale_of(tensor);
    return 0;
  }
  int64_t zero = tensor.quantization.zero_point[0];
  Limits limits = limits_of(dtype_of(tensor));
  if (zero >= limits.low && zero <= limits.high) return zero;
  report_.error(Kind::invalid_value, "the zero point {} of '{}' does not fit {}", zero, tensor.name,
                type_name(tensor.type));
  return 0;
}

DType Operands::dtype_of(const Tensor& tensor) {
  Result<DType> dtype = tflite::dtype_of(tensor.type, report_.location, report_.diag);
  if (!dtype) report_.fail();
  return dtype ? *dtype : DType::f(32);
}

DType Operands::result_type(std::initializer_list<TensorType> types, size_t i) {
  const Tensor& result = out(i);
  if (std::find(types.begin(), types.end(), result.type) == types.end()) {
    std::vector<std::string_view> names;
    for (TensorType type : types) names.push_back(type_name(type));
    report_.error(Kind::dtype_mismatch, "output '{}' is declared as {}; it must be {}", result.name,
                  type_name(result.type), fmt::join(names, " or "));
  }
  return dtype_of(result);
}

Value* Operands::input(size_t i) {
  if (!report_.ok()) return nullptr;
  if (!has(i)) {
    report_.error(Kind::wrong_arity, "input {} is missing", i);
    return nullptr;
  }
  Value* value = importer_.value_of(op.inputs[i]);
  if (value == nullptr) report_.fail();
  return value;
}

std::vector<Value*> Operands::all_inputs() {
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs(); ++i) values.push_back(input(i));
  return values;
}

relax::ConstantRef Operands::constant(size_t i) {
  if (!report_.ok() || !has(i)) return nullptr;
  if (in(i).constant) return importer_.constant_of(in(i));
  const Value* value = importer_.scope().slots[static_cast<size_t>(op.inputs[i])].value;
  if (value == nullptr || value->op == nullptr || value->op->kind != relax::OpKind::kConstant) return nullptr;
  return value->op->constant;
}

std::optional<Ints> Operands::known_ints(size_t i) {
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

Ints Operands::constant_ints(size_t i, std::string_view what) {
  if (!report_.ok()) return {};
  std::optional<Ints> values = known_ints(i);
  if (!values) report_.error(Kind::unsupported, "{} must be a constant of integers", what);
  return values.value_or(Ints());
}

std::vector<double> Operands::constant_numbers(size_t i, std::string_view what) {
  if (!report_.ok()) return {};
  relax::ConstantRef data = constant(i);
  std::vector<double> values;
  if (data == nullptr) {
    report_.error(Kind::unsupported, "{} must be a constant", what);
    return values;
  }
  data->with_bytes([&](std::span<const std::byte> bytes) {
    auto width = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = 0; at + width <= bytes.size(); at += width)
      values.push_back(relax::decode_scalar(data->dtype(), bytes.data() + at));
  });
  return values;
}

}  // namespace relaxc::tflite
