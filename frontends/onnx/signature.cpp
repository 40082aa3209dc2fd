// signature.cpp: parses signatures.txt; tests/onnx/signatures.py describes its lines.
#include "frontends/onnx/signature.h"

#include <charconv>

#include "compiler/support/check.h"

namespace relaxc::frontend {
namespace {

/// Returns the text before the next `end` of `rest`, and removes it with the `end`.
std::string_view take(std::string_view& rest, char end) {
  size_t length = std::min(rest.find(end), rest.size());
  std::string_view word = rest.substr(0, length);
  rest.remove_prefix(std::min(length + 1, rest.size()));
  return word;
}

/// Returns the next word, or an empty one at the end of the list.
std::string_view take_word(std::string_view& list) {
  std::string_view word;
  while (word.empty() && !list.empty()) word = take(list, ' ');
  return word;
}

std::vector<Formal> formals(std::string_view list) {
  std::vector<Formal> made;
  for (std::string_view word = take_word(list); !word.empty(); word = take_word(list)) {
    Formal formal{word};
    char mark = word.back();
    if (mark == '?') formal.kind = Formal::Kind::kOptional;
    if (mark == '*') formal.kind = Formal::Kind::kAny;
    if (mark == '+') formal.kind = Formal::Kind::kSome;
    if (formal.kind != Formal::Kind::kOne) formal.name.remove_suffix(1);
    made.push_back(formal);
  }
  return made;
}

std::vector<AttributeFormal> attributes(std::string_view list) {
  std::vector<AttributeFormal> made;
  for (std::string_view word = take_word(list); !word.empty(); word = take_word(list)) {
    AttributeFormal formal;
    formal.name = take(word, ':');
    formal.required = word.back() == '!';
    if (formal.required) word.remove_suffix(1);
    formal.type = word;
    made.push_back(formal);
  }
  return made;
}

}  // namespace

const AttributeFormal* Signature::attribute(std::string_view name) const {
  for (const AttributeFormal& formal : attributes)
    if (formal.name == name) return &formal;
  return nullptr;
}

SignatureTable::SignatureTable() {
  for (std::string_view text = signature_text(); !text.empty();) {
    std::string_view line = take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    std::string_view head = take(line, '|'), domain = take(head, ' '), op = take(head, ' '), number = take(head, ' ');
    int64_t version = 0;
    std::from_chars(number.data(), number.data() + number.size(), version);
    RELAXC_CHECK(version > 0, "a line of signatures.txt has no version");
    lines_[{domain == "ai.onnx" ? "" : domain, op}].push_back({version, line});
  }
}

std::optional<Signature> SignatureTable::find(std::string_view domain, std::string_view op, int64_t version) const {
  auto found = lines_.find({domain, op});
  if (found == lines_.end()) return std::nullopt;
  std::string_view text = found->second.front().text;
  for (const Line& line : found->second)
    if (line.version <= version) text = line.text;
  Signature made;
  made.inputs = formals(take(text, '|'));
  made.outputs = formals(take(text, '|'));
  made.attributes = attributes(text);
  return made;
}

}  // namespace relaxc::frontend
