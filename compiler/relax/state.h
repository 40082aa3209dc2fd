// state.h: the states of a function, and their text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace relaxc::relax {

class Function;

/// A buffer that a call reads as one input and leaves as one output, for the next call.
struct State {
  std::string input, output;  ///< their names
  friend bool operator==(const State&, const State&) = default;
};

/// "input:output", as people write it and messages show it.
std::string to_string(const State& state);
/// The same where names hold colons and the reader does not know them: "image\:0:probabilities\:0".
std::string to_text(const State& state);
/// Reads both forms. Where several colons could part the two names, `function` decides: the first that has the name of
/// an input before it and the name of an output behind it, or else of an input alone, or else the first. Nothing: the
/// text has no colon with a name on either side.
std::optional<State> parse_state(std::string_view text, const Function& function);

}  // namespace relaxc::relax
