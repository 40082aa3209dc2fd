// info_order_test.cpp: struct infos are a lattice: its laws hold of random infos, nested tuples and functions included.
#include <catch2/catch.hpp>

#include <random>

#include "compiler/relax/struct_info.h"

namespace relaxc::relax {
namespace {

/// Infos of few symbols, dims and dtypes, so that pairs are often comparable.
class RandomInfos {
 public:
  explicit RandomInfos(Context& context) : context_(context), n_(context.var("n")), m_(context.var("m")) {}

  Info next(int depth = 2) {
    switch (pick(depth > 0 ? 8 : 5)) {
      case 0:
        return object_info(context_);
      case 1:
        return prim_info(context_, DType::index(), pick(2) == 0 ? Expr() : number());
      case 2:
        return prim_info(context_, pick(2) == 0 ? DType::boolean() : DType::f(32));
      case 3:
        return pick(2) == 0 ? shape_info(context_, pick(3) - 1) : shape_info(context_, numbers());
      case 5:
      case 6: {
        std::vector<Info> fields;
        for (int i = pick(3); i > 0; --i) fields.push_back(next(depth - 1));
        return tuple_info(context_, std::move(fields));
      }
      case 7:
        return callable_info(context_, {}, {next(depth - 1)}, next(depth - 1), pick(2) == 0);
      default:
        break;
    }
    std::optional<DType> dtype;
    if (pick(3) > 0) dtype = pick(2) == 0 ? DType::f(32) : DType::i(8);
    return pick(2) == 0 ? tensor_info(context_, pick(3) - 1, dtype) : tensor_info(context_, numbers(), dtype);
  }

  arith::Substitution renaming() { return {{n_, number()}, {m_, number()}}; }
  Var n() const { return n_; }
  Var m() const { return m_; }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  Expr number() {
    Expr choices[] = {n_, m_, n_ * 2, n_ + m_, context_.index(4)};
    return choices[pick(5)];
  }
  std::vector<Expr> numbers() {
    std::vector<Expr> list;
    for (int i = pick(3); i > 0; --i) list.push_back(number());
    return list;
  }

  Context& context_;
  Var n_, m_;
  std::mt19937 random_{7};
};

TEST_CASE("subsumption is reflexive, transitive and, both ways, sameness") {
  Context context;
  RandomInfos infos(context);
  std::vector<Info> all;
  for (int i = 0; i < 160; ++i) all.push_back(infos.next());
  int related = 0;
  for (Info a : all) {
    REQUIRE(subsumes(a, a));
    REQUIRE(same(a, a));
    for (Info b : all) {
      if (!subsumes(a, b)) continue;
      ++related;
      if (subsumes(b, a)) REQUIRE(same(a, b));
      for (Info c : all)
        if (subsumes(b, c)) REQUIRE(subsumes(a, c));
    }
  }
  CHECK(related > 2000);
}

TEST_CASE("the join of two infos is an upper bound, whichever comes first") {
  Context context;
  RandomInfos infos(context);
  int precise = 0;
  for (int i = 0; i < 4000; ++i) {
    Info a = infos.next(), b = infos.next(), joined = join(context, a, b);
    INFO(to_string(a) << " and " << to_string(b) << " give " << to_string(joined));
    REQUIRE(subsumes(joined, a));
    REQUIRE(subsumes(joined, b));
    REQUIRE(same(joined, join(context, b, a)));
    if (subsumes(a, b)) REQUIRE(same(joined, a));
    precise += joined->kind != InfoKind::kObject;
  }
  CHECK(precise > 200);
}

TEST_CASE("numbers that differ are what the caller of join puts in their place") {
  Context context;
  Var n = context.var("n"), m = context.var("m"), k = context.var("k");
  auto number = [&](Expr a, Expr b) -> Expr { return a == b ? a : k; };
  Info a = tuple_info(context, {tensor_info(context, {n, n}, DType::f(32)), shape_info(context, {n})});
  Info b = tuple_info(context, {tensor_info(context, {n, m}, DType::f(32)), shape_info(context, {m})});
  CHECK(to_string(join(context, a, b, number)) == "R.Tuple(R.Tensor((n, k), dtype=\"float32\"), R.Shape([k]))");
  CHECK(to_string(join(context, a, b)) == "R.Tuple(R.Tensor(dtype=\"float32\", ndim=2), R.Shape(ndim=1))");
}

TEST_CASE("substitution keeps what subsumes and what is the same, and composes") {
  Context context;
  RandomInfos infos(context);
  for (int i = 0; i < 2000; ++i) {
    Info a = infos.next(1), b = infos.next(1);
    arith::Substitution first = infos.renaming(), second = infos.renaming();
    Info x = substitute(context, a, first), y = substitute(context, b, first);
    INFO(to_string(a) << " and " << to_string(b));
    if (subsumes(a, b)) REQUIRE(subsumes(x, y));
    if (same(a, b)) REQUIRE(same(x, y));
    arith::Substitution both;
    for (const auto& [var, value] : first) both.emplace(var, arith::substitute(value, second));
    REQUIRE(same(substitute(context, x, second), substitute(context, a, both)));
  }
}

TEST_CASE("facts make more dims comparable") {
  Context context;
  Var n = context.var("n"), m = context.var("m");
  Info wanted = tensor_info(context, {n * 4}, DType::f(32)), given = tensor_info(context, {m}, DType::f(32));
  CHECK_FALSE(subsumes(wanted, given));
  arith::Facts facts;
  facts.assume(arith::eq(m, n * 4));
  CHECK(subsumes(wanted, given, facts));
}

TEST_CASE("function types are contravariant in parameters and covariant in results") {
  Context context;
  Info any = object_info(context), tensor = tensor_info(context, 2, DType::f(32));
  Info wide = callable_info(context, {}, {any}, tensor), narrow = callable_info(context, {}, {tensor}, any);
  CHECK(subsumes(narrow, wide));
  CHECK_FALSE(subsumes(wide, narrow));
  CHECK_FALSE(subsumes(wide, callable_info(context, {}, {any}, tensor, false)));
  CHECK(subsumes(callable_info(context, {}, {any}, tensor, false), wide));
}

TEST_CASE("symbols are listed in order of first occurrence, in every kind of info") {
  Context context;
  Var n = context.var("n"), m = context.var("m"), b = context.var("b", DType::boolean());
  Info info = tuple_info(context, {shape_info(context, {m * 2}), tensor_info(context, {n, m}, std::nullopt),
                                   prim_info(context, DType::boolean(), b)});
  CHECK(symbols_of(info) == std::vector<Var>{m, n, b});
  CHECK(to_string(info) == "R.Tuple(R.Shape([m * 2]), R.Tensor((n, m)), R.Prim(\"bool\", value=b))");
}

}  // namespace
}  // namespace relaxc::relax
