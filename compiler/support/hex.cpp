// hex.cpp: see hex.h.
#include "compiler/support/hex.h"

#include <fmt/format.h>

namespace relaxc {

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace relaxc
