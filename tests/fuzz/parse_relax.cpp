// parse_relax.cpp: no text may crash the reader of the text IR, nor the renderer that quotes it.
#include <cstdint>
#include <string>

#include "frontends/relax/grammar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  relaxc::Diagnostics diag;
  relaxc::Sources sources;
  const relaxc::SourceFile* file =
      sources.add_file("input.relax", std::string(reinterpret_cast<const char*>(data), size));
  relaxc::frontend::SourceText source(file, sources, diag);
  relaxc::frontend::ast::Tree tree;
  parse_file(source, tree);
  render(diag);
  return 0;
}
