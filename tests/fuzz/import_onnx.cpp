// import_onnx.cpp: no file may crash the ONNX importer, and a file that it refuses has been given a reason.
//
// The importer maps the file that it reads, so the input goes through an anonymous file in memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/ops/op_table.h"
#include "frontends/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const relaxc::relax::OpTable table = relaxc::ops::op_table();
  int file = memfd_create("model.onnx", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  relaxc::Diagnostics diag;
  auto module = relaxc::frontend::import_onnx("/proc/self/fd/" + std::to_string(file), {}, table, diag);
  if (!module && !diag.has_errors()) std::abort();
  render(diag);
  close(file);
  return 0;
}
