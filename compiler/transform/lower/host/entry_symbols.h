// entry_symbols.h: the symbols whose values are known before a host function runs.
//
// Entry symbols are dims of inputs, and numbers that are read before the call: elements of small inputs (a Reshape's
// target, a shape parameter), results of pure shape functions of these, trip counts of loops. Owns how each number is
// read. Uses the signature's inputs, the shape program, the values of parameters, and the module's callees.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/transform/lower/host/shared.h"
#include "compiler/transform/lower/host/signature.h"

namespace relaxc::lower {

class EntrySymbols {
 public:
  EntrySymbols(Shared& shared, relax::Function& function, ShapeProgram& shapes, Values& values,
               const Signature& signature)
      : shared_(shared),
        function_(function),
        shapes_(shapes),
        symbols_(shapes.symbols()),
        values_(values),
        signature_(signature) {}
  EntrySymbols(const EntrySymbols&) = delete;

  /// Adds the entry symbols of the function, whose inputs must be listed. If it calls itself (`recursive`), only those
  /// of its parameters' infos: the body reads the others. Reports a symbol that no parameter gives.
  Status add(bool recursive);
  /// The entry symbols that are not dims, in the order in which they are read.
  const std::vector<ValueSymbol>& values() const { return read_; }
  /// Returns the symbol for the trip count of `loop` if it is read from an input; else null.
  const Var* trip_count(const relax::Op& loop) const;
  /// Returns the symbol for value `k` of the callee of `call` if it is read from an input of this function; else null.
  const Var* called_value(const relax::Op& call, size_t k) const;

 private:
  Status add_dims();
  void add_symbols_of(const Input& input, std::vector<Var>& sourced);
  void read_scalar(const Input& input);
  void require_repeated();
  void add_value_symbols(relax::Op& op);
  void add_shape_function(relax::Op& op);
  void add_called_symbols(const relax::Op& op);
  void add_trip_count(relax::Op& op);
  Context& context() const { return shared_.module.context(); }

  /// A number of a shape or scalar input that must equal what another input, or the program, says.
  struct Repeated {
    Expr expected;
    Var read;
    int32_t input = -1, axis = -1;
  };

  Shared& shared_;
  relax::Function& function_;
  ShapeProgram& shapes_;
  Symbols& symbols_;
  Values& values_;
  const Signature& signature_;
  std::vector<ValueSymbol> read_;
  std::vector<Repeated> repeated_;
  std::map<const relax::Op*, Var> trip_counts_;
  std::map<std::pair<const relax::Op*, size_t>, Var> called_values_;
};

}  // namespace relaxc::lower
