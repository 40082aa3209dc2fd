// sorted_keys.cpp: see sorted_keys.h.
//
// Few elements are sorted by insertion. More are distributed by the bytes of their keys, the lowest first (an LSD radix
// sort): one pass counts all bytes, and each byte that is not equal in all keys takes a pass that reads in order and
// writes 256 streams. That is stable, takes the same time for sorted, reversed and random data, and needs no vectors;
// keys of 32 bits take 6 ns each on a Zen 4, where a merge sort of a million took 230 (bench/models/operators.py). One
// vectorized pass finds keys that are in order already; keys in the opposite order are reversed.
//
// Rejected: merge sorts (a mispredicted branch for each element and pass), and sorting by ranks (each element counts
// those before it), which with vectors is faster up to 100 elements and without them several times slower.
#include "compiler/ops/common/sorted_keys.h"

#include <limits>

#include "compiler/ops/common/element.h"

namespace relaxc::ops {
namespace {

constexpr int64_t kInserted = 32;  ///< at most this many keys are inserted; for more, counting bytes costs less
constexpr int64_t kByteValues = 256;

}  // namespace

DType place_dtype(Expr most) {
  const int64_t* known = most.constant();
  return known != nullptr && *known < std::numeric_limits<int32_t>::max() ? DType::i(32) : DType::i(64);
}

SortedKeys::SortedKeys(tir::Builder& b, DType key, Expr capacity)
    : b_(b), key_(key), place_(place_dtype(capacity)), capacity_(capacity) {
  auto scalar = [&](const char* name) { return b.buffer(name, place_, {b.index(1)}, tir::Scope::kLocal); };
  keys_ = b.buffer("keys", key, {capacity * 2}), positions_ = b.buffer("positions", place_, {capacity * 2});
  counts_ = b.buffer("counts", place_, {b.index(key.bytes()), b.index(kByteValues)});
  from_ = scalar("from"), hole_ = scalar("hole");
}

Stmt SortedKeys::with(Stmt body) const {
  for (BufferRef buffer : {hole_, from_, counts_, positions_, keys_}) body = b_.alloc(buffer, body);
  return body;
}

Expr SortedKeys::get(BufferRef scalar) const {
  return cast(DType::index(), b_.load(scalar, {b_.index(0)}));
}

Stmt SortedKeys::set(BufferRef scalar, Expr value) const {
  return b_.store(scalar, {b_.index(0)}, cast(place_, value));
}

Stmt SortedKeys::put(Expr place, Expr key, Expr position) const {
  return b_.seq({b_.store(keys_, {place}, key), b_.store(positions_, {place}, cast(place_, position))});
}

Expr SortedKeys::key(Expr rank) const {
  return b_.load(keys_, {get(from_) + rank});
}

Expr SortedKeys::position(Expr rank) const {
  return cast(DType::index(), b_.load(positions_, {get(from_) + rank}));
}

Stmt SortedKeys::sort(Expr count) const {
  const int64_t* most = capacity_.constant();
  Stmt few = insert_each(count);
  Stmt any = most != nullptr && *most <= kInserted
                 ? few
                 : b_.branch(arith::le(count, b_.index(kInserted)), few, sort_many(count));
  return b_.seq({begin(), any});
}

Stmt SortedKeys::insert_each(Expr count) const {
  Expr zero = b_.index(0), hole = get(hole_), before = arith::max(hole - 1, zero);
  auto place = [&](Var key, Var position) {
    Expr later = arith::logical_and(arith::lt(zero, hole), arith::lt(key, b_.load(keys_, {before})));
    Stmt shift = b_.seq({b_.store(keys_, {hole}, b_.load(keys_, {before})),
                         b_.store(positions_, {hole}, b_.load(positions_, {before})), set(hole_, hole - 1)});
    return b_.seq({b_.loop_while(later, shift), b_.store(keys_, {hole}, key), b_.store(positions_, {hole}, position)});
  };
  return b_.loop("i", count, [&](Var i) {
    return b_.let("key", b_.load(keys_, {i}), [&](Var key) {
      return b_.let("position", b_.load(positions_, {i}), [&](Var position) {
        return b_.seq({set(hole_, i), place(key, position)});
      });
    });
  });
}

Expr SortedKeys::digit(Expr key, Expr byte) const {
  Expr shifted = key_.bits == 8 ? key : call(Intrinsic::k_shift_right, key, cast(key_, byte * 8));
  return cast(DType::index(), call(Intrinsic::k_bitwise_and, shifted, like(key, kByteValues - 1)));
}

/// Counts how often each value of each byte occurs in the keys.
Stmt SortedKeys::count_digits(Expr count) const {
  auto add = [&](Var key) {
    std::vector<Stmt> all;
    for (int64_t byte = 0; byte < key_.bytes(); ++byte) {
      Indices at{b_.index(byte), digit(key, b_.index(byte))};
      Expr so_far = b_.load(counts_, at);
      all.push_back(b_.store(counts_, at, so_far + like(so_far, 1)));
    }
    return b_.seq(std::move(all));
  };
  Stmt clear =
      b_.nest(counts_->shape, [&](const Indices& at) { return b_.store(counts_, at, b_.context().zero(place_)); });
  return b_.seq({clear, b_.loop("i", count, [&](Var i) { return b_.let("key", b_.load(keys_, {i}), add); })});
}

/// Moves all entries to the other half of the lists in the order of one byte, whose counts become places.
Stmt SortedKeys::distribute(Expr count, Expr byte) const {
  Expr next = get(hole_), to = capacity_ - get(from_);
  Stmt sums = b_.loop("digit", b_.index(kByteValues), [&](Var value) {
    return b_.let("found", b_.load(counts_, {byte, value}), [&](Var found) {
      return b_.seq(
          {b_.store(counts_, {byte, value}, cast(place_, next)), set(hole_, next + cast(DType::index(), found))});
    });
  });
  auto move = [&](Var i) {
    return b_.let("key", key(i), [&](Var moved) {
      Indices slot{byte, digit(moved, byte)};
      return b_.let("place", b_.load(counts_, slot), [&](Var place) {
        Expr at = to + cast(DType::index(), place);
        return b_.seq({b_.store(keys_, {at}, moved),
                       b_.store(positions_, {at}, b_.load(positions_, {get(from_) + Expr(i)})),
                       b_.store(counts_, slot, place + like(place, 1))});
      });
    });
  };
  return b_.seq({set(hole_, b_.index(0)), sums, b_.loop("i", count, move), set(from_, to)});
}

/// Sets `hole_` to the number of keys that are followed by a smaller one, or with `rising` by a greater one.
Stmt SortedKeys::count_steps(Expr count, bool rising) const {
  Expr so_far = b_.load(hole_, {b_.index(0)});
  Stmt each = b_.loop("i", count - 1, [&](Var i) {
    Expr key = b_.load(keys_, {i}), next = b_.load(keys_, {Expr(i) + 1});
    return b_.store(hole_, {b_.index(0)}, so_far + cast(place_, rising ? arith::lt(key, next) : arith::lt(next, key)));
  });
  return b_.seq({set(hole_, b_.index(0)), each});
}

/// Reverses the positions in the other half from the index `hole_` up to `end`, and sets `hole_` to `end`.
Stmt SortedKeys::turn(Expr end) const {
  return b_.let("begin", get(hole_), [&](Var begin) {
    Stmt swaps = b_.loop("i", arith::floordiv(end - begin, 2), [&](Var i) {
      Expr first = begin + i, last = end - 1 - i;
      return b_.let("position", b_.load(positions_, {first}), [&](Var position) {
        return b_.seq(
            {b_.store(positions_, {first}, b_.load(positions_, {last})), b_.store(positions_, {last}, position)});
      });
    });
    return b_.seq({swaps, set(hole_, end)});
  });
}

/// Moves keys that never rise to the other half of the lists in reverse order. This reverses positions of equal keys as
/// well, so these are reversed once more.
Stmt SortedKeys::reverse(Expr count) const {
  Stmt move = b_.loop("i", count, [&](Var i) {
    Expr from = count - 1 - i, to = capacity_ + i;
    return b_.seq(
        {b_.store(keys_, {to}, b_.load(keys_, {from})), b_.store(positions_, {to}, b_.load(positions_, {from}))});
  });
  Stmt keep_order = b_.loop("i", count - 1, [&](Var i) {
    Expr next = capacity_ + Expr(i) + 1;
    return b_.branch(arith::ne(b_.load(keys_, {next - 1}), b_.load(keys_, {next})), turn(next));
  });
  return b_.seq({move, set(hole_, capacity_), keep_order, turn(capacity_ + count), set(from_, capacity_)});
}

/// Keeps ascending keys, reverses descending ones, and sorts others by bytes. The first and last key say what to test.
Stmt SortedKeys::sort_many(Expr count) const {
  Expr ordered = arith::eq(get(hole_), b_.index(0));
  const Stmt sorted = by_digits(count);
  Stmt falling = b_.seq({count_steps(count, true), b_.branch(ordered, reverse(count), sorted)});
  Stmt rising = b_.seq({count_steps(count, false), b_.branch(arith::logical_not(ordered), by_digits(count))});
  return b_.branch(arith::lt(b_.load(keys_, {count - 1}), b_.load(keys_, {b_.index(0)})), falling, rising);
}

Stmt SortedKeys::by_digits(Expr count) const {
  Stmt passes = b_.loop("byte", b_.index(key_.bytes()), [&](Var byte) {
    Expr same = cast(DType::index(), b_.load(counts_, {byte, digit(key(b_.index(0)), byte)}));
    return b_.branch(arith::ne(same, count), distribute(count, byte));
  });
  return b_.seq({count_digits(count), passes});
}

}  // namespace relaxc::ops
