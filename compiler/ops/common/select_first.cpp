// select_first.cpp: see select_first.h.
//
// A bisection over the range of keys, which counts the keys up to its middle (vectors do that at the speed of the
// cache), finds a bound that at least k keys do not exceed, and few more. Then the keys up to the bound are taken in
// one pass, in the order of their positions, and sorted. The bisection ends if at most k / 8 keys are too many, or at a
// single key; of keys equal to that, no more than needed for k are taken.
//
// If k is much smaller than n, the bisection runs on the least keys of blocks of 64 elements: k blocks whose least does
// not exceed a bound have k such elements. So elements are read once, and again only in blocks that have such elements.
//
// For larger k the bisection first runs on columns of 8 keys that are n / 8 apart: k columns whose least key does not
// exceed a bound have k such keys. In random rows a few more keys are up to it; in sorted rows hardly any, in either
// direction, since columns are spread over the row. If there are many more, the bisection runs on all keys as above.
//
// Only branches depend on the order of the data. Rejected: a heap, which on sorted data changes with every element; a
// list of elements above a rising threshold, for the same reason; a bound estimated from a sample.
#include "compiler/ops/common/select_first.h"

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/sort_key.h"

namespace relaxc::ops {
namespace {

constexpr int64_t kSortedWhole = 32;    ///< rows of at most this many elements are sorted completely
constexpr int64_t kKeysOfBlock = 64;    ///< elements of a block: a few vectors, which find the least key
constexpr int64_t kBlocksOfFirst = 4;   ///< blocks for each of the k elements, from which on blocks pay
constexpr int64_t kFewMore = 16;        ///< surplus elements that are accepted in addition to k / 8
constexpr int64_t kKeysOfColumn = 8;    ///< keys of a column, each from another part of the row
constexpr int64_t kColumnsOfFirst = 2;  ///< columns for each of the k elements, from which on columns pay
constexpr int64_t kKeysOfChunk = 16;    ///< keys that are skipped together if all of them exceed the bound

}  // namespace

SelectFirst::SelectFirst(tir::Builder& b, DType element, Expr n, Expr k, bool descending,
                         std::function<Expr(Expr)> element_at)
    : b_(b),
      key_(sort_key_dtype(element)),
      place_(place_dtype(n)),
      n_(n),
      k_(k),
      slack_(arith::floordiv(k, 8) + kFewMore),
      descending_(descending),
      element_at_(std::move(element_at)),
      found_(b, key_, capacity()) {
  auto scalar = [&](const char* name, DType dtype) { return b.buffer(name, dtype, {b.index(1)}, tir::Scope::kLocal); };
  count_ = scalar("count", place_), equals_ = scalar("equals", place_);
  few_ = scalar("few", place_), low_ = scalar("low", key_), high_ = scalar("high", key_);
}

std::vector<SelectFirst::Way> SelectFirst::ways() const {
  Expr all = arith::logical_or(arith::le(n_, b_.index(kSortedWhole)), arith::le(n_, k_ * 2));
  Expr blocks = arith::le(k_ * (kKeysOfBlock * kBlocksOfFirst), n_);
  std::vector<Way> found;
  for (const Way& way : {Way{0, all}, Way{kKeysOfBlock, blocks}, Way{1, {}}}) {
    if (way.when && way.when.is_constant(0)) continue;
    found.push_back(way);
    if (!way.when || way.when.is_constant(1)) break;
  }
  return found;
}

/// Returns how many elements a way may take, plus a place at the end for one that is written but not taken.
Expr SelectFirst::most_found(const Way& way) const {
  if (way.block == 0) return n_;
  return arith::min(n_, (k_ + slack_) * way.block + k_) + 1;
}

Expr SelectFirst::capacity() const {
  const std::vector<Way> all = ways();
  return all.size() == 1 ? most_found(all[0]) : n_ + 1;
}

Stmt SelectFirst::run(const std::function<Stmt()>& use) const {
  Stmt taken;
  const std::vector<Way> all = ways();
  for (size_t i = all.size(); i-- > 0;) taken = taken ? b_.branch(all[i].when, take(all[i]), taken) : take(all[i]);
  Stmt body = b_.seq({taken, found_.sort(get(count_)), use()});
  for (BufferRef buffer : {high_, low_, few_, equals_, count_}) body = b_.alloc(buffer, body);
  return found_.with(body);
}

Stmt SelectFirst::take(const Way& way) const {
  return way.block == 0 ? take_all() : take_by_bound(way);
}

Stmt SelectFirst::with_key(Expr i, const std::function<Stmt(Expr)>& use) const {
  return b_.let("element", element_at_(i), [&](Var element) {
    return b_.let("key", sort_key(element, descending_), [&](Var key) { return use(key); });
  });
}

Stmt SelectFirst::take_all() const {
  auto put = [&](Var i) { return with_key(i, [&](Expr key) { return found_.put(i, key, i); }); };
  return b_.seq({b_.loop("i", n_, put), set(count_, n_)});
}

Stmt SelectFirst::take_by_bound(const Way& way) const {
  BufferRef least = b_.buffer("least", key_, {blocks(way)});
  Stmt find = way.block == 1 ? find_bound_by_columns(least) : find_bound(least, blocks(way));
  Stmt taken = b_.seq({find, take_up_to_bound(least, way)});
  if (way.block > 1) taken = b_.seq({taken, drop_most()});
  return b_.alloc(least, b_.seq({find_least(least, way), taken}));
}

/// Blocks may give many more than k elements; another bisection, of these elements, then leaves about k.
Stmt SelectFirst::drop_most() const {
  Stmt again = b_.let("taken", get(count_), [&](Var taken) {
    Stmt find = find_bound(found_.keys(), taken);
    return b_.seq({find, take_each(found_.keys(), taken, [&](Expr i) { return found_.position(i); })});
  });
  return b_.branch(arith::le((k_ + slack_) * 2, get(count_)), b_.seq({found_.begin(), again}));
}

/// Stores the least key of each block into `least`.
Stmt SelectFirst::find_least(BufferRef least, const Way& way) const {
  auto keep = [&](Var i) { return with_key(i, [&](Expr key) { return b_.store(least, {i}, key); }); };
  if (way.block == 1) return b_.loop("i", n_, keep);
  return b_.loop("block", blocks(way), [&](Var block) {
    Expr begin = block * way.block, extent = arith::min(b_.index(way.block), n_ - begin);
    Stmt each = b_.loop("i", extent, [&](Var i) {
      return with_key(begin + i, [&](Expr key) { return set(low_, arith::min(value(low_), key)); });
    });
    return b_.seq({set(low_, highest(b_.context(), key_)), each, b_.store(least, {block}, value(low_))});
  });
}

/// Sets `count` to the number of keys that are less than `bound`, or with `or_equal` at most `bound`.
Stmt SelectFirst::count_keys(BufferRef keys, Expr count, Expr bound, bool or_equal) const {
  auto add = [&](Var i) {
    Expr key = b_.load(keys, {i}), counts = or_equal ? arith::le(key, bound) : arith::lt(key, bound);
    return set(count_, value(count_) + cast(place_, counts));
  };
  return b_.seq({set(count_, b_.index(0)), b_.loop("i", count, add)});
}

/// Sets `high` to a bound that at least k of the keys do not exceed. `few` says that no more than k + slack do not
/// exceed it; otherwise it is the least such bound.
Stmt SelectFirst::find_bound(BufferRef keys, Expr count) const {
  Expr low = value(low_), high = value(high_);
  Stmt range = b_.loop("i", count, [&](Var i) {
    Expr key = b_.load(keys, {i});
    return b_.seq({set(low_, arith::min(low, key)), set(high_, arith::max(high, key))});
  });
  Expr half = call(Intrinsic::k_shift_right, high - low, like(high, 1));
  Stmt halve = b_.let("middle", low + half, [&](Var middle) {
    Stmt done = b_.seq({set(low_, middle), set(few_, b_.index(1))});
    Stmt lower = b_.seq({set(high_, middle), b_.branch(arith::le(get(count_), k_ + slack_), done)});
    return b_.seq({count_keys(keys, count, middle, true),
                   b_.branch(arith::lt(get(count_), k_), set(low_, middle + like(middle, 1)), lower)});
  });
  return b_.seq({set(low_, highest(b_.context(), key_)), set(high_, b_.context().zero(key_)), set(few_, b_.index(0)),
                 range, b_.loop_while(arith::lt(low, high), halve)});
}

/// Finds a bound for all keys by bisecting columns first. `few` then allows as many keys as most_found has room for.
Stmt SelectFirst::find_bound_by_columns(BufferRef keys) const {
  Expr count = arith::floordiv(n_, kKeysOfColumn);
  Expr worth = arith::le(k_ * (kKeysOfColumn * kColumnsOfFirst), n_);
  BufferRef columns = b_.buffer("columns", key_, {arith::max(count, b_.index(1))});
  Stmt fill = b_.loop("column", count, [&](Var column) {
    std::vector<Expr> least;
    for (int64_t part = 0; part < kKeysOfColumn; ++part) least.push_back(b_.load(keys, {count * part + column}));
    for (size_t step = 1; step < least.size(); step *= 2)
      for (size_t i = 0; i + step < least.size(); i += 2 * step) least[i] = arith::min(least[i], least[i + step]);
    return b_.store(columns, {column}, least[0]);
  });
  Stmt keep = set(few_, b_.index(1)), all = find_bound(keys, n_);
  Stmt judge = b_.branch(arith::le(get(count_), k_ * 2 + slack_), keep, all);
  Stmt found = b_.seq({fill, find_bound(columns, count), count_keys(keys, n_, value(high_), true), judge});
  if (worth.is_constant(0)) return all;
  return b_.alloc(columns, worth.is_constant(1) ? found : b_.branch(worth, found, all));
}

/// Writes the element after the ones that were taken, and counts it as taken if `taken` holds.
Stmt SelectFirst::put(Expr key, Expr position, Expr taken) const {
  return b_.seq({found_.put(get(count_), key, position), set(count_, value(count_) + cast(place_, taken))});
}

/// Takes the element if its key is below the bound, or equal to it while fewer than k elements are taken.
Stmt SelectFirst::put_first(Expr key, Expr position) const {
  return b_.let("last", value(high_), [&](Var last) {
    return b_.let("equals", value(equals_), [&](Var equals) {
      Expr equal = arith::eq(key, last), wanted = arith::lt(cast(DType::index(), equals), k_);
      Expr taken = arith::logical_or(arith::lt(key, last), arith::logical_and(equal, wanted));
      return b_.seq({put(key, position, taken), set(equals_, equals + cast(place_, equal))});
    });
  });
}

/// Runs `use` in order for each key of the chunks that have a key up to the bound, as long as `goes_on` holds.
Stmt SelectFirst::for_each_near(BufferRef keys, Expr count, Expr goes_on, const std::function<Stmt(Var)>& use) const {
  Expr chunks = arith::floordiv(count, kKeysOfChunk), rest = chunks * kKeysOfChunk;
  auto in_order = [&](Expr begin, Expr extent) {
    return b_.loop("i", extent, [&](Var i) { return b_.let("at", begin + i, use); });
  };
  Stmt whole = b_.loop("chunk", chunks, [&](Var chunk) {
    Expr begin = chunk * kKeysOfChunk, size = b_.index(kKeysOfChunk);
    Stmt look =
        b_.loop("i", size, [&](Var i) { return set(low_, arith::min(value(low_), b_.load(keys, {begin + i}))); });
    Expr some = arith::logical_and(arith::le(value(low_), value(high_)), goes_on);
    return b_.seq({set(low_, highest(b_.context(), key_)), look, b_.branch(some, in_order(begin, size))});
  });
  return b_.seq({whole, b_.branch(goes_on, in_order(rest, count - rest))});
}

/// Takes the keys up to the bound. Without `few`, keys equal to the bound are taken only until there are k.
Stmt SelectFirst::take_each(BufferRef keys, Expr count, const std::function<Expr(Expr)>& position) const {
  auto each = [&](Expr goes_on, const std::function<Stmt(Expr key, Expr position)>& use) {
    return for_each_near(keys, count, goes_on, [&](Var i) {
      return b_.let("key", b_.load(keys, {i}),
                    [&](Var key) { return b_.let("position", position(i), [&](Var at) { return use(key, at); }); });
    });
  };
  Stmt all =
      each(b_.context().boolean(true), [&](Expr key, Expr at) { return put(key, at, arith::le(key, value(high_))); });
  Stmt first = each(arith::lt(get(count_), k_), [&](Expr key, Expr at) { return put_first(key, at); });
  Stmt exact = b_.seq(
      {count_keys(keys, count, value(high_), false), set(equals_, get(count_)), set(count_, b_.index(0)), first});
  return b_.branch(arith::eq(get(few_), b_.index(1)), b_.seq({set(count_, b_.index(0)), all}), exact);
}

/// Takes the elements up to the bound from blocks that have such elements.
Stmt SelectFirst::take_up_to_bound(BufferRef least, const Way& way) const {
  if (way.block == 1) return take_each(least, n_, [](Expr i) { return i; });
  auto inside = [&](Var block) {
    Expr begin = block * way.block, extent = arith::min(b_.index(way.block), n_ - begin);
    return b_.loop("i", extent,
                   [&](Var i) { return with_key(begin + i, [&](Expr key) { return put_first(key, begin + i); }); });
  };
  Stmt each = b_.loop("block", blocks(way), [&](Var block) {
    return b_.let("first", b_.load(least, {block}), [&](Var first) {
      Expr wanted = arith::logical_and(arith::eq(first, value(high_)), arith::lt(get(equals_), k_));
      return b_.branch(arith::logical_or(arith::lt(first, value(high_)), wanted), inside(block));
    });
  });
  return b_.seq({set(count_, b_.index(0)), set(equals_, b_.index(0)), each});
}

}  // namespace relaxc::ops
