// names.cpp: makes unique, valid C identifiers.
#include "compiler/codegen/c/names.h"

#include <cctype>

#include "compiler/interface/reserved_names.h"

namespace relaxc::codegen_c {
namespace {

/// Names that printed functions use themselves, and functions of the C library that they call or that compilers know by
/// name. Keywords, macros and types are reserved words (compiler/interface/reserved_names.h).
constexpr const char* kTaken[] = {
    "context", "error",   "bad",    "status", "main",  "inputs",    "outputs",   "y0",       "y1",    "yn",
    "j0",      "j1",      "jn",     "exp",    "log",   "pow",       "gamma",     "index",    "sin",   "cos",
    "tan",     "sqrt",    "sqrtf",  "fma",    "fmaf",  "floor",     "floorf",    "ceil",     "ceilf", "trunc",
    "truncf",  "rint",    "rintf",  "fabs",   "fabsf", "nearbyint", "roundeven", "copysign", "isnan", "isinf",
    "memcpy",  "memmove", "memset", "exit",   "abs",   "round",     "signbit",   "isfinite"};

std::string identifier(const std::string& name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  bool letter = !out.empty() && std::isalpha(static_cast<unsigned char>(out[0])) != 0;
  if (!letter || interface::is_reserved(out) || interface::looks_like_a_macro(out)) out = "v_" + out;
  return out.substr(0, 48);
}

}  // namespace

Names::Names(std::vector<std::string> foreign) : foreign_(std::move(foreign)) {
  for (const char* name : kTaken) taken_.insert(name);
}

std::string Names::fresh(const std::string& base) {
  std::string stem = identifier(base);
  for (const std::string& prefix : foreign_)
    if (!prefix.empty() && stem.rfind(prefix, 0) == 0) stem = "v_" + stem;
  std::string name = stem;
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
