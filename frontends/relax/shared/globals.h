// globals.h: the functions of a module while it is read, and who reads them.
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

/// What a function of the file is.
struct Global {
  enum Kind : uint8_t { kPoison, kPrimFunc, kFunction };
  Kind kind = kPoison;
  const ast::Stmt* definition = nullptr;
  std::string name;  ///< in the module: of a kPrimFunc its global_symbol, otherwise as it is defined
  RelaxFunctionReader* reader = nullptr;  ///< of a kFunction
};

/// `n = T.dynamic("n")`, in the order of the text: each function that mentions n has a symbol of its own.
using ModuleSymbols = std::vector<std::pair<std::string, Place>>;

struct FunctionParts;
struct Term;

/// Operators of a language whose functions are written as Relax functions. Their calls are below a name of their own:
/// relay.nn.conv2d(…).
struct Dialect {
  std::string_view root;      ///< "relay."
  std::string_view metadata;  ///< what makes TVM print the constants
  /// Reads the call of the operator `name`.
  Result<Term> (*read)(FunctionParts& fn, const std::string& name, const ast::Expr& call);
};

/// What the readers of one file share.
struct ModuleScope {
  relax::Module& module;
  const relax::OpTable& table;
  SourceText& source;
  ast::Tree& tree;
  const ExternalConstants& beside;
  NumberedConstants constants;  ///< what metadata["relax.expr.Constant"] is
  bool has_metadata = false;    ///< the text says what it is
  bool bad_metadata = false;    ///< and that was reported
  std::map<std::string, Global> globals;
  ModuleSymbols symbols;
  std::map<std::string, std::string> externals;  ///< `f = R.ExternFunc("symbol")` beside the functions
  std::map<std::string, std::string> dotted;     ///< external functions with dots in their names, by those in C
  /// Reads a prim func that another one calls, unless it was read before; false: it failed, or calls itself.
  std::function<bool(const std::string& defined)> read_prim_func = {};
  size_t inlined = 0;                  ///< statements of prim funcs that are where they are called
  size_t open_bodies = 0;              ///< functions whose bodies are being read, each because of the one before
  std::set<std::string> module_names;  ///< the classes: `Module` in `cls = Module`
  const Dialect* dialect = nullptr;    ///< null: the text is Relax

  /// The prim func that is defined under `name`; null if none is, or not yet.
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
