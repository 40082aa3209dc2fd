// read_machines.cpp: descriptions of boards, as arbitrary bytes. They are read, or refused with a message that can be
// printed; and what was read gives a model of a machine.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compiler/support/check.h"
#include "targets/machine.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace relaxc;
  Diagnostics diag;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Result<Machine> read = parse_machine("board.json", text, diag);
  RELAXC_CHECK(bool(read) != diag.has_errors(), "a description is read, or refused with a message");
  render(diag);
  if (read) read->applied(MachineModel{});
  return 0;
}
