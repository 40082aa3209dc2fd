// header.h: prints the C header that relaxc writes beside an object.
#pragma once

#include <span>
#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// Facts for the header that the object does not contain.
struct HeaderFacts {
  std::span<const uint64_t> stack_max = {};      ///< of each entry, UINT64_MAX if not known; may be empty
  std::span<const uint64_t> run_stack_max = {};  ///< the same for the typed call
  std::string least_cpu = {};  ///< the CPU below which a call returns RLX_CPU_FEATURES; empty if there is none
  bool tables = true;          ///< whether the object has an rlx_model
  bool explains = false;       ///< whether comments explain why some types are missing
};

/// Returns comments, size and index macros, the struct of arguments and the typed call of every entry, and prototypes
/// of external functions. The header needs relax_rt.h, and is valid C99, C11 and C++11. It depends only on what the
/// object promises and on `facts`, not on weights or code.
std::string c_header(const Object& object, const HeaderFacts& facts = {});

}  // namespace relaxc::interface
