#include <catch2/catch.hpp>

#include "compiler/codegen/c/expression.h"
#include "compiler/tir/builder.h"

using namespace relaxc;
using arith::Expr;

namespace {

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
  codegen_c::Names names;
  std::set<std::string> helpers;
  codegen_c::Expressions expressions(names, helpers, nullptr);
  std::vector<std::string> lines = expressions.share({value});
  lines.push_back(expressions.text(value));
  return lines;
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
