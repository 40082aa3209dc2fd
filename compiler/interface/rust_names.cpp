// rust_names.cpp: makes Rust names and types.
#include "compiler/interface/rust_names.h"

#include "compiler/interface/c_type.h"

namespace relaxc::interface {

std::string rust_type(DType dtype) {
  std::string c = c_type(dtype);
  if (c == "float") return "f32";
  if (c == "double") return "f64";
  bool is_unsigned = c[0] == 'u';
  size_t digits = c.find_first_of("0123456789");
  return (is_unsigned ? "u" : "i") + c.substr(digits, c.find('_') - digits);
}

std::string rust_name(const std::string& name, const std::set<std::string>& others) {
  static const std::set<std::string> kWords = {
      "as",    "async", "await",    "box",    "dyn",      "enum",    "fn",      "impl",   "in",
      "let",   "loop",  "match",    "mod",    "move",     "mut",     "pub",     "ref",    "trait",
      "type",  "try",   "unsafe",   "use",    "where",    "yield",   "false",   "true",   "final",
      "macro", "priv",  "abstract", "become", "override", "unsized", "virtual", "typeof", "gen"};
  if (name != "self" && name != "super" && name != "Self" && name != "crate")
    return kWords.count(name) != 0 ? "r#" + name : name;
  std::string made = name + "_";
  while (others.count(made) != 0) made += "_";
  return made;
}

}  // namespace relaxc::interface
