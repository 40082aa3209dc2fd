// names.cpp: making identifiers that C accepts and no one else has.
#include "compiler/codegen/c/names.h"

#include <cctype>

namespace relaxc::codegen_c {
namespace {

constexpr const char* kTaken[] = {
    "auto",   "break",    "case",     "char",     "const", "continue", "default",  "do",      "double",
    "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",       "inline",  "int",
    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",   "static",  "struct",
    "switch", "typedef",  "union",    "unsigned", "void",  "while",    "volatile", "context", "error",
    "bad",    "status",   "main",     "y0",       "y1",    "j0",       "j1",       "yn",      "jn",
    "exp",    "log",      "pow",      "gamma",    "index", "_Bool",    "inputs",   "outputs"};

std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  bool letter = !out.empty() && std::isalpha(static_cast<unsigned char>(out[0])) != 0;
  if (!letter) out = "v" + out;
  return out.substr(0, 48);
}

}  // namespace

Names::Names() {
  for (const char* name : kTaken) taken_.insert(name);
}

std::string Names::fresh(const std::string& base) {
  std::string stem = identifier(base), name = stem;
  int& next = next_[stem];
  while (!taken_.insert(name).second) name = stem + "_" + std::to_string(++next);
  return name;
}

const std::string& Names::of(arith::Expr var) {
  std::string& name = vars_[var->id];
  if (name.empty()) name = fresh(var.as<arith::VarNode>()->name);
  return name;
}

const std::string& Names::of(tir::BufferRef buffer) {
  std::string& name = buffers_[buffer->id];
  if (name.empty()) name = fresh(buffer->name);
  return name;
}

}  // namespace relaxc::codegen_c
