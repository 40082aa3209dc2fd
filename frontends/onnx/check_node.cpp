// check_node.cpp: checks a node against the signature of its operator.
//
// Nothing invalid is ignored silently: an attribute that is not read would change the model's meaning without a
// message. As in ONNX, attributes whose names begin with two underscores are notes of a tool.
#include "frontends/onnx/check_node.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compiler/support/suggest.h"
#include "frontends/onnx/attribute_limits.h"
#include "frontends/onnx/importer.h"

namespace relaxc::frontend {
namespace {

using onnx::AttributeProto;

struct TypeName {
  AttributeProto::AttributeType type;
  std::string_view name;
};

constexpr TypeName kTypes[] = {
    {AttributeProto::FLOAT, "float"},
    {AttributeProto::INT, "int"},
    {AttributeProto::STRING, "string"},
    {AttributeProto::TENSOR, "tensor"},
    {AttributeProto::GRAPH, "graph"},
    {AttributeProto::FLOATS, "floats"},
    {AttributeProto::INTS, "ints"},
    {AttributeProto::STRINGS, "strings"},
    {AttributeProto::TENSORS, "tensors"},
    {AttributeProto::GRAPHS, "graphs"},
    {AttributeProto::SPARSE_TENSOR, "sparse_tensor"},
    {AttributeProto::SPARSE_TENSORS, "sparse_tensors"},
    {AttributeProto::TYPE_PROTO, "type"},
    {AttributeProto::TYPE_PROTOS, "types"},
};

std::string_view type_name(AttributeProto::AttributeType type) {
  for (const TypeName& row : kTypes)
    if (row.type == type) return row.name;
  return "nothing";
}

/// Returns the types whose fields hold a value.
std::vector<AttributeProto::AttributeType> filled_types(const AttributeProto& attribute) {
  std::vector<AttributeProto::AttributeType> filled;
  auto add = [&](bool has, AttributeProto::AttributeType type) {
    if (has) filled.push_back(type);
  };
  add(attribute.has_f(), AttributeProto::FLOAT);
  add(attribute.has_i(), AttributeProto::INT);
  add(attribute.has_s(), AttributeProto::STRING);
  add(attribute.has_t(), AttributeProto::TENSOR);
  add(attribute.has_g(), AttributeProto::GRAPH);
  add(attribute.floats_size() > 0, AttributeProto::FLOATS);
  add(attribute.ints_size() > 0, AttributeProto::INTS);
  add(attribute.strings_size() > 0, AttributeProto::STRINGS);
  add(attribute.tensors_size() > 0, AttributeProto::TENSORS);
  add(attribute.graphs_size() > 0, AttributeProto::GRAPHS);
  add(attribute.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR);
  add(attribute.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS);
  add(attribute.has_tp(), AttributeProto::TYPE_PROTO);
  add(attribute.type_protos_size() > 0, AttributeProto::TYPE_PROTOS);
  return filled;
}

/// Returns the attribute's type. Models before IR version 2 do not store it; then it is the type of the only filled
/// field, or UNDEFINED if none or several are filled.
AttributeProto::AttributeType type_of(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  std::vector<AttributeProto::AttributeType> filled = filled_types(attribute);
  return filled.size() == 1 ? filled[0] : AttributeProto::UNDEFINED;
}

/// Returns whether only the field of `type` is filled; or none is, if 0, "" or an empty list is a value of `type`.
bool holds_only(const AttributeProto& attribute, AttributeProto::AttributeType type) {
  std::vector<AttributeProto::AttributeType> filled = filled_types(attribute);
  if (!filled.empty()) return filled.size() == 1 && filled[0] == type;
  return type != AttributeProto::TENSOR && type != AttributeProto::GRAPH && type != AttributeProto::SPARSE_TENSOR &&
         type != AttributeProto::TYPE_PROTO;
}

bool is_note(std::string_view name) {
  return name.starts_with("__");
}

class NodeCheck {
 public:
  NodeCheck(Node& node, const onnx::FunctionProto* function, bool called = true)
      : node_(node), function_(function), called_(called), errors_(node.diag.error_count()) {}

  Status against(const Signature& signature) {
    arguments(signature.inputs, node_.proto.input(), "input");
    arguments(signature.outputs, node_.proto.output(), "output");
    std::vector<std::string> names;
    for (const AttributeFormal& formal : signature.attributes) names.emplace_back(formal.name);
    each_once(names);
    for (const AttributeProto& attribute : node_.proto.attribute())
      if (const AttributeFormal* formal = signature.attribute(attribute.name())) value(attribute, *formal);
    for (const AttributeFormal& formal : signature.attributes)
      if (formal.required && !node_.has_attr(formal.name) &&
          ((function_ != nullptr && called_) || !has_entry(formal.name)))
        node_.error(Kind::invalid_attribute, "attribute '{}' ({}) is missing", formal.name, formal.type);
    return status();
  }

  Status alone() {
    std::vector<std::string> names;
    for (const AttributeProto& attribute : node_.proto.attribute()) {
      names.push_back(attribute.name());
      static_cast<void>(resolved(attribute));
    }
    each_once(names);
    return status();
  }

  Status against(const onnx::FunctionProto& callee) {
    at_most(callee.input_size(), node_.proto.input_size(), "input");
    at_most(callee.output_size(), node_.proto.output_size(), "output");
    std::vector<std::string> names(callee.attribute().begin(), callee.attribute().end());
    for (const AttributeProto& attribute : callee.attribute_proto()) names.push_back(attribute.name());
    each_once(names);
    for (const AttributeProto& attribute : node_.proto.attribute()) {
      const AttributeProto* given = resolved(attribute);
      for (const AttributeProto& known : callee.attribute_proto())
        if (known.name() == attribute.name() && given != nullptr && type_of(*given) != type_of(known))
          wrong_type(attribute, type_name(type_of(known)), type_of(*given));
    }
    return status();
  }

 private:
  using Names = google::protobuf::RepeatedPtrField<std::string>;

  Status status() const {
    if (node_.diag.error_count() > errors_) return node_.diag.failed();
    return Done{};
  }

  /// Returns whether the node lists an attribute of this name, even if it refers to one that the call leaves out.
  bool has_entry(std::string_view name) const {
    const auto& all = node_.proto.attribute();
    return std::any_of(all.begin(), all.end(), [&](const AttributeProto& one) { return one.name() == name; });
  }

  void at_most(int most, int found, std::string_view what) {
    if (found > most)
      node_.error(Kind::wrong_arity, "function '{}' has {} {}{}, but the call has {}", node_.proto.op_type(), most,
                  what, most == 1 ? "" : "s", found);
  }

  void arguments(const std::vector<Formal>& formals, const Names& given, std::string_view what) {
    bool repeated = !formals.empty() && formals.back().kind >= Formal::Kind::kAny;
    auto count = static_cast<size_t>(given.size());
    if (!repeated && count > formals.size()) {
      std::vector<std::string_view> names;
      for (const Formal& formal : formals) names.push_back(formal.name);
      node_.error(Kind::wrong_arity, "the operator has {} {}{} ({}), but the node has {}", formals.size(), what,
                  formals.size() == 1 ? "" : "s", fmt::join(names, ", "), count);
    }
    const size_t places = repeated ? std::max(count, formals.size()) : formals.size();
    for (size_t i = 0; i < places; ++i) {
      const Formal& formal = formals[std::min(i, formals.size() - 1)];
      // Nor has a list of any length a gap. An empty output name means that the output is not wanted.
      const bool needed = formal.kind == Formal::Kind::kOne || formal.kind == Formal::Kind::kSome ||
                          (formal.kind == Formal::Kind::kAny && i < count);
      const bool there = i < count && (what == "output" || node_.has(i));
      if (needed && !there) node_.error(Kind::wrong_arity, "{} {} ('{}') is missing", what, i, formal.name);
    }
  }

  /// Reports attributes that are not in `names`, and attributes that are given twice.
  void each_once(const std::vector<std::string>& names) {
    std::set<std::string_view> seen;
    for (const AttributeProto& attribute : node_.proto.attribute()) {
      const std::string& name = attribute.name();
      if (!seen.insert(name).second) node_.error(Kind::invalid_attribute, "attribute '{}' is given twice", name);
      if (std::find(names.begin(), names.end(), name) != names.end() || is_note(name)) continue;
      node_.error(Kind::invalid_attribute, "attribute '{}' is not one of the operator's: {}", name,
                  names.empty() ? "it has none" : fmt::format("{}", fmt::join(names, ", ")));
      if (std::optional<std::string> meant = nearest_name(name, names))
        node_.diag.note(nullptr, "did you mean '{}'?", *meant);
    }
  }

  /// Returns the attribute, or the one that it refers to; null after an error, or if the function's call leaves it out.
  const AttributeProto* resolved(const AttributeProto& attribute) {
    const std::string& outer = attribute.ref_attr_name();
    if (outer.empty()) return &attribute;
    if (function_ == nullptr) {
      node_.error(Kind::invalid_attribute,
                  "attribute '{}' refers to attribute '{}' of a function, but the node is not in a function",
                  attribute.name(), outer);
      return nullptr;
    }
    std::vector<std::string> names(function_->attribute().begin(), function_->attribute().end());
    for (const AttributeProto& known : function_->attribute_proto()) names.push_back(known.name());
    if (std::find(names.begin(), names.end(), outer) != names.end()) return node_.attribute(attribute.name());
    node_.error(Kind::invalid_attribute, "attribute '{}' refers to attribute '{}', which function '{}' does not have",
                attribute.name(), outer, function_->name());
    if (std::optional<std::string> meant = nearest_name(outer, names))
      node_.diag.note(nullptr, "did you mean '{}'?", *meant);
    return nullptr;
  }

  void wrong_type(const AttributeProto& attribute, std::string_view wanted, AttributeProto::AttributeType found) {
    node_.error(Kind::invalid_attribute, "attribute '{}' must be of type {}, found {}", attribute.name(), wanted,
                type_name(found));
  }

  void value(const AttributeProto& attribute, const AttributeFormal& formal) {
    if (!attribute.ref_attr_name().empty() && attribute.type() != AttributeProto::UNDEFINED &&
        type_name(attribute.type()) != formal.type)
      return wrong_type(attribute, formal.type, attribute.type());
    const AttributeProto* given = resolved(attribute);
    if (given == nullptr) return;
    AttributeProto::AttributeType type = type_of(*given);
    if (type_name(type) != formal.type) return wrong_type(attribute, formal.type, type);
    if (!holds_only(*given, type)) {
      node_.error(Kind::invalid_attribute, "attribute '{}' is of type {}, but does not hold one", attribute.name(),
                  formal.type);
      return;
    }
    if (std::string fault = limit_fault(node_, *given, formal); !fault.empty())
      node_.error(Kind::invalid_attribute, "attribute '{}' {}", attribute.name(), fault);
  }

  Node& node_;
  const onnx::FunctionProto* function_;
  bool called_;
  size_t errors_;
};

}  // namespace

Status check_node(Node& node, const Signature& signature, const onnx::FunctionProto* function, bool called) {
  return NodeCheck(node, function, called).against(signature);
}

Status check_attributes(Node& node, const onnx::FunctionProto* function) {
  return NodeCheck(node, function).alone();
}

Status check_call(Node& node, const onnx::FunctionProto& callee, const onnx::FunctionProto* function) {
  return NodeCheck(node, function).against(callee);
}

std::optional<std::string> nearest_operator(const ConverterTable& table, std::string_view domain, std::string_view op) {
  std::vector<std::string> here, elsewhere;
  for (const Converter* row : table.all()) {
    if (row->note == "refused") continue;
    if (row->domain == domain)
      here.emplace_back(row->name);
    else if (row->name == op)
      elsewhere.push_back(fmt::format("{} of domain {}", row->name, row->domain.empty() ? "ai.onnx" : row->domain));
  }
  if (!elsewhere.empty()) return elsewhere.front();
  return nearest_name(op, here);
}

}  // namespace relaxc::frontend
