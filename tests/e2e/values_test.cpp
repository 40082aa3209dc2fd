// values_test.cpp: shapes and scalars as values, through calls, branches, loops and casts, from text to objects.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/e2e/counting_allocator.h"

namespace relaxc::e2e {
namespace {

TEST_CASE("functions take and give shapes, scalars and nested tuples, and read shapes from arguments") {
  CompiledProgram program("tests/e2e/programs/values_in_calls.relax");
  for (auto [rows, columns] : {std::pair<double, double>{2, 6}, {3, 4}, {12, 1}}) {
    auto found =
        program.run({floats({12}, 1), ints({rows, columns}), scalar(DType::f(32), 0.5), scalar(DType::i(64), 3)});
    REQUIRE(found.size() == 7);
    CHECK(found[0].shape == std::vector<int64_t>{int64_t(rows), int64_t(columns)});
    CHECK(values_of(found[0])[4] == 1);
    CHECK(values_of(found[1]) == std::vector<double>{columns, rows});
    CHECK(values_of(found[2])[0] == (rows < columns));
    CHECK(found[3].shape == std::vector<int64_t>{18});
    CHECK(values_of(found[4])[0] == 0.25);
    CHECK(values_of(found[5]) == std::vector<double>{12, 3});
  }
  CHECK_THAT(program.refusal({floats({12}), ints({5, 2}), scalar(DType::f(32), 1), scalar(DType::i(64), 0)}),
             Catch::Contains("DERIVED_DIM"));
}

TEST_CASE("a scalar and a shape among the parameters give the dims of a tensor") {
  CompiledProgram program("tests/e2e/programs/shape_arguments.relax");
  auto found = program.run({scalar(DType::i(64), 2), ints({5, 3}), floats({4, 6})});
  REQUIRE(found.size() == 4);
  CHECK(values_of(found[0])[1] == 0.5);
  CHECK(values_of(found[1])[0] == 1);
  CHECK(values_of(found[2]) == std::vector<double>{7, 5});
  CHECK(found[3].shape == std::vector<int64_t>{7, 5});
  CHECK_THAT(program.refusal({scalar(DType::i(64), 3), ints({5, 3}), floats({4, 6})}), Catch::Contains("DERIVED_DIM"));
  CHECK_THAT(program.refusal({scalar(DType::i(64), 2), ints({5, 4}), floats({4, 6})}), Catch::Contains("STATIC_DIM"));
}

TEST_CASE("shapes go through branches, closures, recursion and nested tuples, also where data decides them") {
  CompiledProgram program("tests/e2e/programs/shapes_everywhere.relax");
  CountingAllocator allocator(program);
  for (bool some : {false, true})
    for (double k : {0, 1, 2, 3})
      for (int64_t n : {2, 5}) {
        auto found =
            program.run({floats({n}, -0.25), scalar(DType::boolean(), some), scalar(DType::i(64), k), ints({1, 2})});
        REQUIRE(found.size() == 8);
        int64_t p = some ? n - 1 : 2 * n;
        CHECK(found[0].shape == std::vector<int64_t>{p});
        CHECK(values_of(found[3])[0] == static_cast<double>(some ? 2 * p : n - 1));
        CHECK(values_of(found[4]) == std::vector<double>{2, 1, static_cast<double>(p)});
        CHECK(found[5].shape == std::vector<int64_t>{1, std::min<int64_t>(2, p)});
        CHECK(values_of(found[6])[0] == 7);
      }
}

TEST_CASE("a callee is never given a result of negative extent") {
  CompiledProgram program("tests/e2e/programs/cut_short.relax");
  HostTensor narrow = scalar(DType::boolean(), 0), wide = scalar(DType::boolean(), 1);
  CHECK(values_of(program.run({floats({5}), narrow})[0])[0] == 0.25 + 0.5 + 0.75);
  CHECK(values_of(program.run({floats({2}), narrow})[0])[0] == 0);
  CHECK(values_of(program.run({floats({4}), wide})[0])[0] == 0);
  CHECK_THAT(program.refusal({floats({1}), narrow}), Catch::Contains("DERIVED_DIM"));
  CHECK_THAT(program.refusal({floats({3}), wide}), Catch::Contains("DATA_BOUND"));
}

TEST_CASE("branches give shapes, scalars of any dtype and tuples of tensors") {
  CompiledProgram program("tests/e2e/programs/values_in_branches.relax");
  for (std::vector<int64_t> shape : {std::vector<int64_t>{2, 5}, {5, 2}, {3, 3}, {1, 1}})
    for (double flag : {0, 1}) {
      auto found = program.run({floats(shape, -1), scalar(DType::boolean(), flag), scalar(DType::f(32), 1.5)});
      bool wide = shape[0] > shape[1], both = flag != 0 && shape[0] < 4;
      std::vector<int64_t> turned = {shape[1], shape[0]};
      CHECK(found[0].shape == (both ? shape : turned));
      CHECK(values_of(found[5])[0] == (wide ? 3 : 1.5));
    }
}

TEST_CASE("loops carry shapes, scalars and tuples of both") {
  CompiledProgram program("tests/e2e/programs/values_in_loops.relax");
  for (double trips : {0, 1, 2, 5}) {
    auto found = program.run({floats({3}, 1), scalar(DType::i(64), trips), scalar(DType::f(32), 2)});
    REQUIRE(found.size() == 3);
    double grown = static_cast<double>(int64_t(trips) / 2), other = static_cast<double>((int64_t(trips) + 1) / 2);
    std::vector<double> even = {3 + grown, 1 + other}, odd = {1 + grown, 3 + other};
    CHECK(values_of(found[0]) == (int64_t(trips) % 2 == 0 ? even : odd));
  }
}

TEST_CASE("what a cast pins is the interface, and each guard names what it found") {
  CompiledProgram program("tests/e2e/programs/casts_of_unknown.relax");
  // n = 2, m = 3, a = 5
  auto inputs = [] {
    return std::vector<HostTensor>{floats({2, 3}, 1), floats({2}, 2),          ints({3, 5}),     floats({5, 4}, -1),
                                   ints({4, 3}),      scalar(DType::i(64), 5), floats({7, 1}, 1)};
  };
  REQUIRE(program.run(inputs()).size() == 5);
  auto broken = [&](size_t index, HostTensor other) {
    std::vector<HostTensor> all = inputs();
    all[index] = std::move(other);
    return program.refusal(all);
  };
  CHECK_THAT(broken(0, tensor(DType::i(32), {2, 3}, std::vector<double>(6))), Catch::Contains("DTYPE"));
  CHECK_THAT(broken(0, floats({6})), Catch::Contains("RANK"));
  CHECK_THAT(broken(1, floats({3})), Catch::Contains("SYMBOL_EQUALITY"));
  CHECK_THAT(broken(2, ints({4, 5})), Catch::Contains("expected 3, actual 4"));
  CHECK_THAT(broken(3, floats({5, 5})), Catch::Contains("STATIC_DIM"));
  CHECK_THAT(broken(4, ints({5, 3})), Catch::Contains("expected 4, actual 5"));
  CHECK_THAT(broken(5, scalar(DType::i(64), 6)), Catch::Contains("expected 5, actual 6"));
}

}  // namespace

TEST_CASE("integers of less than a byte wrap at their own width, in every pair of values") {
  CompiledProgram program("tests/e2e/programs/narrow_integers.relax");
  const DType kTypes[] = {DType::i(4), DType::u(4), DType::i(2), DType::u(2)};
  for (uint32_t entry = 0; entry < 4; ++entry) {
    int bits = kTypes[entry].bits;
    double least = kTypes[entry].is_int() ? -(1 << (bits - 1)) : 0;
    std::vector<double> x, y;
    for (int pair = 0; pair < 1 << (2 * bits); ++pair) {
      x.push_back(least + pair % (1 << bits));
      y.push_back(least + pair / (1 << bits));
    }
    auto count = static_cast<int64_t>(x.size());
    std::vector<HostTensor> results =
        program.run({tensor(kTypes[entry], {count}, x), tensor(kTypes[entry], {count}, y)}, entry);
    std::vector<double> sums = values_of(results[0]);
    for (size_t i = 0; i < sums.size(); ++i) {
      double range = 1 << bits, sum = x[i] + y[i];
      CHECK(sums[i] == sum - std::floor((sum - least) / range) * range);
    }
  }
  std::vector<double> numbers;
  for (int i = -40; i <= 40; ++i) numbers.push_back(i);
  auto count = static_cast<int64_t>(numbers.size());
  std::vector<HostTensor> casts =
      program.run({tensor(DType::f(32), {count}, numbers), tensor(DType::i(32), {count}, numbers)}, 4);
  CHECK(values_of(casts[0])[0] == -8);  // floats saturate
  CHECK(values_of(casts[3])[80] == 3);
  CHECK(values_of(casts[4])[49] == -7);  // integers wrap: 9
  CHECK(values_of(casts[7])[80] == 0);
}

}  // namespace relaxc::e2e
