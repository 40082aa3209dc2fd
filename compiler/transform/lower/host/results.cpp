// results.cpp: first copies sources that a state's output would overwrite, then writes outputs and data-dependent dims.
#include "compiler/transform/lower/host/results.h"

#include <algorithm>

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns the storage of an output's value; a copy of it if it is in a state that another output may overwrite.
ValueStorage source_of(HostLowering& host, const Output& output) {
  ValueStorage from = host.values.leaf(*output.value, output.path);
  const std::vector<Input>& inputs = host.signature.inputs();
  int32_t place = static_cast<int32_t>(&output - host.signature.outputs().data());
  auto reads = [&](const Input& input) {
    return input.pair >= 0 && input.pair != place && host.memory.aliases(from.buffer, input.buffer);
  };
  if (from.buffer == nullptr || std::none_of(inputs.begin(), inputs.end(), reads)) return from;
  BufferRef kept = host.memory.allocate(output.name + "_kept", from.buffer->dtype, from.buffer->shape);
  host.memory.copy(from.buffer, kept);
  from.buffer = kept;
  return from;
}

/// Stores the numbers of a shape or a scalar, one by one.
void write_numbers(HostLowering& host, const Output& output, const ValueStorage& from) {
  tir::Builder& build = host.at.build();
  std::vector<Expr> elements = host.shapes.symbols().known(numbers(output.info));
  if (output.info->as<PrimInfo>() != nullptr && elements.empty()) elements = {build.load(from.buffer, {})};
  for (size_t i = 0; i < elements.size(); ++i) {
    tir::Indices at(output.buffer->shape.size(), build.index(static_cast<int64_t>(i)));
    host.at.add(build.store(output.buffer, at, arith::cast(output.buffer->dtype, elements[i])));
  }
}

void write_output(HostLowering& host, const Output& output, const ValueStorage& from) {
  if (output.info->as<TensorInfo>() == nullptr) return write_numbers(host, output, from);
  if (output.path.empty() && host.destinations.of(*output.value) == output.buffer) return;  // already in place
  std::vector<Expr> shape = host.shapes.dims(output.info);
  host.memory.copy(from.buffer, host.destinations.view_of(output.buffer, output.name, shape));
}

void leave_dims(HostLowering& host, const Output& output) {
  tir::Builder& build = host.at.build();
  std::vector<Expr> shape = host.signature.output_dims(output);
  if (host.shapes.symbols().of_entry(shape)) return;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Expr at = build.index(static_cast<int64_t>(output.first_dim + axis));
    host.at.add(build.store(host.signature.out_dims(), {at}, arith::cast(DType::i(64), shape[axis])));
  }
}

}  // namespace

void write_outputs(HostLowering& host) {
  const std::vector<Output>& outputs = host.signature.outputs();
  std::vector<ValueStorage> from;
  for (const Output& output : outputs) from.push_back(source_of(host, output));
  for (size_t i = 0; i < outputs.size(); ++i) write_output(host, outputs[i], from[i]);
  for (const Output& output : outputs) leave_dims(host, output);
}

}  // namespace relaxc::lower
