// parser.cpp: finds the definitions of a file, and reads them in the necessary order.
//
// Names of functions are known before any body is read, since their order in a class has no meaning; then prim funcs
// are read, against whose buffers call_tir is checked; then the signatures of Relax functions, then their bodies. A
// function that cannot be read stays known as failed, so that its callers do not report it again.
#include "frontends/relax/parser.h"

#include <optional>

#include "compiler/relax/effects.h"
#include "compiler/relax/verify.h"
#include "compiler/support/suggest.h"
#include "frontends/relax/constants/metadata.h"
#include "frontends/relax/function/reader.h"
#include "frontends/relax/language.h"
#include "frontends/relax/prim/reader.h"
#include "frontends/relax/text/grammar.h"
#include "frontends/relax/text/literals.h"
#include "frontends/relax/text/string_parameters.h"
#include "frontends/relax/text/unsupported_aot.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;
using ast::StmtKind;

namespace {

/// Maximum size of a text: places are 32-bit, and nobody writes a program of a gigabyte.
constexpr size_t kLargestText = size_t{1} << 30;

class ModuleReader {
 public:
  ModuleReader(ModuleScope& scope) : scope_(scope), source_(scope.source) {
    scope_.read_prim_func = [this](const std::string& defined) {
      return prim_func(*scope_.globals.at(defined).definition);
    };
  }

  bool run() {
    bool ok = true;
    for (const ast::Stmt* stmt : scope_.tree.file) ok &= top_level(*stmt, false);
    if (definitions_.empty() && ok && !source_.diag().has_errors()) {
      (void)source_.error({0, 1}, Kind::ill_formed, "no function is defined here");
      return false;
    }
    for (const ast::Stmt* definition : definitions_)
      if (scope_.globals[definition->text].kind == Global::kPrimFunc) ok &= prim_func(*definition);
    for (auto& reader : readers_) ok &= signature(*reader);
    for (auto& reader : readers_) ok &= reader->body();
    return ok;
  }

 private:
  bool top_level(const ast::Stmt& stmt, bool in_class) {
    switch (stmt.kind) {
      case StmtKind::kImport:
      case StmtKind::kPass:
        return true;
      case StmtKind::kFunction:
        return function(stmt);
      case StmtKind::kClass:
        if (in_class) break;
        return module_class(stmt);
      case StmtKind::kExpr:
        if (stmt.value->is(AstKind::kString)) return true;
        if (stmt.value->is(AstKind::kCall) && in_class) {
          std::string path = dotted_path(*stmt.value->items[0]).value_or("");
          if (path == "I.module_attrs" || path == "I.module_global_infos") return true;
        }
        break;
      case StmtKind::kAssign:
        if (is_metadata(stmt)) {
          bool read = metadata(stmt);
          scope_.bad_metadata |= !read;
          return read;
        }
        if (declares_symbol(stmt)) {
          scope_.symbols.emplace_back(stmt.target->text, stmt.target->place);
          return true;
        }
        if (in_class && is_external(stmt)) {
          scope_.externals[stmt.target->text] = stmt.value->items[1]->text;
          return true;
        }
        if (in_class && is_absent_metadata(stmt)) return true;
        (void)source_.error(stmt.place, Kind::unsupported,
                            "a module holds functions only; a value that Python computes is written where it is used");
        return false;
      default:
        break;
    }
    (void)source_.error(stmt.place, Kind::unsupported, "a module holds functions only");
    return false;
  }

  static bool is_metadata(const ast::Stmt& stmt) {
    return stmt.target != nullptr && stmt.target->is(AstKind::kName) && stmt.target->text == "metadata" &&
           stmt.value != nullptr;
  }

  /// Returns whether a statement is `__tvm_meta__ = None`, as TVM 0.8 prints it into a module without metadata.
  static bool is_absent_metadata(const ast::Stmt& stmt) {
    return stmt.target != nullptr && stmt.target->is(AstKind::kName) && stmt.target->text == "__tvm_meta__" &&
           stmt.value != nullptr && stmt.value->is(AstKind::kNone);
  }

  /// Returns whether a statement is `f = R.ExternFunc("symbol")`; a type after the symbol is ignored, as calls give it.
  static bool is_external(const ast::Stmt& stmt) {
    return stmt.target != nullptr && stmt.target->is(AstKind::kName) && stmt.value != nullptr &&
           stmt.value->is(AstKind::kCall) && dotted_path(*stmt.value->items[0]) == "R.ExternFunc" &&
           stmt.value->items.size() >= 2 && stmt.value->items[1]->is(AstKind::kString);
  }

  /// Returns whether a statement declares a symbol for later functions: `n = T.dynamic("n")`, `n = TypeVar("n")`.
  static bool declares_symbol(const ast::Stmt& stmt) {
    bool names_one = stmt.target != nullptr && stmt.target->is(AstKind::kName) && stmt.value != nullptr &&
                     stmt.value->is(AstKind::kCall);
    if (!names_one) return false;
    std::string path = dotted_path(*stmt.value->items[0]).value_or("");
    return path == "T.dynamic" || path == "Ts.dynamic" || path == "TypeVar" || path == "typing.TypeVar";
  }

  /// Reads `metadata = tvm.ir.load_json("""…""")`, as TVM prints it, or `metadata = relaxc.load_params("file")`.
  bool metadata(const ast::Stmt& stmt) {
    const ast::Expr& value = *stmt.value;
    if (scope_.has_metadata) {
      (void)source_.error(stmt.place, Kind::redefinition, "the metadata is given twice");
      return false;
    }
    scope_.has_metadata = true;
    bool call = value.is(AstKind::kCall) && value.items.size() == 2;
    std::string path = call ? dotted_path(*value.items[0]).value_or("") : std::string();
    if (path == "relaxc.load_params") return load_params(*value.items[1]);
    if (path != "tvm.ir.load_json" && path != "ir.load_json" && path != "load_json") {
      (void)source_.error(value.place, Kind::unsupported,
                          "metadata comes from tvm.ir.load_json(\"…\") or relaxc.load_params(\"file\")");
      return false;
    }
    Result<Metadata> read = read_metadata(source_, *value.items[1]);
    if (!read) return false;
    for (size_t i = 0; i < read->constants.size(); ++i)
      scope_.constants.emplace(static_cast<int64_t>(i), std::move(read->constants[i]));
    scope_.tensors = std::move(read->tensors);
    return true;
  }

  bool load_params(const ast::Expr& argument) {
    Result<std::string> file = string_value(source_, argument, "a file");
    if (!file) return false;
    if (!scope_.constants.empty()) return true;  // constants from elsewhere take precedence
    if (!scope_.beside.load) {
      (void)source_.error(argument.place, Kind::unsupported, "files of weights are not read here");
      return false;
    }
    Result<NumberedConstants> constants = scope_.beside.load(*file, source_.at(argument.place));
    if (!constants) return false;
    scope_.constants = std::move(*constants);
    return true;
  }

  bool module_class(const ast::Stmt& stmt) {
    if (!scope_.module_names.empty()) {
      (void)source_.error(stmt.name_place, Kind::unsupported, "one file holds one module, found a second class");
      return false;
    }
    for (const ast::Expr* decorator : stmt.decorators)
      if (dotted_path(*decorator) == "R.rewriter") {
        (void)source_.error(decorator->place, Kind::unsupported, "'R.rewriter' {}", why_unsupported_aot("R.rewriter"));
        return false;
      }
    scope_.module_names.insert(stmt.text);
    scope_.module.name = stmt.text;
    bool ok = true;
    for (const ast::Stmt* inner : stmt.body) ok &= top_level(*inner, true);
    return ok;
  }

  bool function(const ast::Stmt& stmt) {
    if (auto known = scope_.globals.find(stmt.text); known != scope_.globals.end()) {
      (void)source_.error(stmt.name_place, Kind::redefinition, "two functions are named '{}'", stmt.text);
      source_.note(known->second.definition->name_place, "the first is here");
      return false;
    }
    Global& global = scope_.globals[stmt.text];
    global.definition = &stmt;
    global.name = stmt.text;
    Global::Kind kind = kind_of(stmt);
    if (stmt.broken || kind == Global::kPoison) return false;  // the grammar or kind_of reported it
    global.kind = kind;
    definitions_.push_back(&stmt);
    if (kind == Global::kFunction) {
      relax::Function* made = scope_.module.add_function(stmt.text);
      global.reader = readers_.emplace_back(std::make_unique<RelaxFunctionReader>(scope_, stmt, *made)).get();
    }
    return true;
  }

  /// Returns a function's kind by its decorators; reports it and returns kPoison if it has none.
  Global::Kind kind_of(const ast::Stmt& stmt) {
    Global::Kind kind = Global::kPoison;
    std::string_view unable;
    std::optional<std::string> near;
    for (const ast::Expr* decorator : stmt.decorators) {
      std::string path = dotted_path(decorator->is(AstKind::kCall) ? *decorator->items[0] : *decorator).value_or("");
      std::string last = path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
      if (last == "prim_func" || last == "tir")
        kind = Global::kPrimFunc;
      else if (last == "function" || last == "func")
        kind = Global::kFunction;
      else if (last == "macro" || last == "pyfunc" || last == "py_func")
        unable = last == "macro" ? "is expanded while Python runs; write what it expands to"
                                 : "is a function of Python, and there is none when the object runs";
      else
        near = nearest_name(path, {"R.function", "T.prim_func"});
    }
    if (kind != Global::kPoison) return kind;
    if (!unable.empty()) {
      (void)source_.error(stmt.name_place, Kind::unsupported, "'{}' {}", stmt.text, unable);
    } else if (!stmt.broken) {
      (void)source_.error(stmt.name_place, Kind::unsupported,
                          "'{}' is not a function of a module; @R.function or @T.prim_func makes it one", stmt.text);
      if (near) source_.hint("did you mean @{}?", *near);
    }
    return kind;
  }

  /// Reads a prim func unless a caller already did. Returns false if it failed or is being read.
  bool prim_func(const ast::Stmt& definition) {
    if (auto [read, fresh] = read_.emplace(&definition, false); !fresh) return read->second;
    Result<tir::PrimFunc> made = read_prim_func(scope_, definition);
    if (!made) {
      scope_.globals[definition.text].kind = Global::kPoison;
      return false;
    }
    scope_.globals[definition.text].name = made->name;
    scope_.module.add_prim_func(std::move(*made));
    return read_[&definition] = true;
  }

  bool signature(RelaxFunctionReader& reader) {
    if (reader.signature()) return true;
    scope_.globals[reader.function().name].kind = Global::kPoison;
    return false;
  }

  ModuleScope& scope_;
  SourceText& source_;
  std::vector<const ast::Stmt*> definitions_;
  std::map<const ast::Stmt*, bool> read_;  ///< whether each prim func was read; false while it is
  std::vector<std::unique_ptr<RelaxFunctionReader>> readers_;
};

/// Reports calls of functions with effects in dataflow blocks, when all bodies, and hence all effects, are known.
Status check_purity(relax::Module& module, Diagnostics& diag) {
  relax::Effects effects(module);
  bool ok = true;
  for (const relax::Function* function : module.functions())
    for (const relax::Op* op : relax::ops_of(function->body(), true)) {
      bool closure = op->kind == relax::OpKind::kCallClosure;
      bool calls = closure || op->kind == relax::OpKind::kCallFunction;
      if (!calls || !op->block->dataflow || !effects.of_op(*op)) continue;
      diag.error(op->location, Kind::purity, "'{}' {} effects and cannot be called in a dataflow block",
                 closure ? op->operand(0)->name : op->callee, closure ? "may have" : "has");
      ok = false;
    }
  if (!ok) return diag.failed();
  effects.write_types(module);
  return Done{};
}

/// Its metadata is statements, which are read with the others.
TextConstants parse_relax(SourceText& source, ast::Tree& tree, const relax::OpTable&) {
  parse_file(source, tree);
  specialize_strings(source, tree);
  return {};
}

/// Returns the file's name as a C name: "models/my-net.relax" gives my_net.
std::string module_name(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/') + 1);
  stem = stem.substr(0, stem.find_last_of('.') == 0 ? std::string::npos : stem.find_last_of('.'));
  for (char& c : stem)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return stem.empty() ? "model" : stem[0] >= '0' && stem[0] <= '9' ? "m" + stem : stem;
}

}  // namespace

Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   std::span<const relax::ConstantRef> constants) {
  ExternalConstants beside;
  for (size_t i = 0; i < constants.size(); ++i) beside.constants.emplace(static_cast<int64_t>(i), constants[i]);
  return parse_module(std::move(path), std::move(text), table, diag, beside);
}

Result<relax::Module> parse_module(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                   const ExternalConstants& beside, const TellBinding& bound) {
  return parse_module(std::move(path), std::move(text), Language{parse_relax, nullptr}, table, diag, beside, bound);
}

Result<relax::Module> parse_module(std::string path, std::string text, const Language& language,
                                   const relax::OpTable& table, Diagnostics& diag, const ExternalConstants& beside,
                                   const TellBinding& bound) {
  relax::Module module;
  module.name = module_name(path);
  diag.keep(module.shared_sources());
  if (text.size() > kLargestText)
    return diag.error(module.sources().at(FileOrigin{path}), Kind::unsupported, "a text of more than {} bytes",
                      kLargestText);
  const SourceFile* file = module.sources().add_file(std::move(path), std::move(text));
  SourceText source(file, module.sources(), diag);
  ast::Tree tree;
  size_t errors_before = diag.error_count();
  TextConstants said = language.parse(source, tree, table);
  ModuleScope scope{module, table, source, tree, beside, beside.constants, {},   false, false, {}, {}, {},
                    {},     {},    0,      0,    {},     language.dialect, bound};
  scope.has_metadata = said.metadata.has_value() || said.failed;
  scope.bad_metadata = said.failed;
  if (said.metadata)
    for (size_t i = 0; i < said.metadata->size(); ++i)
      scope.constants.emplace(static_cast<int64_t>(i), std::move((*said.metadata)[i]));
  bool ok = ModuleReader(scope).run();
  if (!ok || diag.error_count() != errors_before) return diag.failed();
  RELAXC_DO(check_purity(module, diag));
  // Check for faults that the readers let through.
  std::string fault = relax::first_fault(module);
  if (!fault.empty()) return source.error({0, 1}, Kind::ill_formed, "{}", fault);
  return module;
}

}  // namespace relaxc::frontend
