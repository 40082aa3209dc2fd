// tables.h: the constant records of an object as data.
//
// A program and the runtime find these in an object (relax_rt.h, rlx_internal.h): a model, its functions, and records
// of their tensors and symbols. They are made here, once, as a list of definitions; a backend gives each its form in
// LLVM or C without knowing its meaning.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "compiler/interface/entry_functions.h"
#include "compiler/interface/layout.h"
#include "compiler/interface/object.h"

namespace relaxc::interface {

/// The address of a definition, by its index in the list, or of an element of an array.
struct Address {
  size_t definition = 0;
  uint32_t element = 0;
};
/// The size of a record in bytes, which depends on the machine.
struct SizeOf {
  Record record;
};
/// A field: a number (in two's complement; 0 is also the null pointer), an address, or a size.
using Constant = std::variant<int64_t, Address, SizeOf>;

/// A zero-terminated text.
struct Text {
  std::string text;
};
struct Numbers {
  FieldKind kind;
  std::vector<int64_t> values;
};
struct Floats {
  std::vector<float> values;
};
struct Addresses {
  std::vector<Address> values;
};
/// Each row has a constant for every field of the record.
struct Records {
  Record record;
  std::vector<std::vector<Constant>> rows;
  bool is_array = true;  ///< whether it is an array; otherwise it is its only row
};
/// A function that a record points to, and the definitions that it names in CFunction::data, except
/// "weights".
struct TableFunction {
  tir::PrimFunc function;
  std::map<std::string, Address> data;
};

struct Definition {
  static constexpr int32_t kOfObject = -1;
  int32_t entry = kOfObject;  ///< index in Object::entries
  std::string name;           ///< unique within the entry: "inputs.0.dims"
  std::variant<Text, Numbers, Floats, Addresses, Records, TableFunction> what;

  /// Returns whether it has the address of a definition after `place`, its own index in the list.
  bool refers_beyond(size_t place) const;
};

/// Facts about the code that the tables contain.
struct CodeFacts {
  std::string target;                                               ///< rlx_model.target
  std::function<bool(const std::string& prim_func)> needs_context;  ///< whether a function must have an rlx_context
};

/// Returns the definitions. The last one is the rlx_model, called "model"; the array of rlx_function, "functions", is
/// the only one that refers to later definitions. `made` makes the functions; it must be of the same object.
std::vector<Definition> object_tables(const Object& object, EntryFunctions& made, const CodeFacts& facts);

}  // namespace relaxc::interface
