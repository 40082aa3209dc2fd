// ngrams.cpp: counts the n-grams of a dictionary in sequences of symbols.
//
// `grams` lists where each n-gram begins in `pool` and which column counts it; those of one length are contiguous, in
// lexicographic order, and `lengths` has rows of (length, begin, end). So each position of a row is looked up by binary
// search, and the work grows with the logarithm of the dictionary. An n-gram may have gaps in the row: its symbols then
// are 2, 3, … max_skip + 1 apart; single symbols count once. Subscripts that a valid table does not have are clamped to
// it.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops::ngrams_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"pool"}, {"grams"}, {"lengths"}};
constexpr AttrDef kAttrs[] = {{"columns", AttrType::kInt, true}, {"max_skip", AttrType::kInt, false, "0"}};
constexpr DType kI64 = DType::i(64);

InferResult infer(InferContext& c) {
  for (size_t k = 0; k < 4; ++k) {
    RELAXC_TRY(const TensorInfo* table, index_tensor(c, k));
    static_cast<void>(table);
  }
  auto info = [&](size_t k) { return c.op.operand(k)->info->as<TensorInfo>(); };
  bool fits = info(0)->ndim == 2 && info(1)->ndim == 1 && info(2)->ndim == 2 && info(3)->ndim == 2 &&
              *info(0)->dtype == *info(1)->dtype && (*info(2)->shape)[1].is_constant(2) &&
              (*info(3)->shape)[1].is_constant(3);
  if (!fits)
    return c.error(Kind::shape_mismatch, "'ngram_counts' of {} with tables {}, {} and {}",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info), to_string(c.op.operand(2)->info),
                   to_string(c.op.operand(3)->info));
  int64_t columns = c.op.attrs.integer("columns"), skip = c.op.attrs.integer("max_skip");
  if (columns < 1 || skip < 0 || skip > INT32_MAX)
    return c.error(Kind::invalid_attribute, "'ngram_counts' needs columns >= 1 and max_skip >= 0");
  return one(tensor_info(c.context, Dims{(*info(0)->shape)[0], c.context.index(columns)}, DType::f(32)));
}

class NgramCounts {
 public:
  explicit NgramCounts(DefineContext& d)
      : d_(d), b_(d.builder), x_(d.input(0)), pool_(d.input(1)), grams_(d.input(2)), y_(d.output()) {
    zero_ = b_.index(0);
    low_ = scalar("low"), high_ = scalar("high"), order_ = scalar("order");
  }

  Stmt run() {
    BufferRef lengths = d_.input(3);
    auto entry = [&](Var k, int64_t field) { return cast(DType::index(), b_.load(lengths, {k, b_.index(field)})); };
    Stmt rows = b_.loop("row", x_->shape[0], [&](Var row) {
      Stmt clear = b_.loop("column", y_->shape[1], [&](Var t) {
        return b_.store(y_, {row, t}, d_.context().zero(y_->dtype));
      });
      Stmt count = b_.loop("k", lengths->shape[0], [&](Var k) {
        return b_.let("length", arith::max(b_.index(1), entry(k, 0)), [&](Var length) {
          return b_.let("begin", arith::max(zero_, entry(k, 1)), [&](Var begin) {
            return b_.let("end", arith::min(grams_->shape[0], entry(k, 2)),
                          [&](Var end) { return places(row, length, begin, end); });
          });
        });
      });
      return b_.seq({clear, count});
    });
    return b_.alloc(low_, b_.alloc(high_, b_.alloc(order_, rows)));
  }

 private:
  BufferRef scalar(std::string name) { return b_.buffer(std::move(name), kI64, {b_.index(1)}, tir::Scope::kLocal); }
  Expr get(BufferRef s) { return cast(DType::index(), b_.load(s, {zero_})); }
  Stmt set(BufferRef s, Expr value) { return b_.store(s, {zero_}, cast(kI64, value)); }
  Expr within(Expr at, Expr extent) { return arith::max(zero_, arith::min(at, extent - 1)); }

  /// Looks n-grams of this length up at every start in the row where one fits, for every distance between its symbols.
  Stmt places(Var row, Var length, Var begin, Var end) {
    Expr single = arith::eq(length, b_.index(1));
    Expr distances = select(single, b_.index(1), b_.index(d_.attrs().integer("max_skip") + 1));
    return b_.loop("skip", distances, [&](Var skip) {
      return b_.let("distance", Expr(skip) + 1, [&](Var distance) {
        Expr room = arith::max(zero_, x_->shape[1] - (Expr(length) - 1) * distance);
        return b_.loop("start", room, [&](Var start) { return look_up(row, length, begin, end, distance, start); });
      });
    });
  }

  Stmt look_up(Var row, Var length, Var begin, Var end, Var distance, Var start) {
    auto compare = [&](Expr gram) { return compare_with(gram, row, length, distance, start); };
    Stmt half = b_.let("middle", arith::floordiv(get(low_) + get(high_), 2), [&](Var middle) {
      return b_.seq(
          {compare(middle), b_.branch(arith::lt(get(order_), zero_), set(low_, Expr(middle) + 1), set(high_, middle))});
    });
    Expr target = cast(DType::index(), b_.load(grams_, {within(get(low_), grams_->shape[0]), b_.index(1)}));
    Stmt add = b_.let("column", within(target, y_->shape[1]), [&](Var column) {
      return b_.store(y_, {row, column}, b_.load(y_, {row, column}) + d_.context().number(y_->dtype, 1));
    });
    Stmt hit = b_.seq({compare(get(low_)), b_.branch(arith::eq(get(order_), zero_), add)});
    return b_.seq({set(low_, begin), set(high_, end), b_.loop_while(arith::lt(get(low_), get(high_)), half),
                   b_.branch(arith::lt(get(low_), end), hit)});
  }

  /// Sets `order_` to -1 or 1 if the n-gram sorts before or after the symbols at `start`, and to 0 if it matches them.
  Stmt compare_with(Expr gram, Var row, Var length, Var distance, Var start) {
    return b_.let("from", cast(DType::index(), b_.load(grams_, {within(gram, grams_->shape[0]), zero_})),
                  [&](Var from) {
                    Stmt steps = b_.loop("j", length, [&](Var j) {
                      Expr a = b_.load(pool_, {within(Expr(from) + j, pool_->shape[0])});
                      Expr b = b_.load(x_, {row, Expr(start) + Expr(j) * distance});
                      auto decide = [&](Expr condition, int64_t order) {
                        return b_.branch(condition, b_.seq({set(order_, b_.index(order)), b_.leave_loop()}));
                      };
                      return b_.seq({decide(arith::lt(a, b), -1), decide(arith::lt(b, a), 1)});
                    });
                    return b_.seq({set(order_, zero_), steps});
                  });
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, pool_, grams_, y_, low_, high_, order_;
  Expr zero_;
};

Stmt define(DefineContext& d) {
  return NgramCounts(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "ngram_counts",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "counts of the n-grams of sorted tables (ngrams.cpp) in each row of symbols, by column, as float32"},
};

}  // namespace
}  // namespace relaxc::ops::ngrams_family

RELAXC_OPERATORS(ngrams, kOps)
