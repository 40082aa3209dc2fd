#include <catch2/catch.hpp>

#include "compiler/codegen/c/expression.h"
#include "compiler/tir/builder.h"

using namespace relaxc;
using arith::Expr;

namespace {

/// What is printed for `value`: its temporaries, then itself.
std::vector<std::string> printed(Expr value) {
  codegen_c::Names names;
  std::set<std::string> helpers;
  codegen_c::Expressions expressions(names, helpers, nullptr, nullptr);
  std::vector<std::string> lines = expressions.share({value});
  lines.push_back(expressions.text(value));
  return lines;
}

/// The lines that `depth` selects take, each of which reads, in both arms, at what the one before it chose, and once
/// more where both arms of the next may want it.
std::vector<std::string> nested(int depth) {
  arith::Context context;
  tir::Builder builder(context);
  tir::BufferRef x = builder.buffer("x", DType::index(), {context.index(1024)});
  Expr value = arith::Var(context.var("n", DType::index()));
  for (int level = 0; level < depth; ++level) {
    Expr here = builder.load(x, {value});
    Expr next = builder.load(x, {value + 1});
    value = arith::select(arith::lt(here, context.index(level)), here * 2 + next, next - value);
  }
  return printed(value);
}

/// `depth` selects whose conditions read, behind those before, what they are to guard: x[n], read only where n < 0 or
/// so.
std::vector<std::string> asking_for_what_they_guard(int depth) {
  arith::Context context;
  tir::Builder builder(context);
  tir::BufferRef x = builder.buffer("x", DType::index(), {context.index(1024)});
  Expr n = arith::Var(context.var("n", DType::index())), limited = builder.load(x, {n}), value = n;
  for (int level = 0; level < depth; ++level) {
    Expr inner = arith::select(arith::lt(limited, context.index(7)), value, limited * 2);
    value = arith::select(arith::lt(value, context.index(level)), inner, value * 3);
  }
  return printed(value);
}

size_t characters(const std::vector<std::string>& lines) {
  size_t sum = 0;
  for (const std::string& line : lines) sum += line.size();
  return sum;
}

}  // namespace

TEST_CASE("selects in selects are written in text that grows with their number") {
  const size_t few = characters(nested(10));
  CHECK(few < 10 * 400);
  CHECK(characters(nested(80)) < 10 * few);
}

TEST_CASE("conditions that read what they guard are written in text that grows with their number") {
  const size_t few = characters(asking_for_what_they_guard(10));
  CHECK(few < 10 * 400);
  CHECK(characters(asking_for_what_they_guard(80)) < 10 * few);
}

TEST_CASE("a load is printed after the condition that guards it, also where a later condition reads it") {
  int open = 0, loads = 0;
  for (const std::string& line : asking_for_what_they_guard(12)) {
    open += line.find("if (") != std::string::npos || line.find("else {") != std::string::npos ? 1 : 0;
    if (line.find("x[") != std::string::npos) {
      ++loads;
      CHECK(open > 0);
    }
    open -= line.find('}') != std::string::npos ? 1 : 0;
  }
  CHECK(loads >= 12);
  CHECK(open == 0);
}
