// typed_call.h: the call that programs make through the generated header.
//
// The header and the backends declare the same struct of arguments; its fields and all global names are decided here.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/interface/object.h"

namespace relaxc::interface {

/// One field of an entry's struct of arguments.
struct CallField {
  enum Kind : uint8_t {
    kInput,       ///< `const T*`: the elements of input `index`
    kOutput,      ///< `T*`: the elements of output `index`
    kOutputDims,  ///< `int64_t*`, of a data-dependent output: at entry its capacity in elements in [0]; then its dims
    kSymbol,      ///< `int64_t`: the dynamic dim `index`
  } kind;
  uint32_t index;
  std::string name;
};

/// Returns the inputs, outputs, dims of data-dependent outputs, then the symbols that are not read from data.
std::vector<CallField> call_fields(const Entry& entry);

/// Returns the prefix of the entry's names: "model_", or "model_other_" for an entry that is not called main.
std::string entry_prefix(const Object& object, const Entry& entry);
/// Returns the symbol of the typed call. It contains the hash of the interface, so that a program with the header of
/// another object does not link.
std::string run_symbol(const Object& object, const Entry& entry);
/// Returns the symbol of the function in a dynamic entry's size macro: `int32_t f(int64_t symbols…, uint64_t* bytes)`.
std::string arena_symbol(const Object& object, const Entry& entry);
/// Returns the symbol of a public prim func.
std::string public_symbol(const Object& object, const PublicPrimFunc& function);

/// Returns the names at file scope, macros included, that the header and the object define; definitions of the program
/// for the object must have other names.
std::set<std::string> global_names(const Object& object);

/// Returns `name` in capitals, for macros and constants.
std::string capitals(std::string name);

/// Returns true if the arena's size is constant.
bool is_static(const Entry& entry);
/// Returns true if a dim of an input or output is not in the tables, so that `shapes` must compute it.
bool has_derived_dims(const Entry& entry);
/// Returns true if the symbol's value is read from the data of an input.
bool is_value(const Symbol& symbol);

}  // namespace relaxc::interface
