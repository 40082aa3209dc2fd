// header.h: the C header that relaxc writes beside an object.
#pragma once

#include <span>
#include <string>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// What the object does not say of itself.
struct HeaderFacts {
  std::span<const uint64_t> stack_max = {};      ///< of each entry, UINT64_MAX where it is not known; or empty
  std::span<const uint64_t> run_stack_max = {};  ///< the same of the typed call
  std::string least_cpu = {};  ///< without which a call returns RLX_CPU_FEATURES; empty: it asks for none
  bool tables = true;          ///< whether the object has the rlx_model
  bool explains = false;       ///< whether comments say what the object does not promise: why a type is missing
};

/// Comments, size and index macros, the struct of arguments and the typed call of every entry; prototypes of external
/// functions. Needs relax_rt.h, and is valid C99, C11 and C++11. The text depends on what the object promises alone,
/// not on weights or code, except for `facts`.
std::string c_header(const Object& object, const HeaderFacts& facts = {});

}  // namespace relaxc::interface
