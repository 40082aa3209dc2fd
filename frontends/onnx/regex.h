// regex.h: a regular expression in RE2's syntax as a finite automaton over bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace relaxc::frontend {

/// State 0 is where it begins.
struct Automaton {
  std::vector<int32_t> steps;    ///< [states, 256]: the state after a byte
  std::vector<uint8_t> accepts;  ///< [states]: whether a string that ends there matches as a whole
};

/// Finds matches within a text: a run begins anywhere, and every byte behind which the text so far matches is reported.
/// What is beside a position: 0 is an end of the text, 1 a letter, digit or underscore, 2 another byte.
struct Searcher {
  std::vector<int32_t> steps;       ///< [states, 256]: the state after a byte
  std::vector<uint8_t> accepts;     ///< [states, 3]: whether a match may end there, by what comes next
  std::array<int32_t, 3> starts{};  ///< where a match begins, by what was before
  int32_t dead = -1;                ///< the state from which nothing matches; -1: there is none
};

/// The automaton of the UTF-8 strings that match as a whole, or why there is none: the pattern is malformed, has what
/// RE2 does not have (look-around, back references), or what is not supported here (Unicode properties), or needs more
/// states than are sensible.
std::variant<Automaton, std::string> compile_regex(std::string_view pattern);
/// The same for matches within a text.
std::variant<Searcher, std::string> compile_search(std::string_view pattern);

}  // namespace relaxc::frontend
