// regex.h: a regular expression in RE2's syntax as a finite automaton over bytes.
#pragma once

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

/// The automaton of the UTF-8 strings that match as a whole, or why there is none: the pattern is malformed, has what
/// RE2 does not have (look-around, back references), or what is not supported here (Unicode properties), or needs more
/// states than are sensible.
std::variant<Automaton, std::string> compile_regex(std::string_view pattern);

}  // namespace relaxc::frontend
