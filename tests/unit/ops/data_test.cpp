// Gathers, scatters, tensors made of shapes, and what depends on data.
#include <catch2/catch.hpp>

#include "runtime-lite/include/relax_rt.h"
#include "tests/unit/ops/harness.h"

using namespace relaxc;
using namespace relaxc::test;

namespace {
using Ints = std::vector<int64_t>;
}

TEST_CASE("elements are gathered by index") {
  HostTensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  check(run_op("take", {x, longs({2}, {2, -3})}), {2, 2}, {5, 6, 1, 2});
  check(run_op("take", {x, longs({}, {1})}, {{"axis", 1}}), {3}, {2, 4, 6});
  check(run_op("take", {x, longs({2}, {7, -9})}, {{"mode", std::string("clip")}}), {2, 2}, {5, 6, 1, 2});
  check(run_op("take", {x, longs({2}, {4, -1})}, {{"mode", std::string("wrap")}}), {2, 2}, {3, 4, 5, 6});
  check(run_op("gather_elements", {x, longs({1, 2}, {2, -2})}), {1, 2}, {5, 4});
  check(run_op("gather_elements", {x, longs({3, 1}, {1, 0, 1})}, {{"axis", 1}}), {3, 1}, {2, 3, 6});
  check(run_op("gather_nd", {x, longs({2, 2}, {0, 1, -1, 0})}), {2}, {2, 5});
  check(run_op("gather_nd", {x, longs({2, 1}, {2, 0})}), {2, 2}, {5, 6, 1, 2});
  check(run_op("gather_nd", {floats({2, 2}, {1, 2, 3, 4}), longs({2, 1}, {1, 0})}, {{"batch_dims", 1}}), {2}, {2, 3});
}

TEST_CASE("an index outside of its axis ends the run") {
  for (double index : {3.0, -4.0}) {
    Program p;
    Value* x = p.input(floats({3}, {1, 2, 3}));
    CHECK(p.code({p.call("take", {x, p.input(longs({1}, {index}))})}) == RLX_INDEX_RANGE);
  }
  Program p;
  Value* x = p.input(floats({3}, {1, 2, 3}));
  CHECK(p.code({p.call("scatter_elements", {x, p.input(longs({1}, {5})), p.input(floats({1}, {1}))})}) ==
        RLX_INDEX_RANGE);
  Program q;
  Value* y = q.input(floats({2, 2}, {1, 2, 3, 4}));
  CHECK(q.code({q.call("gather_nd", {y, q.input(longs({1, 2}, {1, 2}))})}) == RLX_INDEX_RANGE);
}

TEST_CASE("updates are scattered in order") {
  HostTensor x = floats({4}, {1, 2, 3, 4});
  check(run_op("scatter_elements", {x, longs({3}, {1, -1, 1}), floats({3}, {7, 8, 9})}), {4}, {1, 9, 3, 8});
  check(run_op("scatter_elements", {x, longs({2}, {1, 1}), floats({2}, {7, 8})}, {{"reduction", std::string("add")}}),
        {4}, {1, 17, 3, 4});
  check(run_op("scatter_elements", {x, longs({2}, {1, 3}), floats({2}, {7, 1})}, {{"reduction", std::string("max")}}),
        {4}, {1, 7, 3, 4});
  HostTensor m = floats({2, 2}, {1, 2, 3, 4});
  check(run_op("scatter_nd", {m, longs({1, 1}, {1}), floats({1, 2}, {8, 9})}), {2, 2}, {1, 2, 8, 9});
  check(
      run_op("scatter_nd", {m, longs({2, 2}, {0, 1, 0, 1}), floats({2}, {3, 5})}, {{"reduction", std::string("mul")}}),
      {2, 2}, {1, 30, 3, 4});
}

TEST_CASE("tensors are made of shapes") {
  Program p;
  Value* size = p.shape({2, 2});
  auto out = p.run({p.call("full", {size, p.input(longs({1}, {7}))}), p.call("ones", {size}, {{"dtype", DType::i(8)}}),
                    p.call("arange", {p.shape({5, 3, -2})}),
                    p.call("range_of", {p.input(floats({}, {1})), p.input(floats({}, {0.5})), p.shape({3})}),
                    p.call("eye", {p.shape({2, 3})}, {{"k", 1}}),
                    p.call("one_hot", {p.input(longs({3}, {1, -1, 5})), p.input(floats({}, {5})),
                                       p.input(floats({}, {2})), p.shape({3})}),
                    p.call("trilu", {p.input(floats({2, 2}, {1, 2, 3, 4}))}),
                    p.call("trilu", {p.input(floats({2, 2}, {1, 2, 3, 4})), p.shape({-1})}, {{"upper", false}})});
  check(out[0], {2, 2}, {7, 7, 7, 7});
  check(out[1], {2, 2}, {1, 1, 1, 1});
  check(out[2], {3}, {5, 3, 1});
  check(out[3], {3}, {1, 1.5, 2});
  check(out[4], {2, 3}, {0, 1, 0, 0, 0, 1});
  check(out[5], {3, 3}, {2, 5, 2, 2, 2, 5, 2, 2, 2});
  check(out[6], {2, 2}, {1, 2, 0, 4});
  check(out[7], {2, 2}, {0, 0, 3, 0});
}

TEST_CASE("shapes become tensors and tensors shapes") {
  Program p;
  arith::Var n = p.symbol("n");
  Value* x = p.input(floats({3, 2}, {1, 2, 3, 4, 5, 6}), {n, p.index(2)});
  Value* dims = p.call("shape_to_tensor", {p.call("shape_of", {x})});
  Value* target = p.call("tensor_to_shape", {p.input(longs({2}, {2, 3}))});
  auto out = p.run({dims, p.call("reshape", {x, target})});
  check(out[0], {2}, {3, 2});
  check(out[1], {2, 3}, {1, 2, 3, 4, 5, 6});
  Program q;
  Value* y = q.input(floats({3}, {1, 2, 3}));
  CHECK(q.code({q.call("reshape", {y, q.call("tensor_to_shape", {q.input(longs({2}, {-3, -1}))})})}) ==
        RLX_DERIVED_DIM);
}

TEST_CASE("nonzero gives as many columns as there are") {
  Program p;
  Value* found = p.call("nonzero", {p.input(floats({2, 3}, {0, 5, 0, 1, 0, 2}))});
  Value* twice = p.call("add", {found, found});
  auto out = p.run({found, twice});
  check(out[0], {2, 3}, {0, 1, 1, 1, 0, 2});
  check(out[1], {2, 3}, {0, 2, 2, 2, 0, 4});
  check(run_op("nonzero", {floats({2}, {0, 0})}), {1, 0}, {});
}
