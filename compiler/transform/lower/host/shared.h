// shared.h: what lowering one module shares between its functions.
//
// Owns what callers must know of functions that are lowered (HostCallee), the layout of the weights, and what is made
// once for a module: copying kernels, printed texts, names of nodes of functions that call each other.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"
#include "compiler/transform/lower/host/node_names.h"
#include "compiler/transform/lower/weights.h"
#include "compiler/transform/pass.h"

namespace relaxc::lower {

using arith::Context;
using arith::Expr;
using arith::Var;
using tir::BufferRef;

/// An entry symbol that no dim gives.
struct ValueSymbol {
  Var var;
  BufferRef buffer = nullptr;  ///< the input that it is an element of …
  int64_t element = 0;
  relax::Op* function = nullptr;  ///< … or the shape function that gives it,
  std::vector<Expr> asked = {};   ///< of these numbers, in entry symbols
};

/// How a lowered function is called.
struct HostCallee {
  const relax::Function* function = nullptr;
  std::string name;                        ///< of the host prim func
  std::vector<Var> symbols;                ///< the scalars that it takes, in order
  std::vector<ValueSymbol> values;         ///< those of them that no dim of an argument is
  std::vector<BufferRef> inputs;           ///< leaves of the parameters
  std::set<BufferRef> read;                ///< those of them that the body names
  std::vector<relax::Info> outputs;        ///< leaves of the result
  std::vector<tir::Guard> guards;          ///< what must hold of its symbols
  std::vector<Expr> bounds;                ///< all dims of all outputs, data-dependent ones by their bound (null: none)
  std::vector<std::vector<Expr>> numbers;  ///< of each output that is not a tensor: bounds of what it says (null: none)
  bool needs_heap = false;                 ///< takes the run's heap after `out_dims`

  /// Whether output `index`, whose dims begin at `first_dim`, is claimed from the heap: its parameter is a block then.
  bool claims(size_t index, size_t first_dim) const;
};

/// What lowering one module shares between its functions.
struct Shared {
  relax::Module& module;
  PassContext& context;
  interface::Object& object;
  WeightLayout weights = {};
  std::map<std::string, HostCallee> callees = {};        ///< by the Relax function's name
  NodeNames nodes = {};                                  ///< of functions that call each other: one run sees them all
  std::map<std::string, std::string> copies = {};        ///< prim funcs that copy, by what they copy
  std::set<std::string> recursive = {};                  ///< functions that call themselves, directly or not
  std::map<std::string, std::string> bodies = {};        ///< of functions that call themselves: their second prim func
  std::map<std::string, relax::ConstantRef> texts = {};  ///< what R.print writes between values
  BufferRef weights_buffer = nullptr;                    ///< the parameter `weights` of every host function
};

/// The text of R.print as a constant, made once for each.
relax::ConstantRef print_text(Shared& shared, const std::string& text);
/// All texts of a kPrint.
std::vector<relax::ConstantRef> print_texts(Shared& shared, const relax::Op& op);

/// A call that copies what `to` has room for, by a prim func that the module gets.
tir::Invoke copy_call(Shared& shared, BufferRef from, BufferRef to);

}  // namespace relaxc::lower
