// conventions.h: how C code calls the C function of a prim func, and what such a call does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace relaxc::codegen_c {

/// The name of a C function, its parameters and result beside those of its prim func, and its effects.
struct Convention {
  bool fails = false;    ///< whether it returns an int32_t status and takes `rlx_error* error` last
  bool context = false;  ///< whether it takes `rlx_context* context` first
  std::string name;      ///< the C name
  /// Which parameters it stores into; nothing if it may store elsewhere, or if that is not known.
  std::optional<std::vector<bool>> stores = {};
  /// The number of elements of each parameter; nothing where it is a scalar or not fixed.
  std::vector<std::optional<int64_t>> elements = {};
  std::optional<std::set<int32_t>> statuses = {};  ///< those it returns besides 0; nothing if that is not known
};
using Conventions = std::map<std::string, Convention>;

}  // namespace relaxc::codegen_c
