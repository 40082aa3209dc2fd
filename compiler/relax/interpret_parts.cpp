// interpret_parts.cpp: see interpret_parts.h.
#include "compiler/relax/interpret_parts.h"

#include <bit>
#include <cstring>

namespace relaxc::relax::interpreter {

size_t leaves(Info info) {
  const auto* tuple = info->as<TupleInfo>();
  if (tuple == nullptr) return 1;
  size_t count = 0;
  for (Info field : tuple->fields) count += leaves(field);
  return count;
}

Part vector_of(const std::vector<int64_t>& values) {
  HostTensor t{DType::i(64), {static_cast<int64_t>(values.size())}, {}};
  t.bytes.resize(values.size() * sizeof(int64_t));
  if (!values.empty()) std::memcpy(t.bytes.data(), values.data(), t.bytes.size());
  return std::make_shared<HostTensor>(std::move(t));
}

std::vector<int64_t> values_of(const HostTensor& t) {
  std::vector<int64_t> values(static_cast<size_t>(t.elements()));
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = decode_integer(t.dtype, t.bytes.data() + k * static_cast<size_t>(t.dtype.bytes()));
  return values;
}

int64_t cell_of(const HostTensor& t) {
  if (t.dtype.is_float()) return std::bit_cast<int64_t>(decode_scalar(t.dtype, t.bytes.data()));
  return decode_integer(t.dtype, t.bytes.data());
}

Part part_of(DType dtype, int64_t cell) {
  HostTensor t{dtype.is_index() ? DType::i(64) : dtype, {}, {}};
  if (dtype.is_float()) {
    t.bytes = encode_scalar(t.dtype, std::bit_cast<double>(cell));
  } else {
    t.bytes.resize(static_cast<size_t>(t.dtype.bytes()));
    std::memcpy(t.bytes.data(), &cell, t.bytes.size());
  }
  return std::make_shared<HostTensor>(std::move(t));
}

/// Returns the address of a tensor's elements, which is never null, not even for an empty tensor.
void* address(const HostTensor& t) {
  alignas(64) static constexpr std::byte kNothing[64]{};
  return const_cast<std::byte*>(t.bytes.empty() ? kNothing : t.bytes.data());
}

std::string label(const Op& op) {
  std::string name = op.def != nullptr ? std::string(op.def->name.text()) : op.callee;
  return op.results.empty() || op.results[0]->name.empty() ? "'" + name + "'"
                                                           : "'" + name + "' giving '" + op.results[0]->name + "'";
}

void collect(const Parts& parts, Info info, Parts& tensors, std::vector<int64_t>& scalars) {
  if (info->as<TensorInfo>() != nullptr || info->as<TupleInfo>() != nullptr) {
    tensors.insert(tensors.end(), parts.begin(), parts.end());
    return;
  }
  if (info->as<PrimInfo>() != nullptr) return scalars.push_back(cell_of(*parts[0]));
  if (info->as<ObjectInfo>() != nullptr) {
    std::memcpy(&scalars.emplace_back(), parts[0]->bytes.data(), sizeof(int64_t));
    return;
  }
  for (int64_t value : values_of(*parts[0])) scalars.push_back(value);
}

void collect_tensors(Info info, std::vector<const TensorInfo*>& out) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) collect_tensors(field, out);
  else if (const auto* tensor = info->as<TensorInfo>())
    out.push_back(tensor);
}

void add_arguments(const Parts& parts, Info info, std::vector<tir::ExternalArg>& args) {
  Parts tensors;
  std::vector<int64_t> scalars;
  if (const auto* prim = info->as<PrimInfo>(); prim != nullptr && prim->dtype.is_float())
    tensors = parts;
  else
    collect(parts, info, tensors, scalars);
  for (const Part& t : tensors) args.push_back({address(*t), t->dtype, t->shape, 0});
  for (int64_t value : scalars) args.push_back({nullptr, DType::i(64), {}, value});
}

}  // namespace relaxc::relax::interpreter
