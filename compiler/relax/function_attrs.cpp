// function_attrs.cpp: the table of attributes.
#include "compiler/relax/function_attrs.h"

#include <algorithm>

#include "compiler/relax/attr_text.h"
#include "compiler/relax/quantization_text.h"
#include "compiler/relax/state.h"

namespace relaxc::relax {
namespace {

using Printed = std::optional<AttrValue>;
using Texts = std::vector<std::string>;

Printed unless_empty(const Texts& texts) {
  return texts.empty() ? std::nullopt : Printed(texts);
}

Printed print_output_names(const Function& f) {
  return unless_empty(f.output_names);
}

bool parse_output_names(Function& f, const AttrValue& value) {
  f.output_names = std::get<Texts>(value);
  return true;
}

Printed print_quantized(const Function& f) {
  return unless_empty(to_text(f.quantized));
}

bool parse_quantized(Function& f, const AttrValue& value) {
  std::optional<tir::QuantizedTensors> tensors = parse_quantized_tensors(std::get<Texts>(value));
  if (tensors) f.quantized = std::move(*tensors);
  return tensors.has_value();
}

Printed print_states(const Function& f) {
  Texts texts;
  for (const State& state : f.states) texts.push_back(to_text(state));
  return unless_empty(texts);
}

bool parse_states(Function& f, const AttrValue& value) {
  std::vector<State> states;
  for (const std::string& text : std::get<Texts>(value)) {
    std::optional<State> state = parse_state(text, f);
    if (!state) return false;
    states.push_back(std::move(*state));
  }
  f.states = std::move(states);
  return true;
}

Printed print_num_input(const Function& f) {
  return f.num_input ? Printed(*f.num_input) : std::nullopt;
}

bool parse_num_input(Function& f, const AttrValue& value) {
  f.num_input = std::get<int64_t>(value);
  return true;
}

constexpr std::string_view kOtherRounding = "changed";

Printed print_rounding(const Function& f) {
  if (!f.rounding) return std::nullopt;
  return AttrValue(f.rounding->narrowed ? to_string(*f.rounding->narrowed) : std::string(kOtherRounding));
}

bool parse_rounding(Function& f, const AttrValue& value) {
  const auto& text = std::get<std::string>(value);
  std::optional<DType> dtype = parse_dtype(text);
  if (!dtype && text != kOtherRounding) return false;
  f.rounding = tir::Rounding{dtype};
  return true;
}

Printed print_gradient(const Function& f) {
  return f.gradient ? Printed(f.gradient->parameters) : std::nullopt;
}

bool parse_gradient(Function& f, const AttrValue& value) {
  if (!f.gradient) f.gradient.emplace();
  f.gradient->parameters = std::get<Texts>(value);
  return true;
}

Printed print_gradient_target(const Function& f) {
  return f.gradient && f.gradient->target != 0 ? Printed(f.gradient->target) : std::nullopt;
}

bool parse_gradient_target(Function& f, const AttrValue& value) {
  if (!f.gradient) f.gradient.emplace();
  f.gradient->target = std::get<int64_t>(value);
  return true;
}

constexpr FunctionAttr kAttrs[] = {
    {.name = "gradient",
     .type = AttrType::kStrings,
     .form = "a list of parameters",
     .print = print_gradient,
     .parse = parse_gradient},
    {.name = "gradient_target",
     .type = AttrType::kInt,
     .form = "the number of a result",
     .print = print_gradient_target,
     .parse = parse_gradient_target},
    {.name = "num_input",
     .type = AttrType::kInt,
     .form = "a number of parameters",
     .print = print_num_input,
     .parse = parse_num_input},
    {.name = "output_names",
     .type = AttrType::kStrings,
     .form = "a list of names",
     .print = print_output_names,
     .parse = parse_output_names},
    {.name = "quantized",
     .type = AttrType::kStrings,
     .form = "a list of quantizations (\"input 0: scale 0.5 zero 3\", or with \"axis 1\" before several scales)",
     .print = print_quantized,
     .parse = parse_quantized},
    {.name = "rounding",
     .type = AttrType::kString,
     .form = "\"changed\" or a dtype",
     .print = print_rounding,
     .parse = parse_rounding},
    {.name = "state",
     .type = AttrType::kStrings,
     .form = "a list of \"input:output\"",
     .print = print_states,
     .parse = parse_states},
};

}  // namespace

std::span<const FunctionAttr> function_attrs() {
  return kAttrs;
}

const FunctionAttr* find_function_attr(std::string_view name) {
  auto row = std::find_if(std::begin(kAttrs), std::end(kAttrs), [&](const FunctionAttr& a) { return a.name == name; });
  return row == std::end(kAttrs) ? nullptr : row;
}

bool set_attribute(Function& function, const std::string& name, AttrValue value) {
  const FunctionAttr* row = find_function_attr(name);
  if (row == nullptr) return function.attrs[name] = std::move(value), true;
  if (attr_type(value) == row->type) return row->parse(function, value);
  std::optional<AttrValue> converted = convert_attr(value, row->type);
  return converted && row->parse(function, *converted);
}

std::map<std::string, AttrValue> attribute_values(const Function& function) {
  std::map<std::string, AttrValue> values = function.attrs;
  for (const FunctionAttr& row : kAttrs)
    if (std::optional<AttrValue> value = row.print(function)) values[std::string(row.name)] = std::move(*value);
  return values;
}

}  // namespace relaxc::relax
