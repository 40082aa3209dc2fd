// formula.cpp: see formula.h.
#include "frontends/tflite/formula.h"

#include <algorithm>

#include "frontends/tflite/importer.h"

namespace relaxc::tflite {

namespace {

template <typename T>
relax::ConstantRef inline_constant(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  std::vector<std::byte> bytes;
  for (T value : values) {
    if (dtype.is_integer() && dtype.bits == 64) {  // a double cannot hold every 64-bit integer
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

Formula::Formula(Importer& importer, Location location)
    : Report(importer.diagnostics(), location), importer(importer) {}

relax::GraphBuilder& Formula::builder() {
  return importer.builder();
}

Value* Formula::call(OpName name, std::vector<Value*> operands, Attrs attrs) {
  if (!ok() || std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return nullptr;
  Result<Value*> made = builder().call(name, std::move(operands), std::move(attrs));
  if (!made) fail();
  return made ? *made : nullptr;
}

std::vector<Value*> Formula::call_many(OpName name, std::vector<Value*> operands, Attrs attrs) {
  if (!ok() || std::find(operands.begin(), operands.end(), nullptr) != operands.end()) return {};
  Result<std::vector<Value*>> made = builder().call_many(name, std::move(operands), std::move(attrs));
  if (!made) fail();
  return made ? *made : std::vector<Value*>();
}

Value* Formula::number(DType dtype, double value) {
  return ok() ? builder().scalar(dtype, value) : nullptr;
}

Value* Formula::list(DType dtype, const Ints& values, Ints shape) {
  if (!ok()) return nullptr;
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return builder().constant(inline_constant(dtype, std::move(shape), values));
}

Value* Formula::reals(const std::vector<float>& values, Ints shape) {
  if (!ok()) return nullptr;
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return builder().constant(inline_constant(DType::f(32), std::move(shape), values));
}

Value* Formula::reals64(const std::vector<double>& values) {
  if (!ok()) return nullptr;
  return builder().constant(inline_constant(DType::f(64), {static_cast<int64_t>(values.size())}, values));
}

Value* Formula::as(Value* x, DType dtype) {
  return x == nullptr || x->dtype() == dtype ? x : call("astype", {x}, {{"dtype", dtype}});
}

}  // namespace relaxc::tflite
