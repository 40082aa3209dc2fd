// state.cpp: prints and parses "input:output". Names of TFLite and TensorFlow contain colons ("image:0"), so the text
// alone may be ambiguous.
#include "compiler/relax/state.h"

#include <algorithm>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc::relax {
namespace {

constexpr char kEscape = '\\', kColon = ':';

/// Appends the names under which lowering lists a parameter; fields of a tuple get the parameter's name and a number.
void add_leaves(std::vector<std::string>& names, const std::string& name, Info info) {
  const auto* tuple = info == nullptr ? nullptr : info->as<TupleInfo>();
  if (tuple == nullptr) return names.push_back(name);
  for (size_t i = 0; i < tuple->fields.size(); ++i) add_leaves(names, name + "_" + std::to_string(i), tuple->fields[i]);
}

std::vector<std::string> input_names(const Function& function) {
  std::vector<std::string> names;
  for (const Value* argument : function.body().arguments) add_leaves(names, argument->name, argument->info);
  return names;
}

/// Returns the names that the attribute gives, followed by the names of the results if the function has a body.
std::vector<std::string> output_names(const Function& function) {
  std::vector<std::string> names = function.output_names;
  if (function.body().yield == nullptr) return names;
  for (const Value* result : function.body().results())
    if (result != nullptr) add_leaves(names, result->name, result->info);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string escaped(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (c == kColon || c == kEscape) text += kEscape;
    text += c;
  }
  return text;
}

/// A text with its escapes removed, and the positions of its unescaped colons.
struct Unescaped {
  std::string text;
  std::vector<size_t> colons;  ///< only colons with a character on either side
};

Unescaped unescaped(std::string_view text) {
  Unescaped made;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escape = text[i] == kEscape && i + 1 < text.size() && (text[i + 1] == kColon || text[i + 1] == kEscape);
    if (escape) ++i;
    if (!escape && text[i] == kColon && !made.text.empty() && i + 1 < text.size())
      made.colons.push_back(made.text.size());
    made.text += text[i];
  }
  return made;
}

}  // namespace

std::string to_string(const State& state) {
  return state.input + kColon + state.output;
}

std::string to_text(const State& state) {
  return escaped(state.input) + kColon + escaped(state.output);
}

std::optional<State> parse_state(std::string_view text, const Function& function) {
  auto [names, colons] = unescaped(text);
  if (colons.empty()) return std::nullopt;
  auto parted = [&, &all = names](size_t colon) { return State{all.substr(0, colon), all.substr(colon + 1)}; };
  if (colons.size() == 1) return parted(colons.front());
  std::vector<std::string> inputs = input_names(function), outputs = output_names(function);
  std::optional<State> of_input;
  for (size_t colon : colons) {
    State state = parted(colon);
    if (!contains(inputs, state.input)) continue;
    if (contains(outputs, state.output)) return state;
    if (!of_input) of_input = state;
  }
  return of_input ? of_input : parted(colons.front());
}

}  // namespace relaxc::relax
