#include <catch2/catch.hpp>

#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {

HostTensor einsum(std::string equation, std::vector<HostTensor> operands) {
  return run_op("einsum", std::move(operands), {{"equation", std::move(equation)}});
}

}  // namespace

TEST_CASE("einsum of one, two and three operands") {
  HostTensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  HostTensor v = floats({3}, {1, 2, 3}), s = floats({2, 2}, {1, 2, 3, 4});
  check(einsum("ij,jk->ik", {a, b}), {2, 2}, {22, 28, 49, 64});
  check(einsum("ij, jk", {a, b}), {2, 2}, {22, 28, 49, 64});
  check(einsum("ij,jk->ki", {a, b}), {2, 2}, {22, 49, 28, 64});
  check(einsum("ij->ji", {a}), {3, 2}, {1, 4, 2, 5, 3, 6});
  check(einsum("ij->", {a}), {}, {21});
  check(einsum("ii->i", {s}), {2}, {1, 4});
  check(einsum("ii", {s}), {}, {5});
  check(einsum("i,i->", {v, v}), {}, {14});
  check(einsum("i,j->ij", {v, floats({2}, {1, 10})}), {3, 2}, {1, 10, 2, 20, 3, 30});
  check(einsum("i,i->i", {v, v}), {3}, {1, 4, 9});
  check(einsum("ij,j,k->ik", {a, v, floats({2}, {1, 10})}), {2, 2}, {14, 140, 32, 320});
  check(einsum("ij,k->k", {a, floats({2}, {1, 10})}), {2}, {21, 210});
}

TEST_CASE("an ellipsis matches batches that broadcast") {
  HostTensor a = floats({2, 1, 2}, {1, 2, 3, 4}), b = floats({2, 1}, {10, 1});
  check(einsum("...ij,jk->...ik", {a, b}), {2, 1, 1}, {12, 34});
  check(einsum("...ij,...jk->...ik", {a, floats({1, 2, 1}, {10, 1})}), {2, 1, 1}, {12, 34});
  check(einsum("...i->...", {a}), {2, 1}, {3, 7});
}

TEST_CASE("an equation that does not fit is refused") {
  HostTensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  auto message = [&](std::string equation) { return error_of("einsum", {a}, {{"equation", equation}}); };
  for (const char* equation : {"i->i", "ij,jk->ik", "ij->ik", "ij->ii", "i1->i", "...ijk->i"}) {
    INFO(equation);
    CHECK(message(equation) == "equation \"" + std::string(equation) + "\" of 'einsum' does not fit its 1 operands");
  }
  CHECK(error_of("einsum", {a, a}, {{"equation", std::string("ij,jk->ik")}}) ==
        "'einsum': dims of label j 3 and 2 differ");
}
