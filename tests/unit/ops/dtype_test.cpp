// Every dtype that an operator lets pass must run: deduction and definition agree on what is sensible.
#include <catch2/catch.hpp>

#include "compiler/tir/verify.h"
#include "tests/dtypes.h"
#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

/// Defaults for the attributes that have none.
Attrs attrs_for(const relax::OpDef& def) {
  Attrs attrs;
  for (const relax::AttrDef& attr : def.attrs) {
    if (!attr.required) continue;
    if (attr.type == relax::AttrType::kInt) attrs.set(std::string(attr.name), int64_t{1});
    if (attr.type == relax::AttrType::kInts) attrs.set(std::string(attr.name), std::vector<int64_t>{1});
    if (attr.type == relax::AttrType::kDType) attrs.set(std::string(attr.name), DType::f(32));
  }
  return attrs;
}

/// Runs `def` on operands of one dtype and shape; true if deduction lets them pass.
bool runs(const relax::OpDef& def, DType dtype, std::vector<int64_t> shape) {
  Program p;
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::vector<double> values(count, 0);
  std::vector<Value*> operands;
  for (const relax::OperandDef& operand : def.operands)
    if (operand.arity != relax::OperandDef::kOptional) operands.push_back(p.input(tensor(dtype, shape, values)));
  auto results = p.builder.call_many(def.name, operands, attrs_for(def));
  if (!results) return false;
  if (def.define != nullptr) {
    tir::PrimFunc function = relax::define_op(p.context(), *(*results)[0]->op, "f");
    CHECK(tir::first_fault(function) == "");
  }
  p.run(*results);
  return true;
}

}  // namespace

TEST_CASE("every operator runs in every dtype that it accepts") {
  relax::OpTable table = ops::op_table();
  for (const relax::OpDef* def : table.all()) {
    size_t accepted = 0;
    for (DType dtype : testing::kEveryDType)
      for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2}, {1, 2}, {1, 2, 2}, {1, 4, 2, 2}}) {
        INFO(def->name.text() << " of " << to_string(dtype));
        accepted += runs(*def, dtype, shape);
      }
    INFO(def->name.text());
    if (def->operands.size() == 1 && def->operands[0].name == "x") CHECK(accepted > 0);
  }
}
