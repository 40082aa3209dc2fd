// shared.h: state that the functions of a module share while they are lowered.
//
// Owns what callers must know of lowered functions (HostCallee), the layout of the weights, and what is made once for a
// module: copying kernels, printed texts, names of nodes of functions that call each other.
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

/// An entry symbol that is not a dim.
struct ValueSymbol {
  Var var;
  BufferRef buffer = nullptr;  ///< the input that has it as an element …
  int64_t element = 0;
  relax::Op* function = nullptr;  ///< … or the shape function that computes it,
  std::vector<Expr> asked = {};   ///< from these numbers, in entry symbols
};

/// What callers know of a lowered function.
struct HostCallee {
  const relax::Function* function = nullptr;
  std::string name;                        ///< name of the host prim func
  std::vector<Var> symbols;                ///< its scalar parameters, in order
  std::vector<ValueSymbol> values;         ///< those of them that are no dim of an argument
  std::vector<BufferRef> inputs;           ///< leaves of the parameters
  std::set<BufferRef> read;                ///< inputs that the body uses
  std::vector<relax::Info> outputs;        ///< leaves of the result
  std::vector<tir::Guard> guards;          ///< conditions on its symbols
  std::vector<Expr> bounds;                ///< of all dims of all outputs, in its symbols (null: no bound)
  std::vector<std::vector<Expr>> numbers;  ///< of each output that is no tensor: its numbers' bounds (null: none)
  bool needs_heap = false;                 ///< takes the run's heap as a parameter after `out_dims`

  /// Whether output `index`, whose dims begin at `first_dim`, is claimed from the heap; its parameter is then a block.
  bool claims(size_t index, size_t first_dim) const;
};

/// State that the functions of a module share while they are lowered.
struct Shared {
  relax::Module& module;
  PassContext& context;
  interface::Object& object;
  WeightLayout weights = {};
  std::map<std::string, HostCallee> callees = {};        ///< by names of Relax functions
  NodeNames nodes = {};                                  ///< of functions that call others or are called
  std::map<std::string, std::string> copies = {};        ///< names of copying prim funcs, by dtype and dims
  std::set<std::string> recursive = {};                  ///< functions that call themselves, directly or not
  std::map<std::string, std::string> bodies = {};        ///< of recursive functions: names of their bodies' prim funcs
  std::map<std::string, relax::ConstantRef> texts = {};  ///< texts that R.print writes between values
  BufferRef weights_buffer = nullptr;                    ///< the parameter `weights` of every host function
};

/// Returns a text of R.print as a constant, one for equal texts.
relax::ConstantRef print_text(Shared& shared, const std::string& text);
/// Returns all texts of a kPrint.
std::vector<relax::ConstantRef> print_texts(Shared& shared, const relax::Op& op);

/// Returns a call that copies the elements of `to`, by a prim func that it adds to the module once.
tir::Invoke copy_call(Shared& shared, BufferRef from, BufferRef to);

}  // namespace relaxc::lower
