// node_attributes.cpp: see node_attributes.h.
#include "frontends/onnx/node_attributes.h"

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

using onnx::AttributeProto;

const AttributeProto* NodeAttributes::attribute(std::string_view name) const {
  for (const AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.ref_attr_name().empty()) return &attribute;
    auto outer = site_.importer().scope().attributes.find(attribute.ref_attr_name());
    return outer == site_.importer().scope().attributes.end() ? nullptr : outer->second;
  }
  return nullptr;
}

int64_t NodeAttributes::int_attr(std::string_view name, int64_t fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : found->i();
}
double NodeAttributes::float_attr(std::string_view name, double fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : static_cast<double>(found->f());
}
std::string NodeAttributes::string_attr(std::string_view name, std::string_view fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::string(fallback) : found->s();
}
std::vector<int64_t> NodeAttributes::ints_attr(std::string_view name, std::vector<int64_t> fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : std::vector<int64_t>(found->ints().begin(), found->ints().end());
}
std::vector<double> NodeAttributes::floats_attr(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<double>{} : std::vector<double>(found->floats().begin(), found->floats().end());
}
std::vector<std::string> NodeAttributes::strings_attr(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

Result<relax::ConstantRef> NodeAttributes::tensor_attr(const onnx::TensorProto& tensor) {
  return tensor_constant(tensor, site_.importer().files(), site_.location, site_.diag);
}

}  // namespace relaxc::frontend
