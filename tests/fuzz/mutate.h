// mutate.h: programs with small mistakes at random places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relaxc::fuzz {

/// One of `texts` with one to three changes: a token or a line gone, doubled, swapped or replaced by another, also of
/// another text; a number by an extreme one. Random bytes never get past a lexer; these reach every part of a reader.
/// The same seed gives the same text. `texts` must not be empty.
std::string mutated(const std::vector<std::string>& texts, uint64_t seed);

}  // namespace relaxc::fuzz
