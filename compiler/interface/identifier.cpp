// identifier.cpp: C names of names from a model.
//
// A name must not depend on the other names of the model, or adding a tensor would break programs that use another one;
// so there is no numbering. Bytes that C does not allow are written as _xHH_, and an underscore is written so itself
// where it would read like that or like a reserved double one: from the C name, the original can be read back.
#include <algorithm>

#include "compiler/interface/object.h"

namespace relaxc::interface {
namespace {

/// Keywords of C11 and C++11, and the operators of C++ that are spelled as words.
constexpr std::string_view kKeywords[] = {
    "alignas",  "alignof", "and",          "and_eq",    "asm",          "auto",     "bitand",        "bitor",
    "bool",     "break",   "case",         "catch",     "char",         "char16_t", "char32_t",      "class",
    "compl",    "const",   "const_cast",   "constexpr", "continue",     "decltype", "default",       "delete",
    "do",       "double",  "dynamic_cast", "else",      "enum",         "explicit", "export",        "extern",
    "false",    "float",   "for",          "friend",    "goto",         "if",       "inline",        "int",
    "long",     "mutable", "namespace",    "new",       "noexcept",     "not",      "not_eq",        "nullptr",
    "operator", "or",      "or_eq",        "private",   "protected",    "public",   "register",      "reinterpret_cast",
    "restrict", "return",  "short",        "signed",    "sizeof",       "static",   "static_assert", "static_cast",
    "struct",   "switch",  "template",     "this",      "thread_local", "throw",    "true",          "try",
    "typedef",  "typeid",  "typename",     "union",     "unsigned",     "using",    "virtual",       "void",
    "volatile", "wchar_t", "while",        "xor",       "xor_eq"};

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

/// True if the underscore at `i` would be read as the begin of an escaped byte.
bool reads_as_escape(std::string_view name, size_t i) {
  return name.size() > i + 4 && name[i + 1] == 'x' && is_hex(name[i + 2]) && is_hex(name[i + 3]) &&
         !is_alphanumeric(name[i + 4]);
}

}  // namespace

std::string identifier(std::string_view name) {
  if (name.empty()) return "_x_";
  bool keyword = std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords);
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    bool doubled = name[i] == '_' && i > 0 && name[i - 1] == '_';
    bool stays = is_alphanumeric(name[i]) || (name[i] == '_' && !doubled && !reads_as_escape(name, i));
    if (i == 0 && (keyword || is_digit(name[i]))) stays = false;
    out += stays ? std::string(1, name[i]) : escaped(name[i]);
  }
  return out;
}

}  // namespace relaxc::interface
