// typed_call.h: the call that a program compiled against the generated header makes.
//
// The header and the backends print one struct of arguments; its fields and all global names are decided here, once.
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
    kOutputDims,  ///< `int64_t*`: of a data-dependent output: its capacity in elements in [0] at entry, its dims after
    kSymbol,      ///< `int64_t`: the dynamic dim `index`
  } kind;
  uint32_t index;
  std::string name;
};

/// Inputs, outputs, dims of data-dependent outputs, then the symbols that are not read from data.
std::vector<CallField> call_fields(const Object& object, const Entry& entry);

/// What the entry's names begin with: "model_", or "model_other_" for an entry that is not called main.
std::string entry_prefix(const Object& object, const Entry& entry);
/// The symbol of the typed call; it carries the hash of the interface, so that a header of another object does not
/// link.
std::string run_symbol(const Object& object, const Entry& entry);
/// The symbol of the function behind the size macro of a dynamic entry: `int32_t f(int64_t symbols…, uint64_t* bytes)`.
std::string arena_symbol(const Object& object, const Entry& entry);
/// The symbol of a public prim func.
std::string public_symbol(const Object& object, const std::string& name);

/// Names at file scope, macros that stand for them included, that the header and the object bring; what the program
/// defines for the object may have none of them.
std::set<std::string> global_names(const Object& object);

/// `name` in capitals, as macros and constants are.
std::string capitals(std::string name);

/// True if the arena's size is one number.
bool is_static(const Entry& entry);
/// True if some dim of an input or output is not in the tables, so that `shapes` must be asked.
bool has_derived_dims(const Entry& entry);
/// True if the symbol's value is read from the data of an input.
bool is_value(const Symbol& symbol);

}  // namespace relaxc::interface
