// import_tflite.cpp: no file may crash the TFLite importer, and a file that it refuses has been given a reason.
#include <cstdint>
#include <cstdlib>

#include "compiler/ops/op_table.h"
#include "frontends/tflite/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const relaxc::relax::OpTable table = relaxc::ops::op_table();
  relaxc::tflite::ImportOptions options;
  options.memory = {relaxc::relax::memory_file("model.tflite", std::as_bytes(std::span(data, size)))};
  relaxc::Diagnostics diag;
  auto module = relaxc::tflite::import_tflite("model.tflite", options, table, diag);
  if (!module && !diag.has_errors()) std::abort();
  render(diag);
  return 0;
}
