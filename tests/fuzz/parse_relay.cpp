// parse_relay.cpp: no text may crash the reader of Relay, and a text that it refuses has been given a reason.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/ops/op_table.h"
#include "frontends/relay/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const relaxc::relax::OpTable table = relaxc::ops::op_table();
  relaxc::Diagnostics diag;
  std::string text(reinterpret_cast<const char*>(data), size);
  auto module = relaxc::relay::parse_relay("input.relay", text, table, diag, {});
  if (!module && !diag.has_errors()) std::abort();
  render(diag);  // quoting a line of any bytes must not crash either
  return 0;
}
