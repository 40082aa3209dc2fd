// base64.h: base64 as RFC 4648 defines it, read strictly.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace relaxc::frontend {

/// The bytes that `text` stands for; nothing if it holds any other character (a line break included), if its length is
/// no multiple of four, or if the bits that the padding leaves over are not zero.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

}  // namespace relaxc::frontend
