// findings.h: the messages of checks at run time.
//
// A check that the compiler could not decide fails in a user's program, which knows only the two numbers and the text
// from here. So each kind of finding has a sentence in this list, and no check can be made without one. `{what}` is
// filled in when the check is made: a dim, an axis, a quantity. `{expected}` and `{actual}` stay until the error record
// has the numbers; docs/abi.md ("Messages") says how a reader inserts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace relaxc {

// clang-format off
#define RELAXC_FINDINGS(X)                                                        \
  X(Differ,    "{what} {expected} and {actual} differ")                           \
  X(Elements,  "{expected} elements become {actual}")                             \
  X(AtLeast,   "{what} is {actual}, must be at least {expected}")                 \
  X(AtMost,    "{what} is {actual}, must be at most {expected}")                  \
  X(Multiple,  "{what} is {actual}, must be a multiple of {expected}")            \
  X(Exact,     "{what} is {actual}, must be {expected}")                          \
  X(Zero,      "{what} is {actual}")                                              \
  X(Where,     "{what} is {expected} where {other} has {actual}")                  \
  X(Broadcast, "{what} is {expected} here and {actual} there, must be equal or 1") \
  X(Relation,  "{what} does not hold, with {expected} and {actual} as its sides") \
  X(Room,      "{actual} elements where there is room for {expected}")            \
  X(Overflow,  "a size is beyond {expected}")                                     \
  X(Depth,     "a call that is {actual} deep, where --max-recursion is {expected}") \
  X(Nodes,     "{actual} nodes of data, where --max-data-nodes is {expected}")          \
  X(Tag,       "constructor number {actual} where {expected} is matched")
// clang-format on

enum class Finding : uint8_t {
#define X(name, text) k##name,
  RELAXC_FINDINGS(X)
#undef X
};

inline constexpr std::string_view kFindingTexts[] = {
#define X(name, text) text,
    RELAXC_FINDINGS(X)
#undef X
};

/// A kind of finding and what it is about ("dim 2", "inner dims", "dim 1 of 'a'" and "'b'").
struct Found {
  Finding finding;
  std::string what = {}, other = {};
};

/// Returns the sentence, with `{expected}` and `{actual}` left in it.
inline std::string sentence(const Found& found) {
  std::string text(kFindingTexts[static_cast<size_t>(found.finding)]);
  auto fill = [&](std::string_view slot, const std::string& by) {
    if (size_t at = text.rfind(slot); at != std::string::npos) text.replace(at, slot.size(), by);
  };
  fill("{other}", found.other), fill("{what}", found.what);
  return text;
}

}  // namespace relaxc
