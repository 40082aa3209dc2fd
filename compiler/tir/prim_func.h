// prim_func.h: a function of loops and buffers: a kernel, an entry point's body, or a shape program.
#pragma once

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/tir/stmt.h"

namespace relaxc::tir {

/// A parameter is a buffer (passed by address) or a scalar (int64_t for index, else its C type).
struct Param {
  BufferRef buffer = nullptr;
  Var var;
};

/// What C calls: a function of exactly the parameters that the prim func has, which always returns a status. Where
/// others have hidden parameters (the context, the record of an error) it has these buffers.
struct CFunction {
  BufferRef context = nullptr;  ///< the rlx_context that it passes on; null: a null pointer
  /// The rlx_error of guards and calls. Where this buffer does not exist (yet), or is null, they have the status alone.
  BufferRef error = nullptr;
  BufferRef weights = nullptr;  ///< the weights in the object, which exist all along; null: it names none
  bool is_global = false;       ///< a symbol of the object that a program may refer to
};

struct PrimFunc {
  std::string name;
  std::vector<Param> params;
  /// Variables that occur in buffer shapes without being scalar parameters, in order of first occurrence. A text
  /// program binds them by matching shapes; compiled code receives them as int64_t after `params`.
  std::vector<Var> symbols;
  Stmt body;
  bool is_private = true;  ///< false: an entry point of the object
  bool noalias = true;     ///< buffer parameters do not overlap
  std::optional<CFunction> c_function;
  std::map<std::string, std::string> attrs;
  std::vector<Location> origins;  ///< the source nodes that it computes
  Location location = nullptr;

  /// Whether it copies its first parameter to its second, both of the same dims: nothing to do where they are one
  /// memory.
  bool copies() const { return attrs.count("copies") != 0; }

  /// The code (an rlx_status number) with which index arithmetic that overflows leaves the function, as the attribute
  /// "checked_index" says; 0: nobody looks, because guards before the call exclude it.
  int32_t overflow_code() const {
    auto checked = attrs.find("checked_index");
    if (checked == attrs.end()) return 0;
    constexpr int32_t kSizeOverflow = 20;
    int32_t code = kSizeOverflow;
    std::from_chars(checked->second.data(), checked->second.data() + checked->second.size(), code);
    return code > 0 ? code : kSizeOverflow;
  }
};

}  // namespace relaxc::tir
