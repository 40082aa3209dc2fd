// read_patterns.cpp: files of external patterns, as arbitrary bytes. Whatever they are, they are read or refused with a
// message that can be printed; and a row that was read has what the passes rely on.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/ops/op_table.h"
#include "compiler/transform/graph/external/pattern_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace relaxc;
  static const relax::OpTable ops = ops::op_table();
  Sources sources;
  Diagnostics diag;
  std::string text(reinterpret_cast<const char*>(data), size);
  Result<ExternalPatterns> read = read_external_patterns("fuzzed.txt", std::move(text), ops, sources, diag);
  RELAXC_CHECK(bool(read) != diag.has_errors(), "a file is read, or refused with a message");
  render(diag);
  if (!read) return 0;
  for (const ExternalPattern& row : read->rows)
    RELAXC_CHECK(!row.function.empty() && row.pattern.has_value() == row.parameters.empty(), "a row lacks a part");
  return 0;
}
