// checks_test.cpp: functions whose index arithmetic is checked: they leave where the interpreter does, and their code
// grows with their nodes and not with the ways through them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "compiler/codegen/llvm/emit.h"
#include "compiler/support/temporary_folder.h"
#include "tests/sanitized.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Var;

/// Dims as exporters write them: each of the one before, used in both arms of a select, in its condition, and by a
/// guard.
struct Dims {
  explicit Dims(int steps) {
    Var n = context.var("n"), m = context.var("m");
    tir::BufferRef out = b.buffer("out", DType::i(64), {b.index(1)});
    f.name = "sizes";
    f.checks.overflow_code = 20;
    f.params = {{out, {}}, {nullptr, n}, {nullptr, m}};
    std::vector<tir::Stmt> body;
    Expr size = n;
    for (int i = 0; i < steps; ++i) {
      Expr half = arith::floordiv(size + (i + 1), b.index(2));
      size = arith::select(arith::lt(size, m), half * m + size, arith::max(half - m * size, size));
      tir::Guard guard;
      guard.condition = arith::le(size, m * (i + 2)), guard.code = 21, guard.axis = i;
      guard.expected = m, guard.actual = size;
      body.push_back(b.guard(guard));
    }
    body.push_back(b.store(out, {b.index(0)}, arith::cast(DType::i(64), size)));
    f.body = b.seq(std::move(body));
  }

  arith::Context context;
  tir::Builder b{context};
  tir::PrimFunc f;
};

/// The lines of the function as LLVM prints it, without its optimizations.
std::vector<std::string> text_of(const tir::PrimFunc& f) {
  interface::Object object;
  object.name = "many";
  object.functions = {&f};
  TemporaryFolder folder;
  Diagnostics diag;
  codegen_llvm::EmitOptions options;
  options.kind = codegen_llvm::OutputKind::kIr, options.opt = "0";
  REQUIRE(codegen_llvm::emit(object, testing::native_target(), options, folder.file("many.ll"), diag));
  std::ifstream text(folder.file("many.ll"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// How many instructions and labels there are.
std::pair<long, long> lines_of(const tir::PrimFunc& f) {
  std::pair<long, long> found;
  for (const std::string& line : text_of(f)) {
    found.first += line.starts_with("  ");
    found.second += !line.empty() && line[0] != ' ' && line.find(':') != std::string::npos && line[0] != ';';
  }
  return found;
}

TEST_CASE("checked sizes take as many instructions and blocks as they have nodes", "[checks]") {
  std::vector<std::pair<long, long>> found;
  for (int steps : {300, 600, 1200}) found.push_back(lines_of(Dims(steps).f));
  CAPTURE(found[0].first, found[1].first, found[2].first, found[0].second, found[1].second, found[2].second);
  CHECK(found[0].first > 300);
  CHECK(found[0].first < 300 * 40);
  CHECK(found[0].second < 300 * 6 + 300);
  // Twice the steps are twice the growth.
  CHECK(found[2].first - found[1].first <= 2.02 * (found[1].first - found[0].first) + 20);
  CHECK(found[2].second - found[1].second <= 2.02 * (found[1].second - found[0].second) + 20);
}

/// A guard for each part of a concatenation of as many parts, which lies behind all parts before it.
tir::PrimFunc parts_behind_each_other(arith::Context& context, int count) {
  tir::Builder b(context);
  tir::BufferRef memory = b.buffer("memory", DType::u(8), {b.index(int64_t{1} << 40)});
  tir::PrimFunc f;
  f.name = "parts";
  f.checks.overflow_code = 20;
  f.params = {{memory, {}}};
  std::vector<tir::Stmt> body;
  Expr offset = b.index(64);
  for (int i = 0; i < count; ++i) {
    Var rows = context.var("rows" + std::to_string(i));
    f.params.push_back({nullptr, rows});
    tir::Guard guard;
    guard.condition = arith::le(b.index(0), rows), guard.code = 21, guard.axis = i;
    tir::BufferRef part = b.buffer("part", DType::f(32), {rows, b.index(4)});
    body.push_back(b.view(part, memory, offset, b.guard(guard)));
    offset = offset + arith::min(b.index(300), rows) * 16;
  }
  f.body = b.seq(std::move(body));
  return f;
}

TEST_CASE("consecutive parts take as many instructions as there are parts", "[checks]") {
  arith::Context context;
  long few = lines_of(parts_behind_each_other(context, 100)).first;
  long many = lines_of(parts_behind_each_other(context, 200)).first;
  CHECK(few > 500);
  CHECK(many <= 2.02 * static_cast<double>(few) + 20);
}

/// A guard of a value that is made of `steps` operations of `next(value, the one before, step)`.
template <typename Next>
tir::PrimFunc guard_of(arith::Context& context, int steps, Next next) {
  tir::Builder b(context);
  tir::PrimFunc f;
  f.name = "chain";
  f.checks.overflow_code = 20;
  Var n = context.var("n"), m = context.var("m");
  f.params = {{nullptr, n}, {nullptr, m}};
  Expr before = n, value = m;
  for (int i = 0; i < steps; ++i) before = std::exchange(value, next(value, before, i));
  tir::Guard guard;
  guard.condition = arith::le(value, n), guard.code = 21;
  f.body = b.guard(guard);
  return f;
}

/// On how many ways flags are reached from a branch's flag by going through `or`: the most of any branch, and how many
/// flags those are.
std::pair<double, double> ways_to_flags(const std::vector<std::string>& lines) {
  std::unordered_map<std::string, std::pair<double, std::set<std::string>>> flags;
  auto known = [&](const std::string& name) {
    auto found = flags.find(name);
    return found != flags.end() ? found->second : std::pair{1.0, std::set{name}};
  };
  std::pair<double, double> most;
  for (const std::string& line : lines) {
    size_t is = line.find(" = or i1 "), comma = line.find(", "), branch = line.find("br i1 ");
    if (is != std::string::npos) {
      auto a = known(line.substr(is + 9, comma - is - 9)), b = known(line.substr(comma + 2));
      a.second.merge(b.second);
      flags[line.substr(2, is - 2)] = {a.first + b.first, a.second};
    } else if (branch != std::string::npos) {
      auto [ways, reached] = known(line.substr(branch + 6, comma - branch - 6));
      if (ways > most.first) most = {ways, reached.size()};
    }
  }
  return most;
}

TEST_CASE("a branch on many checks is one on each of them once", "[checks]") {
  arith::Context context;
  // Each value is used by the next two: on 2^n ways where all have flags, as they have in a way that may not be chosen
  // and behind the operations that are tested at once.
  auto f = guard_of(context, 400, [](Expr value, Expr before, int) { return value * 3 + before; });
  auto [ways, flags] = ways_to_flags(text_of(f));
  CHECK(flags > 0);
  CHECK(ways == flags);
}

TEST_CASE("no block has more than a few checked operations in a row", "[checks]") {
  arith::Context context;
  auto f = guard_of(context, 1500, [](Expr value, Expr before, int i) { return value * (i + 2) + before; });
  int longest = 0, run = 0, all = 0;
  for (const std::string& line : text_of(f)) {
    if (!line.empty() && line[0] != ' ') run = 0;
    if (line.find(".with.overflow") == std::string::npos || line.starts_with("declare")) continue;
    longest = std::max(longest, ++run), ++all;
  }
  CHECK(all >= 3000);
  CHECK(longest <= 32);
}

/// A random function of three scalars whose nodes use any earlier ones, with choices or without.
struct Random {
  Random(unsigned seed, int nodes, bool with_choices) : rng(seed), choices(with_choices) {
    tir::BufferRef out = b.buffer("out", DType::i(64), {b.index(8)});
    f.name = "random";
    f.checks.overflow_code = 20;
    f.params = {{out, {}}};
    for (const char* name : {"x", "y", "z"}) f.params.push_back({nullptr, context.var(name)});
    for (size_t i = 1; i < f.params.size(); ++i) values.push_back(f.params[i].var);
    values.push_back(b.index(pick(3)));
    std::vector<tir::Stmt> body;
    for (int i = 0; i < nodes; ++i) {
      add_value(out);
      if (i % 9 == 0) body.push_back(guard(i));
      if (i % 31 == 0) body.push_back(b.branch(condition(), b.store(out, {b.index(i % 8)}, stored())));
    }
    for (int i = 0; i < 8; ++i) body.push_back(b.store(out, {b.index(i)}, stored()));
    f.body = b.seq(std::move(body));
  }

  int pick(size_t count) { return static_cast<int>(rng() % count); }
  /// A late one rather than an early one.
  Expr any() { return values[values.size() - 1 - static_cast<size_t>(pick(std::min<size_t>(values.size(), 12)))]; }
  Expr stored() { return arith::cast(DType::i(64), any()); }

  Expr condition() {
    Expr first = pick(2) != 0 ? arith::lt(any(), any()) : arith::eq(any(), any());
    if (!choices || pick(3) != 0) return first;
    Expr second = arith::le(any(), any());
    return pick(2) != 0 ? arith::logical_and(first, second) : arith::logical_or(first, second);
  }

  void add_value(tir::BufferRef out) {
    Expr small = arith::floormod(any(), b.index(7 + pick(100)));
    switch (pick(!choices ? 6 : values.size() < 8 ? 9 : 8)) {
      case 0:
        return values.push_back(any() + any());
      case 1:
        return values.push_back(any() - any());
      case 2:
        return values.push_back(small * arith::max(any(), b.index(2)));
      case 3:
        return values.push_back(any() * any());
      case 4:
        return values.push_back(arith::floordiv(any(), any() + any()));
      case 6:
        return values.push_back(arith::select(condition(), any() * any(), small));
      case 7:
        return values.push_back(arith::select(condition(), any() + any() * 3, any()));
      case 5:
        return values.push_back(arith::floormod(any(), arith::max(any(), b.index(1))));
      default: {
        Expr read = arith::cast(DType::index(), b.load(out, {arith::floormod(any(), b.index(8))}));
        return values.push_back(arith::select(condition(), read + any(), small));
      }
    }
  }

  tir::Stmt guard(int at) {
    tir::Guard guard;
    guard.condition = pick(4) == 0 ? condition() : arith::ge(arith::floormod(any(), b.index(5)), b.index(0));
    guard.code = 21, guard.axis = at;
    return b.guard(guard);
  }

  std::mt19937 rng;
  bool choices;
  arith::Context context;
  tir::Builder b{context};
  tir::PrimFunc f;
  std::vector<Expr> values;
};

/// Where nothing chooses, the two agree. Otherwise the interpreter computes a way that is not chosen and reads nothing,
/// and leaves where that overflows.
TEST_CASE("checked functions leave where the interpreter leaves, however many tests they have", "[checks]") {
  const int64_t extremes[] = {0, 1, -1, 2, 3, 1000, int64_t{1} << 31, int64_t{1} << 62, INT64_MAX, -INT64_MAX};
  int left = 0, finished = 0;
  for (unsigned seed = 0; seed < testing::sample(24, 2); ++seed) {
    const bool choices = seed % 2 != 0;
    Random random(seed, seed % 12 == 10 ? 700 : 12 + static_cast<int>(seed), choices);
    auto compiled = codegen_llvm::make_jit(testing::native_target(), {}, {});
    auto interpreter = tir::make_interpreter({}, {});
    for (int run = 0; run < 12; ++run) {
      std::vector<int64_t> scalars, memory[2] = {std::vector<int64_t>(8, 5), std::vector<int64_t>(8, 5)};
      for (int i = 0; i < 3; ++i) scalars.push_back(extremes[random.pick(run < 8 ? 6 : std::size(extremes))]);
      void *expected[] = {memory[0].data()}, *found[] = {memory[1].data()};
      tir::RunStatus wanted = interpreter->run(random.f, expected, scalars);
      tir::RunStatus status = compiled->run(random.f, found, scalars);
      CAPTURE(seed, run, scalars);
      if (choices && wanted.code == 20) continue;
      REQUIRE(status.code == wanted.code);
      REQUIRE(memory[0] == memory[1]);
      ++(status.code != 0 ? left : finished);
    }
  }
  CHECK(left > 20);
  CHECK(finished > 20);
}

TEST_CASE("an overflow counts only where its way is chosen, and before what it would make wrong", "[checks]") {
  arith::Context context;
  tir::Builder b(context);
  Var x = context.var("x"), y = context.var("y");
  tir::BufferRef out = b.buffer("out", DType::i(64), {b.index(4)});
  Expr large = x * y, two = b.index(2), chosen = arith::select(arith::lt(x, two), large + 1, y);
  struct {
    Expr value;
    int32_t of_one, of_large;  ///< status where x is 1, and where x is 2^32 and x * y is 2^64
  } rows[] = {
      {chosen, 0, 0},
      {arith::select(arith::lt(x, two), y, large + 1), 0, 20},
      {arith::select(arith::logical_and(arith::lt(x, two), arith::lt(large, two)), two, y), 0, 0},
      {arith::select(arith::logical_or(arith::lt(x, two), arith::lt(large, two)), two, y), 0, 20},
      {arith::select(arith::lt(large, two), two, y), 0, 20},
      {chosen + arith::floordiv(y, large), 0, 20},  // by 2^64, which has wrapped to 0
      {arith::select(arith::lt(x, two), arith::floormod(y, large), chosen), 0, 0},
      {arith::max(large, chosen) - large, 0, 20},
  };
  for (bool after_many : {false, true}) {
    for (const auto& row : rows) {
      tir::PrimFunc f;
      f.name = "choice";
      f.checks.overflow_code = 20;
      f.params = {{out, {}}, {nullptr, x}, {nullptr, y}};
      std::vector<tir::Stmt> body;
      for (int i = 0; after_many && i < 300; ++i)
        body.push_back(b.store(out, {b.index(1)}, arith::cast(DType::i(64), y + (x + i))));
      body.push_back(b.store(out, {b.index(0)}, arith::cast(DType::i(64), row.value)));
      f.body = b.seq(std::move(body));
      auto jit = codegen_llvm::make_jit(testing::native_target(), {}, {});
      int64_t memory[4] = {}, small[] = {1, 3}, wide[] = {int64_t{1} << 32, int64_t{1} << 32};
      void* buffers[] = {memory};
      CAPTURE(after_many, &row - rows);
      CHECK(jit->run(f, buffers, small).code == row.of_one);
      memory[0] = -5;
      CHECK(jit->run(f, buffers, wide).code == row.of_large);
      CHECK((row.of_large == 0) == (memory[0] != -5));
    }
  }
}

TEST_CASE("an argument of a call that overflows is reported at the call, whatever guards came before", "[checks]") {
  arith::Context context;
  tir::Builder b(context);
  Var x = context.var("x"), y = context.var("y");
  tir::Guard guard;
  guard.condition = arith::ge(x * y, b.index(0)), guard.code = 21, guard.error_node = 3;
  tir::Invoke call{{}, "host.see", true, false, DType::i(32), {x * x}, -1};
  call.error_node = 7;
  tir::PrimFunc f;
  f.name = "sizes";
  f.checks.overflow_code = 20;
  f.params = {{nullptr, x}, {nullptr, y}};
  // The guard's own way out lies in the branch, where nothing that follows the branch may end.
  f.body = b.seq({b.branch(arith::lt(b.index(0), y), b.guard(guard)), b.invoke(call)});
  auto see = [](const std::string&, std::span<const tir::ExternalArg>) { return 0; };
  auto jit = codegen_llvm::make_jit(testing::native_target(), {}, see);
  const int64_t wide = int64_t{1} << 32;
  auto node_of = [&](int64_t first, int64_t second) {
    int64_t scalars[] = {first, second};
    tir::RunStatus status = jit->run(f, {}, scalars);
    CHECK(status.code == (first < wide ? 0 : 20));
    return status.node;
  };
  CHECK(node_of(2, 3) == -1);
  CHECK(node_of(wide, wide) == 3);
  CHECK(node_of(wide, 1) == 7);
  CHECK(node_of(wide, 0) == 7);
}

}  // namespace
}  // namespace relaxc
