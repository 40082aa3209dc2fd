// state.h: the states of a function, and their text form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace relaxc::relax {

class Function;

/// A buffer that a call reads as one input and writes as one output, for the next call.
struct State {
  std::string input, output;  ///< their names
  friend bool operator==(const State&, const State&) = default;
};

/// Returns "input:output", as users write it and messages show it.
std::string to_string(const State& state);
/// The same with colons in names escaped, for readers that do not know the names: "image\:0:probabilities\:0".
std::string to_text(const State& state);
/// Parses both forms. If several colons could separate the names, `function` decides: the first one between the names
/// of an input and an output, else the first after the name of an input, else the first. nullopt if no colon has a name
/// on each side.
std::optional<State> parse_state(std::string_view text, const Function& function);

}  // namespace relaxc::relax
