// identifier.cpp: makes C names of names from a model.
//
// An identifier stays as it is; other names keep their readable part. So two names may give one identifier ("a.b" and
// "a_b"); assign_identifiers.cpp resolves that, where all names of a scope are known. Names that nobody reads, of the
// object's own functions in C, have escaped bytes instead, so that different names stay different.
#include <algorithm>

#include "compiler/interface/identifiers.h"
#include "compiler/interface/reserved_names.h"
#include "compiler/support/unicode.h"

namespace relaxc::interface {
namespace {

/// A limit for readers and debuggers; compilers accept far longer identifiers.
constexpr size_t kLongest = 200;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'F');
}

std::string escaped(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  auto byte = static_cast<unsigned char>(c);
  return {'_', 'x', kDigits[byte >> 4], kDigits[byte & 15], '_'};
}

/// True if the underscore at `i` would be read as the start of an escaped byte.
bool reads_as_escape(std::string_view name, size_t i) {
  return name.size() > i + 4 && name[i + 1] == 'x' && is_hex(name[i + 2]) && is_hex(name[i + 3]) &&
         !is_alphanumeric(name[i + 4]);
}

/// Returns the letters and digits of a name, with one underscore for each run of other characters between them.
std::string readable_part(std::string_view name) {
  std::string out;
  bool gap = false;
  for (char c : name) {
    if (!is_alphanumeric(c)) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '_';
    gap = false;
    out += c;
  }
  return out.substr(0, kLongest);
}

}  // namespace

bool is_function_name(std::string_view name) {
  bool plain = std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || is_alphanumeric(c); });
  bool letter = std::any_of(name.begin(), name.end(), is_alphanumeric);
  return plain && letter && !is_digit(name[0]) && name.size() <= kLongest && !is_reserved(name);
}

bool is_identifier(std::string_view name) {
  return is_function_name(name) && !looks_like_a_macro(name);
}

std::string readable_identifier(std::string_view name, std::string_view role, size_t index) {
  if (is_identifier(name)) return std::string(name);
  std::string out = readable_part(name);
  if (out.empty()) return std::string(role) + "_" + std::to_string(index);
  if (is_digit(out[0]) || is_reserved(out + "_")) return std::string(role) + "_" + out;
  return is_reserved(out) || looks_like_a_macro(out) ? out + "_" : out;
}

std::string identifier(std::string_view name) {
  if (name.empty()) return "_x_";
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    bool doubled = name[i] == '_' && i > 0 && name[i - 1] == '_';
    bool stays = is_alphanumeric(name[i]) || (name[i] == '_' && !doubled && !reads_as_escape(name, i));
    if (i == 0 && (is_keyword(name) || is_digit(name[i]))) stays = false;
    out += stays ? std::string(1, name[i]) : escaped(name[i]);
  }
  return out;
}

std::string comment_text(std::string_view name) {
  std::string out;
  for (char c : with_visible(name, [](std::string_view) { return std::string("?"); })) {
    char before = out.empty() ? ' ' : out.back();
    if ((c == '/' && before == '*') || (c == '*' && before == '/') || (c == '?' && before == '?')) out += ' ';
    out += c == '\\' ? '?' : c;
  }
  return out;
}

}  // namespace relaxc::interface
