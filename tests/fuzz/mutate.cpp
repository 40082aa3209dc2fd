// mutate.cpp: pieces of text, changed and joined again.
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <random>

namespace relaxc::fuzz {
namespace {

using Pieces = std::vector<std::string>;

/// Words, numbers, strings and single characters, spaces included, so that they join to the same text.
Pieces pieces_of(const std::string& text) {
  Pieces pieces;
  auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (word(text[at])) {
      while (end < text.size() && word(text[end])) ++end;
    } else if (text[at] == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') ++end;
      end = std::min(end + 1, text.size());
    }
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

Pieces lines_of(const std::string& text) {
  Pieces lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

void change(Pieces& pieces, const Pieces& others, std::mt19937_64& random) {
  static constexpr const char* kNumbers[] = {"0",
                                             "1",
                                             "-1",
                                             "2",
                                             "63",
                                             "1000000",
                                             "2147483647",
                                             "2147483648",
                                             "1000000000000",
                                             "4611686018427387904",
                                             "9223372036854775807"};
  if (pieces.empty()) return;
  size_t at = random() % pieces.size(), other = random() % pieces.size();
  switch (random() % 8) {  // a number more often than the others: sums and products of sizes overflow
    case 0:
      pieces[at].clear();
      return;
    case 1:
      pieces[at] += pieces[at];
      return;
    case 2:
      pieces[at] = pieces[other];
      return;
    case 3:
      if (!others.empty()) pieces[at] = others[random() % others.size()];
      return;
    case 4:
    case 5:
    case 6: {
      auto number =
          std::find_if(pieces.begin() + static_cast<std::ptrdiff_t>(at), pieces.end(),
                       [](const std::string& piece) { return !piece.empty() && piece[0] >= '0' && piece[0] <= '9'; });
      if (number != pieces.end()) *number = kNumbers[random() % std::size(kNumbers)];
      return;
    }
    default:
      std::swap(pieces[at], pieces[other]);
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& texts, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text = texts[random() % texts.size()];
  for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
    bool lines = random() % 5 == 0;
    auto split = [&](const std::string& whole) { return lines ? lines_of(whole) : pieces_of(whole); };
    Pieces pieces = split(text);
    change(pieces, split(texts[random() % texts.size()]), random);
    text.clear();
    for (const std::string& piece : pieces) text += piece;
  }
  return text;
}

}  // namespace relaxc::fuzz
