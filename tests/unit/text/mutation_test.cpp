// mutation_test.cpp: programs with small mistakes at random places.
//
// Random bytes never get past the lexer; a program with one token gone, doubled or replaced by another of its own
// reaches every part of the reader. None may crash or end in an internal error; what is refused has a message; what is
// accepted prints to a text that is a fixpoint.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/ops/op_table.h"
#include "compiler/relax/print.h"
#include "frontends/relax/lexer.h"
#include "frontends/relax/parser.h"

using namespace relaxc;

namespace {

/// The pieces of a text: words, numbers, strings and single characters, spaces included, so that they join to the same
/// text.
std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (word(text[at])) {
      while (end < text.size() && word(text[end])) ++end;
    } else if (text[at] == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') ++end;
      end = std::min(end + 1, text.size());
    }
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

std::string mutate(std::vector<std::string> pieces, std::mt19937& random) {
  for (unsigned mistakes = 1 + random() % 2; mistakes > 0; --mistakes) {
    size_t at = random() % pieces.size(), other = random() % pieces.size();
    switch (random() % 4) {
      case 0:
        pieces[at].clear();
        break;
      case 1:
        pieces[at] += pieces[at];
        break;
      case 2:
        pieces[at] = pieces[other];
        break;
      default:
        std::swap(pieces[at], pieces[other]);
        break;
    }
  }
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

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
  std::mt19937 random(20240731);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = mutate(pieces_of(texts[random() % texts.size()]), random);
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
