// import.cpp: the entry points of the Relay frontend, and the types of operators, which type inference asks for.
#include "frontends/relay/import.h"

#include <filesystem>

#include "frontends/relax/constants/metadata.h"
#include "frontends/relay/operators.h"
#include "frontends/relay/text/grammar.h"

namespace relaxc::relay {
namespace {

Type* type_of(Types& types, relax::Info info) {
  if (const auto* tuple = info->as<relax::TupleInfo>()) {
    std::vector<Type*> parts;
    for (relax::Info field : tuple->fields) parts.push_back(type_of(types, field));
    return types.compound(Type::kTuple, std::move(parts));
  }
  const auto* tensor = info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return types.variable(true);
  std::vector<int64_t> dims;
  for (arith::Expr dim : *tensor->shape) dims.push_back(dim.constant() == nullptr ? Type::kOpenDim : *dim.constant());
  return types.tensor(std::move(dims), to_string(*tensor->dtype));
}

/// What @main of `program` gives, by the deduction of operators; null if the program is not right, which reading the
/// text that it is taken from reports.
Type* deduce(Types& types, const std::string& program, const relax::OpTable& table) {
  Diagnostics unheard;
  Result<relax::Module> module = parse_relay("deduced", program, table, unheard, {});
  const relax::Function* main = module ? module->find_function("main") : nullptr;
  if (main == nullptr) return nullptr;
  std::vector<Type*> results;
  for (const relax::Value* result : main->body().results()) results.push_back(type_of(types, result->info));
  return results.size() == 1 ? results[0] : types.compound(Type::kTuple, std::move(results));
}

frontend::TextConstants parse(SourceText& source, frontend::ast::Tree& tree, const relax::OpTable& table) {
  Tokens tokens = read_tokens(source);
  frontend::TextConstants said;
  if (tokens.metadata.length > 0) {
    Result<frontend::Metadata> metadata = frontend::read_metadata(source, tokens.metadata);
    said.failed = !metadata;
    if (metadata) said.metadata = std::move(metadata->constants);
  }
  auto ask = [&](Types& types, const std::string& program) { return deduce(types, program, table); };
  read_text(source, tree, std::move(tokens), ask);
  return said;
}

/// Marks all blocks as dataflow: no operator of Relay has effects, so passes for pure blocks may work on all of them.
void mark_pure(relax::Module& module) {
  for (relax::Function* function : module.functions())
    for (relax::Op* op : relax::ops_of(function->body(), true)) op->block->dataflow = true;
}

}  // namespace

bool is_relay(const std::string& path, std::string_view text) {
  if (std::filesystem::path(path).extension() == ".relay") return true;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with("#[version");
}

Result<relax::Module> parse_relay(std::string path, std::string text, const relax::OpTable& table, Diagnostics& diag,
                                  const frontend::ExternalConstants& beside) {
  frontend::Language language{parse, &kDialect};
  RELAXC_TRY(relax::Module module,
             frontend::parse_module(std::move(path), std::move(text), language, table, diag, beside));
  mark_pure(module);
  return module;
}

}  // namespace relaxc::relay
