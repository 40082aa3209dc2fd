// flag_values.h: what is written behind the equals sign of a flag.
#pragma once

#include <optional>
#include <string>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// "batch=1", "seq=1..512", "seq=1..512:64", "rows=..300"; nothing if it is not one of those.
std::optional<frontend::DimOverride> parse_dim(const std::string& text);
/// "16384", "64K", "2MiB": powers of 1024; nothing if it is not a number of bytes, or more than 64 bits hold.
std::optional<uint64_t> parse_bytes(const std::string& text);
/// "h0:hn"; nothing if one of the two is missing.
std::optional<State> parse_state(const std::string& text);

/// "fast=64K", or "slow", of no bytes; nothing if the name is not an identifier or what follows are not bytes.
std::optional<interface::Pool> parse_pool(const std::string& text);

}  // namespace relaxc::api
