// fix_hint.cpp: see fix_hint.h.
#include "compiler/driver/fix_hint.h"

namespace relaxc::driver {
namespace {

std::string_view fix_hint_of(Kind kind) {
  switch (kind) {
    case Kind::unsupported:
    case Kind::unknown_operator:
      return "export the model with operators that docs/onnx-support.md lists, or make the node a call of a C function "
             "with --custom-op";
    case Kind::unbounded:
    case Kind::overflow:
      return "fix or bound the dims that it depends on with --dim NAME=LOWER..UPPER";
    case Kind::missing_data:
    case Kind::io:
      return "put the file where the model says that it is";
    case Kind::usage:
      return "see relaxc --help";
    default:
      return "the input contradicts itself or the standard here; correct it, or export the model again";
  }
}

}  // namespace

Advice advice_for(const Diagnostic& diagnostic) {
  size_t at = diagnostic.text.find("; ");
  if (at == std::string::npos) return {diagnostic.text, std::string(fix_hint_of(diagnostic.kind))};
  return {diagnostic.text.substr(0, at), diagnostic.text.substr(at + 2)};
}

}  // namespace relaxc::driver
