// mutation_test.cpp: programs with small mistakes at random places.
//
// Random bytes never get past the lexer; a program with one token gone, doubled or replaced by another of its own
// reaches every part of the reader. None may crash or end in an internal error; what is refused has a message; what is
// accepted prints to a text that is a fixpoint.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/ops/op_table.h"
#include "compiler/relax/print.h"
#include "frontends/relax/parser.h"
#include "tests/fuzz/mutate.h"

using namespace relaxc;

namespace {

std::vector<std::string> programs() {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/tests/language", "/tests/diagnostics"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(RELAXC_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".relax" && entry.file_size() < 8000) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

}  // namespace

TEST_CASE("a program with a random mistake is refused with a message or accepted as a module that prints") {
  relax::OpTable ops = ops::op_table();
  std::vector<std::string> texts = programs();
  REQUIRE(texts.size() > 10);
  int accepted = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    std::string text = fuzz::mutated(texts, i);
    INFO(text);
    Diagnostics diag;
    auto module = frontend::parse_module("mutant.relax", text, ops, diag);
    REQUIRE(bool(module) != diag.has_errors());
    render(diag);
    if (!module) continue;
    ++accepted;
    std::string printed = relax::to_string(*module);
    INFO(printed);
    Diagnostics again_diag;
    auto again = frontend::parse_module("mutant.relax", printed, ops, again_diag, relax::large_constants(*module));
    INFO(render(again_diag));
    REQUIRE(again);
    REQUIRE(relax::to_string(*again) == printed);
  }
  CHECK(accepted > 100);
}
