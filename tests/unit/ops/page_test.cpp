// docs/operators.md is the op table as a page. RELAXC_UPDATE=1 in the environment rewrites it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/ops/op_table.h"
#include "compiler/relax/attr_text.h"

using namespace relaxc;

namespace {

std::string operand_text(const relax::OperandDef& operand) {
  std::string text(operand.name);
  if (operand.arity == relax::OperandDef::kOptional) text += "?";
  if (operand.arity == relax::OperandDef::kVariadic) text += "…";
  return text;
}

std::string attr_text(const relax::AttrDef& attr) {
  std::string text = "`" + std::string(attr.name);
  if (!attr.required) text += " = " + relax::attr_text(relax::parse_attr(attr.fallback, attr.type));
  return text + "`";
}

template <typename List, typename Text>
std::string join(const List& list, Text text) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

std::string page() {
  std::string text =
      "# Operators\n\nGenerated from the op table (`tests/unit/ops/page_test.cpp`). `x?` is an optional operand, `x…` "
      "any number of them;\nattributes without a value must be given. Meaning: *loops* are naive TIR, *operators* a "
      "body "
      "of other operators,\n*view* the same bytes under another shape, *host* a few integers of the shape program, "
      "*nodes* "
      "memory of\nalgebraic data.\n\n"
      "| operator | operands | attributes | meaning | |\n|---|---|---|---|---|\n";
  relax::OpTable table = ops::op_table();
  for (const relax::OpDef* def : table.all()) {
    const char* meaning = def->role == relax::Role::kView   ? "view"
                          : def->role == relax::Role::kHost ? "host"
                          : def->role == relax::Role::kNode ? "nodes"
                          : def->expand != nullptr          ? "operators"
                                                            : "loops";
    std::string doc(def->doc);
    for (size_t at = 0; (at = doc.find('|', at)) != std::string::npos; at += 2) doc.insert(at, "\\");
    text += "| `" + std::string(def->name.text()) + "` | " + join(def->operands, operand_text) + " | " +
            join(def->attrs, attr_text) + " | " + meaning + " | " + doc + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the page of operators is the op table") {
  std::string path = std::string(RELAXC_SOURCE_DIR) + "/docs/operators.md";
  if (std::getenv("RELAXC_UPDATE") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream found;
  found << file.rdbuf();
  INFO("RELAXC_UPDATE=1 test_ops rewrites " << path);
  CHECK(found.str() == page());
}
