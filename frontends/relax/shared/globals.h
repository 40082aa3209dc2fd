// globals.h: the functions of a module while it is read, and the state that their readers share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "compiler/relax/op_def.h"
#include "frontends/relax/parser.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

class RelaxFunctionReader;

/// A function of the file.
struct Global {
  enum Kind : uint8_t { kPoison, kPrimFunc, kFunction };
  Kind kind = kPoison;
  const ast::Stmt* definition = nullptr;
  std::string name;  ///< in the module: the global_symbol of a kPrimFunc, else the name of the definition
  RelaxFunctionReader* reader = nullptr;  ///< for a kFunction
};

/// Symbols of `n = T.dynamic("n")`, in the order of the text; each function that uses n has a symbol of its own.
using ModuleSymbols = std::vector<std::pair<std::string, Place>>;

struct FunctionParts;
struct Term;

/// The operators of a language whose functions are read like Relax functions. Calls of them begin with a root:
/// relay.nn.conv2d(…).
struct Dialect {
  std::string_view root;      ///< "relay."
  std::string_view metadata;  ///< the option by which TVM prints constants
  /// Reads the call of the operator `name`.
  Result<Term> (*read)(FunctionParts& fn, const std::string& name, const ast::Expr& call);
};

/// The state that the readers of one file share.
struct ModuleScope {
  relax::Module& module;
  const relax::OpTable& table;
  SourceText& source;
  ast::Tree& tree;
  const ExternalConstants& beside;
  NumberedConstants constants;              ///< of metadata["relax.expr.Constant"]
  std::vector<relax::ConstantRef> tensors;  ///< of metadata["ffi.Tensor"]
  bool has_metadata = false;                ///< whether the text has constants
  bool bad_metadata = false;                ///< whether they were reported as invalid
  std::map<std::string, Global> globals;
  ModuleSymbols symbols;
  std::map<std::string, std::string> externals;  ///< `f = R.ExternFunc("symbol")` beside the functions
  std::map<std::string, std::string> dotted;     ///< external functions with dots in their names, by their C names
  /// Reads a prim func that another one calls, unless it was read before; false if it failed, or calls itself.
  std::function<bool(const std::string& defined)> read_prim_func = {};
  size_t inlined = 0;                  ///< statements and operations of inlined prim funcs
  size_t open_bodies = 0;              ///< functions whose bodies are being read, each needed by the one before
  std::set<std::string> module_names;  ///< names of classes, for `cls = Module`
  const Dialect* dialect = nullptr;    ///< null for Relax
  TellBinding bound = {};              ///< told of every name that is bound; may be null

  /// Returns the prim func that is defined under `name`; null if there is none, or it is not read yet.
  const tir::PrimFunc* prim_func(const std::string& defined) const {
    auto global = globals.find(defined);
    bool known = global != globals.end() && global->second.kind == Global::kPrimFunc;
    return known ? module.find_prim_func(global->second.name) : nullptr;
  }
  std::vector<std::string> global_names() const {
    std::vector<std::string> names;
    for (const auto& [name, global] : globals) names.push_back(name);
    return names;
  }
};

}  // namespace relaxc::frontend
