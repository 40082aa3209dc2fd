// base64.h: decodes base64 strictly, as RFC 4648 defines it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace relaxc::frontend {

/// Returns the bytes; nullopt if `text` has any other character (a line break included), if its length is no multiple
/// of four, or if unused bits before the padding are not zero.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

}  // namespace relaxc::frontend
