// regex.h: compiles a regular expression in RE2's syntax to a finite automaton over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace relaxc::frontend {

/// State 0 is the start state.
struct Automaton {
  std::vector<int32_t> steps;    ///< [states, 256]: the state after a byte
  std::vector<uint8_t> accepts;  ///< [states]: whether a string that ends there matches as a whole
};

/// Finds matches within a text: a run begins anywhere and reports every byte after which the text since then matches.
/// Classes of the bytes beside a position: 0 is an end of the text, 1 a letter, digit or underscore, 2 another byte.
struct Searcher {
  std::vector<int32_t> steps;       ///< [states, 256]: the state after a byte
  std::vector<uint8_t> accepts;     ///< [states, 3]: whether a match may end there, by the class of the next byte
  std::array<int32_t, 3> starts{};  ///< the start state, by the class of the byte before
  int32_t dead = -1;                ///< the state from which nothing matches; -1 if there is none
};

/// Returns the automaton of the UTF-8 strings that match as a whole, or an error: the pattern is malformed, uses what
/// RE2 lacks (look-around, back references) or what is not supported here (Unicode properties), or needs too many
/// states.
std::variant<Automaton, std::string> compile_regex(std::string_view pattern);
/// The same for matches within a text.
std::variant<Searcher, std::string> compile_search(std::string_view pattern);

}  // namespace relaxc::frontend
