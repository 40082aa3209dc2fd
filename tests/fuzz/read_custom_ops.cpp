// read_custom_ops.cpp: files of --custom-op, as arbitrary bytes. They are read, or refused with a message that can be
// printed; and each operator that was read has the names that calls need.
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/api/input/custom_ops.h"
#include "compiler/support/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace relaxc;
  api::CompileOptions options;
  options.custom_ops = {"ops.json"};
  options.memory = {relax::memory_file("ops.json", std::as_bytes(std::span(data, size)))};
  Diagnostics diag;
  std::vector<relax::FileRef> files;
  Result<std::vector<frontend::CustomOp>> read = api::read_custom_ops(options, diag, files);
  RELAXC_CHECK(bool(read) != diag.has_errors(), "a file is read, or refused with a message");
  render(diag);
  if (!read) return 0;
  for (const frontend::CustomOp& op : *read)
    RELAXC_CHECK(!op.name.empty() && !op.function.empty() && !op.results.empty(), "an operator lacks a part");
  return 0;
}
