// Donors: what they hold fits, ends before they are written, and overlaps nothing that is needed with it.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/plan/donors.h"

namespace relaxc::plan {
namespace {

struct Program {
  Context context;
  arith::Var n = context.var("n");
  arith::Facts facts;
  std::vector<Piece> pieces;
  std::vector<Donor> donors;

  explicit Program(int64_t least) { facts.bound(n, arith::Range::at_least(least)); }

  Size size(int64_t elements, bool symbolic) {
    std::vector<Expr> dims{context.index(elements)};
    if (symbolic) dims.push_back(n);
    return size_of(context, dims, 4);
  }
  int64_t value(Expr e, int64_t at) const {
    return arith::evaluate(e, [&](arith::Var) { return at; }).value();
  }
};

void require_right(Program& p, const DonatedStorage& donated, int64_t at) {
  int64_t arena = p.value(donated.storage.bytes, at);
  for (size_t i = 0; i < p.pieces.size(); ++i) {
    const Piece& piece = p.pieces[i];
    int64_t begin = p.value(donated.storage.offsets[i], at), end = begin + p.value(to_expr(p.context, piece.size), at);
    REQUIRE(begin >= 0);
    REQUIRE(begin % piece.alignment == 0);
    if (donated.donors[i] < 0) {
      REQUIRE(end <= arena);
    } else {
      const Donor& donor = p.donors.at(static_cast<size_t>(donated.donors[i]));
      int64_t most_skipped = donated.lines[i] && begin < end ? kAlignment - donor.alignment : 0;
      REQUIRE(end + most_skipped <= p.value(to_expr(p.context, donor.size), at));
      REQUIRE(piece.last < donor.until);
      REQUIRE((piece.alignment <= donor.alignment || donated.lines[i]));
    }
    for (size_t k = 0; k < i; ++k) {
      if (donated.donors[k] != donated.donors[i] || !piece.meets(p.pieces[k])) continue;
      int64_t other = p.value(donated.storage.offsets[k], at);
      int64_t other_end = other + p.value(to_expr(p.context, p.pieces[k].size), at);
      REQUIRE((end <= other || other_end <= begin || begin == end || other == other_end));
    }
  }
}

TEST_CASE("what is placed in a donor fits, ends in time and overlaps nothing, for any value of the symbols") {
  std::mt19937 random(5);
  int used = 0;
  for (int round = 0; round < 150; ++round) {
    Program p(round % 2);
    bool symbolic = round % 3 != 0;
    for (size_t i = 1 + random() % 15; i > 0; --i) {
      uint32_t first = random() % 30;
      p.pieces.push_back({p.size(1 + random() % 200, symbolic && random() % 4 != 0), first,
                          first + static_cast<uint32_t>(random() % 8), random() % 8 == 0 ? kAlignment : 4});
    }
    for (size_t i = random() % 3; i > 0; --i)
      p.donors.push_back({p.size(1 + random() % 400, symbolic && random() % 4 != 0), uint32_t(random() % 40), 4});
    DonatedStorage donated = assign_with_donors(p.context, p.pieces, p.donors, p.facts);
    REQUIRE(donated.donors.size() == p.pieces.size());
    for (int donor : donated.donors) used += donor >= 0;
    for (int64_t at : {1, 2, 7, 64, 1000}) require_right(p, donated, at);
    if (round % 2 == 0) require_right(p, donated, 0);
  }
  CHECK(used > 50);
}

TEST_CASE("a large output holds the activations before it") {
  Program p(1);
  p.pieces = {{p.size(1000, true), 0, 2, 4}, {p.size(900, true), 1, 3, 4}, {p.size(10, true), 3, 5, 4}};
  p.donors = {{p.size(1000, true), 4, 4}};
  DonatedStorage donated = assign_with_donors(p.context, p.pieces, p.donors, p.facts);
  CHECK(donated.donors == std::vector<int>{0, -1, -1});
  CHECK(p.value(donated.storage.bytes, 100) < 4 * 1000 * 100);
}

TEST_CASE("multiples of one symbol are stacked in a donor") {
  Program p(1);
  p.pieces = {{p.size(600, true), 0, 2, 4}, {p.size(350, true), 1, 3, 4}, {p.size(100, true), 2, 5, 4}};
  p.donors = {{p.size(1000, true), 4, 4}};
  DonatedStorage donated = assign_with_donors(p.context, p.pieces, p.donors, p.facts);
  CHECK(donated.donors == std::vector<int>{0, 0, -1});
  CHECK(p.value(donated.storage.offsets[1], 100) >= 4 * 600 * 100);
  for (int64_t n : {0, 1, 77}) require_right(p, donated, n);
}

TEST_CASE("what needs cache-line alignment gets it in a donor that is larger by almost a line") {
  for (int64_t spare : {14, 15}) {
    Program p(1);
    p.pieces = {{p.size(1000, false), 0, 2, kAlignment}, {p.size(300, false), 3, 5, 4}};
    p.donors = {{p.size(1000 + spare, false), 4, 4}};
    DonatedStorage donated = assign_with_donors(p.context, p.pieces, p.donors, p.facts);
    CHECK(donated.donors == std::vector<int>{spare == 15 ? 0 : -1, -1});
    CHECK(donated.lines[0] == (spare == 15));
    require_right(p, donated, 1);
  }
}

TEST_CASE("a donor that changes nothing is left alone") {
  Program p(1);
  // What is largest is needed until the output is written; what fits does not decide.
  p.pieces = {{p.size(1000, false), 5, 9, 4}, {p.size(10, false), 0, 1, 4}};
  p.donors = {{p.size(10, false), 9, 4}};
  CHECK(assign_with_donors(p.context, p.pieces, p.donors, p.facts).donors == std::vector<int>{-1, -1});
}

}  // namespace
}  // namespace relaxc::plan
