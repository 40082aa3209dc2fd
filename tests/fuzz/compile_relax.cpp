// compile_relax.cpp: no text may crash relaxc between the parser and the C that it writes, and a text that is refused
// has been given a reason.
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "compiler/api/compile.h"
#include "compiler/support/check.h"

namespace {

void compile(std::span<const std::byte> text) {
  using namespace relaxc;
  api::CompileOptions options;
  options.input = "input.relax";
  options.output = "input.c";
  options.memory = {relax::memory_file(options.input, text)};
  Diagnostics diag;
  api::Outputs outputs(diag, api::Outputs::Place::kMemory);
  bool compiled = static_cast<bool>(api::compile(options, api::Goal::kObject, outputs, diag));
  RELAXC_CHECK(compiled || diag.has_errors(), "a program is refused without a reason");
  render(diag);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    compile(std::as_bytes(std::span(data, size)));
  } catch (const relaxc::InternalError& error) {
    std::cerr << error.what() << std::endl;
    std::abort();
  }
  return 0;
}
