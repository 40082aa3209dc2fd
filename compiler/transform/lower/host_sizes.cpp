// host_sizes.cpp: sizes of inputs and outputs against the address space.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

void HostFunction::add_size_guards(std::vector<tir::Stmt>& body) {
  arith::Facts known = symbols_.entry_facts();
  int32_t tensor = 0;
  for (const Input& input : inputs_) guard_size(input.buffer->shape, input.buffer->dtype, tensor++, known, body);
  for (const Output& output : outputs_) {
    // Of what data decides there is a bound, and any capacity is accepted.
    if (symbols_.of_entry(output_dims(output)))
      guard_size(output.buffer->shape, output.buffer->dtype, tensor, known, body);
    ++tensor;
  }
}

/// Its dims are not negative, and its bytes fit the address space.
void HostFunction::guard_size(const std::vector<Expr>& shape, DType dtype, int32_t tensor, arith::Facts& known,
                              std::vector<tir::Stmt>& body) {
  auto guard = [&](Expr condition, tir::Guard record) {
    if (arith::prove(condition, known)) return;
    known.assume(condition);
    record.condition = condition, record.tensor = tensor;
    body.push_back(build_.guard(std::move(record)));
  };
  Expr elements = build_.index(1);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    tir::Guard record;
    record.code = kDimBounds, record.axis = static_cast<int32_t>(axis), record.symbol = shapes_.our_symbol(shape[axis]);
    record.expected = build_.index(0), record.actual = shape[axis];
    guard(arith::ge(shape[axis], build_.index(0)), std::move(record));
    elements = elements * shape[axis];
  }
  // As runtime-lite/core/size.c has it: the bits are counted in int64.
  int64_t address_space = shared_.context.target.pointer_bits == 32 ? INT32_MAX : INT64_MAX;
  tir::Guard record;
  record.code = kSizeOverflow;
  record.expected = build_.index(address_space), record.actual = elements;
  int64_t most = std::min(address_space, (INT64_MAX - 1) / 8) / std::max<int64_t>(dtype.bytes(), 1);
  guard(arith::le(elements, build_.index(most)), std::move(record));
}

}  // namespace relaxc::lower
