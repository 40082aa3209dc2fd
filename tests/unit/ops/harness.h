// harness.h: runs single operators on small tensors through the interpreter.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "compiler/ops/op_table.h"
#include "compiler/relax/builder.h"
#include "compiler/relax/interpret.h"

namespace relaxc::test {

using relax::Attrs;
using relax::HostTensor;
using relax::Value;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// `n` numbers from `first` on, in steps of 1.
inline std::vector<double> count(size_t n, double first = 0) {
  std::vector<double> out;
  for (size_t i = 0; i < n; ++i) out.push_back(first + static_cast<double>(i));
  return out;
}

/// A tensor of `dtype` with these elements, rounded to it.
HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& elements);
inline HostTensor floats(std::vector<int64_t> shape, const std::vector<double>& elements) {
  return tensor(DType::f(32), std::move(shape), elements);
}
inline HostTensor longs(std::vector<int64_t> shape, const std::vector<double>& elements) {
  return tensor(DType::i(64), std::move(shape), elements);
}
std::vector<double> elements(const HostTensor& t);

/// One function under construction: inputs, then calls, then a run.
class Program {
 public:
  Program();

  arith::Context& context() { return module.context(); }
  arith::Var symbol(std::string name) { return context().var(std::move(name)); }
  arith::Expr index(int64_t value) { return context().index(value); }
  /// A parameter of the value's own shape, or of `shape`.
  Value* input(HostTensor value);
  Value* input(HostTensor value, std::vector<arith::Expr> shape);
  Value* constant(const HostTensor& value);
  Value* shape(std::vector<int64_t> dims);
  /// The results of an operator; a failure is thrown with its message.
  std::vector<Value*> call_many(relax::OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Value* call(relax::OpName op, std::vector<Value*> operands, Attrs attrs = {});
  /// Runs the function with these results. A fault is thrown with its text.
  std::vector<HostTensor> run(std::vector<Value*> results);
  /// The status code with which a run ends.
  int32_t code(std::vector<Value*> results);

  relax::Module module;
  relax::OpTable table;
  Diagnostics diag;
  relax::Function* function;
  relax::GraphBuilder builder;

 private:
  std::variant<std::vector<HostTensor>, relax::RunFault> interpret(std::vector<Value*> results);
  std::vector<HostTensor> inputs_;
};

/// One operator on inputs of constant shape: its first result, or all.
HostTensor run_op(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs = {});
std::vector<HostTensor> run_op_all(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs = {});
/// The error message of an operator that does not fit its inputs.
std::string error_of(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs = {});

/// Compares shape, and elements within `tolerance` of each expected one (relative to max(1, |expected|)).
void check(const HostTensor& actual, std::vector<int64_t> shape, const std::vector<double>& expected,
           double tolerance = 1e-6);

}  // namespace relaxc::test
