// typed_call.cpp: makes the names of the typed call.
#include "compiler/interface/typed_call.h"

#include <algorithm>

#include "compiler/interface/identifiers.h"

namespace relaxc::interface {
namespace {

std::string hex(const std::array<uint8_t, 8>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (uint8_t byte : bytes) out += {kDigits[byte >> 4], kDigits[byte & 15]};
  return out;
}

}  // namespace

bool is_value(const Symbol& symbol) {
  return symbol.tensor < 0;
}
std::string capitals(std::string name) {
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return name;
}

bool is_static(const Entry& entry) {
  return entry.symbols.empty();
}

bool has_derived_dims(const Entry& entry) {
  for (const auto* tensors : {&entry.inputs, &entry.outputs})
    for (const Tensor& tensor : *tensors)
      if (std::find(tensor.dims.begin(), tensor.dims.end(), INT64_MIN) != tensor.dims.end()) return true;
  return false;
}

std::vector<CallField> call_fields(const Entry& entry) {
  std::vector<CallField> fields;
  auto add = [&](CallField::Kind kind, size_t index, const std::string& name) {
    fields.push_back({kind, static_cast<uint32_t>(index), name});
  };
  for (size_t i = 0; i < entry.inputs.size(); ++i) add(CallField::kInput, i, entry.inputs[i].identifier);
  for (size_t i = 0; i < entry.outputs.size(); ++i) add(CallField::kOutput, i, entry.outputs[i].identifier);
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].data_dependent) add(CallField::kOutputDims, i, entry.outputs[i].dims_identifier);
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    if (!is_value(entry.symbols[i])) add(CallField::kSymbol, i, entry.symbols[i].identifier);
  return fields;
}

std::string entry_prefix(const Object& object, const Entry& entry) {
  return object.name + "_" + entry.identifier + (entry.identifier.empty() ? "" : "_");
}

std::string run_symbol(const Object& object, const Entry& entry) {
  return entry_prefix(object, entry) + "run_" + hex(object.interface_hash);
}

std::string arena_symbol(const Object& object, const Entry& entry) {
  return entry_prefix(object, entry) + "arena_bytes_" + hex(object.interface_hash);
}

std::string public_symbol(const Object& object, const PublicPrimFunc& function) {
  return object.name + "_" + function.identifier;
}

}  // namespace relaxc::interface
