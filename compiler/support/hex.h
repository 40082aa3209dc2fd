// hex.h: bytes as text in base 16.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace relaxc {

/// Returns two lower-case digits for each byte.
std::string hex(std::span<const uint8_t> bytes);

}  // namespace relaxc
