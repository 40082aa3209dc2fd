// formula.h: emits elementwise relax operators and constants. If an operand is null, the result is null (report.h).
#pragma once

#include <vector>

#include "compiler/relax/builder.h"
#include "frontends/tflite/report.h"

namespace relaxc::tflite {

using relax::Attrs;
using relax::OpName;
using relax::Value;
using Ints = std::vector<int64_t>;

class Importer;

class Formula : public Report {
 public:
  Formula(Importer& importer, Location location);

  Importer& importer;
  relax::GraphBuilder& builder();

  Value* call(OpName name, std::vector<Value*> operands, Attrs attrs = {});
  std::vector<Value*> call_many(OpName name, std::vector<Value*> operands, Attrs attrs = {});
  Value* number(DType dtype, double value);
  Value* like(const Value* x, double value) { return x == nullptr ? nullptr : number(x->dtype(), value); }
  Value* list(DType dtype, const Ints& values, Ints shape = {});
  Value* reals(const std::vector<float>& values, Ints shape = {});
  Value* reals64(const std::vector<double>& values);
  Value* as(Value* x, DType dtype);
  Value* i32(Value* x) { return as(x, DType::i(32)); }
  Value* f32(Value* x) { return as(x, DType::f(32)); }
  Value* add(Value* a, Value* b) { return call("add", {a, b}); }
  Value* subtract(Value* a, Value* b) { return call("subtract", {a, b}); }
  Value* multiply(Value* a, Value* b) { return call("multiply", {a, b}); }
  Value* divide(Value* a, Value* b) { return call("divide", {a, b}); }
  Value* maximum(Value* a, Value* b) { return call("maximum", {a, b}); }
  Value* minimum(Value* a, Value* b) { return call("minimum", {a, b}); }
  Value* where(Value* condition, Value* a, Value* b) { return call("where", {condition, a, b}); }
  Value* add(Value* a, double b) { return b == 0 ? a : add(a, like(a, b)); }
  Value* multiply(Value* a, double b) { return b == 1 ? a : multiply(a, like(a, b)); }
  Value* clamp(Value* x, double low, double high) {
    Value* most = like(x, high);  // before the maximum, in whatever order arguments are evaluated
    return minimum(maximum(x, like(x, low)), most);
  }
};

}  // namespace relaxc::tflite
