// read_weights.cpp: no file of weights may crash its readers, and one that they refuse has been given a reason.
#include <cstdint>
#include <cstdlib>

#include "compiler/relax/mapped_file.h"
#include "frontends/weights/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  relaxc::relax::FileRef file = relaxc::relax::memory_file("input", std::as_bytes(std::span(data, size)));
  for (auto* reader : {relaxc::frontend::read_npz, relaxc::frontend::read_safetensors}) {
    relaxc::Diagnostics diag;
    auto constants = reader(file, nullptr, diag);
    if (!constants && !diag.has_errors()) std::abort();
    if (!constants) continue;
    for (const auto& [name, constant] : *constants)
      if (constant->byte_size() < 1 << 20) constant->to_vector();
  }
  return 0;
}
