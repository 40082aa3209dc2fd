#include <catch2/catch.hpp>
#include <cmath>

#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {
using Ints = std::vector<int64_t>;
}  // namespace

TEST_CASE("reductions over some axes, all, or none") {
  HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 7});
  check(run_op("sum", {x}, {{"axis", Ints{1}}}), {2}, {6, 16});
  check(run_op("sum", {x}, {{"axis", Ints{-2}}, {"keepdims", true}}), {1, 3}, {5, 7, 10});
  check(run_op("sum", {x}), {}, {22});
  check(run_op("sum", {x}, {{"none_is_all", false}}), {2, 3}, {1, 2, 3, 4, 5, 7});
  check(run_op("prod", {x}, {{"axis", Ints{1}}}), {2}, {6, 140});
  check(run_op("max", {x}, {{"axis", Ints{0}}}), {3}, {4, 5, 7});
  check(run_op("min", {floats({3}, {2, kNan, 1})}), {}, {kNan});
  check(run_op("max", {floats({2, 0}, {})}, {{"axis", Ints{1}}}), {2}, {-kInf, -kInf});
  check(run_op("sum", {floats({2, 0}, {})}, {{"axis", Ints{1}}}), {2}, {0, 0});
  check(run_op("all", {tensor(DType::boolean(), {2, 2}, {1, 0, 1, 1})}, {{"axis", Ints{1}}}), {2}, {0, 1});
  check(run_op("max", {tensor(DType::i(8), {2}, {-128, -5})}), {}, {-5});
  check(run_op("min", {tensor(DType::u(8), {2}, {200, 255})}), {}, {200});
  CHECK(error_of("sum", {x}, {{"axis", Ints{2}}}) == "axis 2 of 'sum' is outside -2..1");
  CHECK(error_of("sum", {x}, {{"axis", Ints{1, -1}}}) == "axis 1 of 'sum' is given twice");
}

TEST_CASE("means and variances") {
  HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 9});
  check(run_op("mean", {x}, {{"axis", Ints{1}}}), {2}, {2, 6});
  check(run_op("variance", {x}, {{"axis", Ints{1}}, {"keepdims", true}}), {2, 1}, {2.0 / 3, 14.0 / 3});
  check(run_op("std", {x}, {{"axis", Ints{1}}}), {2}, {std::sqrt(2.0 / 3), std::sqrt(14.0 / 3)});
  check(run_op("log_sum_exp", {floats({2}, {1000, 1000})}), {}, {1000 + std::log(2.0)});
  check(run_op("log_sum_exp", {floats({2}, {-kInf, -kInf})}), {}, {-kInf});
  // 2048 ones: a float16 sum would stop at 2048 even for 4096 of them.
  check(run_op("mean", {tensor(DType::f(16), {4096}, std::vector<double>(4096, 1.0))}), {}, {1}, 0);
  check(run_op("sum", {tensor(DType::f(16), {4096}, std::vector<double>(4096, 1.0))}), {}, {4096}, 0);
  Program p;
  Value* rows = p.input(floats({3, 2}, {1, 2, 3, 4, 5, 6}), {p.symbol("n"), p.index(2)});
  check(p.run({p.call("mean", {rows}, {{"axis", Ints{0}}})}).at(0), {2}, {3, 4});
}

TEST_CASE("softmax and related operators") {
  HostTensor x = floats({2, 3}, {1, 2, 3, 1000, 1000, -kInf});
  double e = std::exp(-1.0), f = std::exp(-2.0), s = 1 + e + f;
  check(run_op("nn.softmax", {x}), {2, 3}, {f / s, e / s, 1 / s, 0.5, 0.5, 0});
  check(run_op("nn.softmax", {floats({2, 1}, {5, 5})}, {{"axis", 0}}), {2, 1}, {0.5, 0.5});
  check(run_op("nn.log_softmax", {x}), {2, 3},
        {-2 - std::log(s), -1 - std::log(s), -std::log(s), -std::log(2.0), -std::log(2.0), -kInf});
  check(run_op("nn.hardmax", {x}), {2, 3}, {0, 0, 1, 1, 0, 0});
  check(run_op("nn.softmax", {floats({0, 3}, {})}), {0, 3}, {});
  check(run_op("nn.softmax", {tensor(DType::f(16), {2}, {1, 1})}), {2}, {0.5, 0.5}, 0);
}

TEST_CASE("positions of extremes, sorts and running sums") {
  HostTensor x = floats({2, 4}, {3, 1, 3, 2, kNan, 5, 0, 0});
  check(run_op("argmax", {x}, {{"axis", 1}}), {2}, {0, 0});
  check(run_op("argmax", {x}, {{"axis", 1}, {"select_last", true}}), {2}, {2, 0});
  check(run_op("argmin", {x}, {{"axis", -1}, {"keepdims", true}}), {2, 1}, {1, 0});
  check(run_op("argmax", {x}, {{"axis", 0}}), {4}, {1, 1, 0, 0});
  check(run_op("sort", {x}), {2, 4}, {1, 2, 3, 3, 0, 0, 5, kNan});
  check(run_op("argsort", {x}, {{"descending", true}}), {2, 4}, {0, 2, 3, 1, 0, 1, 2, 3});
  check(run_op("argsort", {floats({7}, {5, 3, 3, 9, 1, 3, 0})}), {7}, {6, 4, 1, 2, 5, 0, 3});
  Program p;
  auto top = p.run(p.call_many("topk", {p.input(floats({5}, {4, 7, 1, 7, 5})), p.shape({3})}));
  check(top.at(0), {3}, {7, 7, 5});
  check(top.at(1), {3}, {1, 3, 4});
  HostTensor c = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  check(run_op("cumsum", {c}, {{"axis", 1}}), {2, 3}, {1, 3, 6, 4, 9, 15});
  check(run_op("cumsum", {c}, {{"axis", 0}, {"reverse", true}}), {2, 3}, {5, 7, 9, 4, 5, 6});
  check(run_op("cumsum", {c}, {{"axis", 1}, {"exclusive", true}}), {2, 3}, {0, 1, 3, 0, 4, 9});
  check(run_op("cumprod", {c}, {{"axis", 1}}), {2, 3}, {1, 2, 6, 4, 20, 120});
}

TEST_CASE("sum_to undoes a broadcast, also where only a run knows the dims") {
  const HostTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Program p;
  Value* known = p.input(x);
  Value* open = p.input(x, {p.symbol("n"), p.symbol("m")});
  Value* like = p.input(floats({1, 3}, {0, 0, 0}), {p.symbol("k"), p.index(3)});
  Value* to_like = p.builder.shape({like->shape()[0], like->shape()[1]});
  auto results = p.run({p.call("sum_to", {known, p.shape({2, 3})}), p.call("sum_to", {known, p.shape({1, 3})}),
                        p.call("sum_to", {known, p.shape({2, 1})}), p.call("sum_to", {known, p.shape({3})}),
                        p.call("sum_to", {known, p.shape({})}), p.call("sum_to", {open, to_like})});
  check(results.at(0), {2, 3}, {1, 2, 3, 4, 5, 6});
  check(results.at(1), {1, 3}, {5, 7, 9});
  check(results.at(2), {2, 1}, {6, 15});
  check(results.at(3), {3}, {5, 7, 9});
  check(results.at(4), {}, {21});
  check(results.at(5), {1, 3}, {5, 7, 9});
}
