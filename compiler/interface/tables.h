// tables.h: the constant records of an object, as data.
//
// What a program and the runtime find in an object (relax_rt.h, rlx_internal.h) is a model, its functions, and what
// these say of their tensors and symbols. The records are made here, once, as a list of definitions; a backend gives
// each its form in LLVM or C and knows nothing of what it says.
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

/// Of a definition by its place in the list, or of an element of one that is an array.
struct Address {
  size_t definition = 0;
  uint32_t element = 0;
};
/// Bytes of such a record, which the machine decides.
struct SizeOf {
  Record record;
};
/// A field: a number (as two's complement; 0 is the null pointer, too), an address, or a size.
using Constant = std::variant<int64_t, Address, SizeOf>;

/// Bytes with a zero behind them.
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
  bool is_array = true;  ///< false: it is its only row
};
/// A function that a record points to, and the definitions that it names in CFunction::data. "weights" is none of
/// them.
struct TableFunction {
  tir::PrimFunc function;
  std::map<std::string, Address> data;
};

struct Definition {
  static constexpr int32_t kOfObject = -1;
  int32_t entry = kOfObject;  ///< by its place in Object::entries
  std::string name;           ///< unique in the entry: "inputs.0.dims"
  std::variant<Text, Numbers, Floats, Addresses, Records, TableFunction> what;

  /// Whether it has an address in it of what follows `place`, its own place in the list.
  bool refers_beyond(size_t place) const;
};

/// What the tables say of the code.
struct CodeFacts {
  std::string target;                                               ///< rlx_model.target
  std::function<bool(const std::string& prim_func)> needs_context;  ///< whether a function must have an rlx_context
};

/// The last one is the rlx_model, called "model"; the array of rlx_function, "functions", is the only one that refers
/// to what follows it. `made` makes the functions, of the same object.
std::vector<Definition> object_tables(const Object& object, EntryFunctions& made, const CodeFacts& facts);

}  // namespace relaxc::interface
