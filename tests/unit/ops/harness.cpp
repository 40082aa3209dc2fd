#include "tests/unit/ops/harness.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace relaxc::test {

HostTensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& elements) {
  HostTensor t{dtype, std::move(shape), {}};
  for (double element : elements) {
    std::vector<std::byte> bytes = relax::encode_scalar(dtype, element);
    t.bytes.insert(t.bytes.end(), bytes.begin(), bytes.end());
  }
  REQUIRE(t.elements() == static_cast<int64_t>(elements.size()));
  return t;
}

std::vector<double> elements(const HostTensor& t) {
  std::vector<double> out;
  for (int64_t k = 0; k < t.elements(); ++k)
    out.push_back(relax::decode_scalar(t.dtype, t.bytes.data() + k * t.dtype.bytes()));
  return out;
}

namespace {

relax::Function* make_main(relax::Module& module) {
  relax::Function* function = module.add_function("main");
  function->make_block(&function->body(), true);
  return function;
}

}  // namespace

Program::Program()
    : table(ops::op_table()), function(make_main(module)), builder(module, table, function->body().blocks[0], diag) {}

Value* Program::input(HostTensor value) {
  std::vector<arith::Expr> shape;
  for (int64_t dim : value.shape) shape.push_back(index(dim));
  return input(std::move(value), std::move(shape));
}

Value* Program::input(HostTensor value, std::vector<arith::Expr> shape) {
  for (arith::Expr dim : shape)
    if (const auto* var = dim.as<arith::VarNode>()) function->facts.bound(arith::Var(var), arith::Range::at_least(0));
  std::string name = "input" + std::to_string(inputs_.size());
  relax::Info info = relax::tensor_info(context(), std::move(shape), value.dtype);
  inputs_.push_back(std::move(value));
  return function->make_argument(&function->body(), name, info);
}

Value* Program::constant(const HostTensor& value) {
  return builder.constant(relax::ConstantData::inline_bytes(value.dtype, value.shape, value.bytes));
}

Value* Program::shape(std::vector<int64_t> dims) {
  std::vector<arith::Expr> exprs;
  for (int64_t dim : dims) exprs.push_back(index(dim));
  return builder.shape(std::move(exprs));
}

std::vector<Value*> Program::call_many(relax::OpName op, std::vector<Value*> operands, Attrs attrs) {
  auto results = builder.call_many(op, std::move(operands), std::move(attrs));
  if (!results) throw std::runtime_error(render(diag));
  return *results;
}

Value* Program::call(relax::OpName op, std::vector<Value*> operands, Attrs attrs) {
  return call_many(op, std::move(operands), std::move(attrs)).at(0);
}

std::variant<std::vector<HostTensor>, relax::RunFault> Program::interpret(std::vector<Value*> results) {
  for (Value* result : results) function->body().yield->add_operand(result);
  auto evaluator = tir::make_interpreter();
  return relax::interpret(module, table, *function, inputs_, *evaluator);
}

std::vector<HostTensor> Program::run(std::vector<Value*> results) {
  auto outcome = interpret(std::move(results));
  if (const auto* fault = std::get_if<relax::RunFault>(&outcome))
    throw std::runtime_error("status " + std::to_string(fault->status.code) + ": " + fault->text);
  return std::get<std::vector<HostTensor>>(outcome);
}

int32_t Program::code(std::vector<Value*> results) {
  auto outcome = interpret(std::move(results));
  const auto* fault = std::get_if<relax::RunFault>(&outcome);
  return fault == nullptr ? 0 : fault->status.code;
}

std::vector<HostTensor> run_op_all(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs) {
  Program p;
  std::vector<Value*> operands;
  for (HostTensor& input : inputs) operands.push_back(p.input(std::move(input)));
  return p.run(p.call_many(op, std::move(operands), std::move(attrs)));
}

HostTensor run_op(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs) {
  return run_op_all(op, std::move(inputs), std::move(attrs)).at(0);
}

std::string error_of(relax::OpName op, std::vector<HostTensor> inputs, Attrs attrs) {
  Program p;
  std::vector<Value*> operands;
  for (HostTensor& input : inputs) operands.push_back(p.input(std::move(input)));
  auto results = p.builder.call_many(op, std::move(operands), std::move(attrs));
  return results ? std::string() : p.diag.all().at(0).text;
}

void check(const HostTensor& actual, std::vector<int64_t> shape, const std::vector<double>& expected,
           double tolerance) {
  CHECK(actual.shape == shape);
  std::vector<double> found = elements(actual);
  REQUIRE(found.size() == expected.size());
  for (size_t k = 0; k < found.size(); ++k) {
    INFO("element " << k << ": " << found[k] << ", expected " << expected[k]);
    bool both_nan = std::isnan(found[k]) && std::isnan(expected[k]);
    bool same = found[k] == expected[k] || both_nan;
    CHECK((same || std::abs(found[k] - expected[k]) <= tolerance * std::max(1.0, std::abs(expected[k]))));
  }
}

}  // namespace relaxc::test
