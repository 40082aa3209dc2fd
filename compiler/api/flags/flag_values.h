// flag_values.h: parses the values of flags.
#pragma once

#include <optional>
#include <string>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// Parses "batch=1", "seq=1..512", "seq=1..512:64", "rows=..300"; nullopt if the text has another form.
std::optional<frontend::DimOverride> parse_dim(const std::string& text);
/// Parses "16384", "64K", "2MiB", with powers of 1024; nullopt if it is no number of bytes or exceeds 64 bits.
std::optional<uint64_t> parse_bytes(const std::string& text);
/// Parses "h0:hn"; nullopt if one of the names is missing.
std::optional<State> parse_state(const std::string& text);
/// Parses "main" or "main:w,b"; nullopt if a name is empty.
std::optional<GradientFlag> parse_gradient(const std::string& text);

/// Parses "fast=64K", or "slow" (0 bytes); nullopt if the name is no identifier or the value no number of bytes.
std::optional<interface::Pool> parse_pool(const std::string& text);

}  // namespace relaxc::api
