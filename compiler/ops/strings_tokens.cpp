// strings_tokens.cpp: tokenizes texts by a finite automaton: its matches are the tokens, or the text between them.
//
// Matches are leftmost-longest and do not overlap. Whether a match may begin or end at a position can depend on the
// bytes on both sides (\b), so an automaton has one start state for each kind of byte before it, and accepts or not for
// each kind of byte after it; the transition table itself does not depend on that. A text is a row of disjoint spans,
// initially one; applying the operator again splits them further. As with strings.split, the walk is made twice, to
// count and to write.
#include "compiler/ops/common/strings.h"

namespace relaxc::ops::strings_tokens_family {
namespace {

constexpr DType kI64 = DType::i(64);
constexpr OperandDef kOperands[] = {{"spans"}, {"bytes"}, {"steps"}, {"accepts"}};
constexpr AttrDef kAttrs[] = {{"starts", AttrType::kInts, true},  // states after an edge, a word's byte, another
                              {"dead", AttrType::kInt, false, "-1"},     {"between", AttrType::kBool, false, "False"},
                              {"least", AttrType::kInt, false, "1"},     {"fill", AttrType::kInt, false, "0"},
                              {"marks", AttrType::kBool, false, "False"}};
/// What is on one side of a position: the text's edge, a word's byte or another byte.
enum Side : int64_t { kEdge, kWord, kOther };

InferResult infer_tokens(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c, 0));
  RELAXC_TRY(const TensorInfo* steps, c.tensor(2));
  RELAXC_TRY(const TensorInfo* accepts, c.tensor(3));
  if (dims.empty()) return c.error(Kind::rank_mismatch, "'strings.tokens' takes rows of strings, found one string");
  bool table = steps->ndim == 2 && (*steps->shape)[1].is_constant(256) && steps->dtype == DType::i(32);
  bool ends = accepts->ndim == 2 && (*accepts->shape)[1].is_constant(3) && accepts->dtype->is_bool();
  if (!table || !ends)
    return c.error(Kind::shape_mismatch,
                   "'strings.tokens' takes steps [states, 256] of int32 and 3 bools for each state");
  RELAXC_DO(require_equal(c, (*steps->shape)[0], (*accepts->shape)[0], "states"));
  if (c.op.attrs.ints("starts").size() != 3 || c.op.attrs.integer("least") < 1 || c.op.attrs.integer("fill") < 0)
    return c.error(Kind::invalid_attribute,
                   "'strings.tokens' takes 3 starts, a minimum length of 1 or more and a fill of 0 or more");
  Dims tokens(dims.begin(), dims.end() - 1);
  tokens.push_back(c.bound_symbol(0, "tokens" + std::to_string(c.op.id)));
  return one(tensor_info(c.context, with_pair(c.context, std::move(tokens)), kI64));
}

/// Each token has at least one byte that no other token has, and there may be two marks.
Expr most_tokens(const Op& op, size_t) {
  return op.operand(1)->shape()[0] + 2;
}

class Tokens {
 public:
  explicit Tokens(DefineContext& d)
      : d_(d),
        b_(d.builder),
        x_(d, d.input(0), d.input(1)),
        at_(b_, "at"),
        from_(b_, "from"),
        start_(b_, "start"),
        hit_(b_, "hit"),
        probe_(b_, "probe"),
        state_(b_, "state"),
        side_(b_, "side"),
        characters_(b_, "characters"),
        count_(b_, "count") {}

  Stmt run() {
    BufferRef most = d_.bound_value(0);
    Expr first = b_.index(0);
    Dims rows = x_.dims();
    rows.pop_back();
    Stmt count = b_.nest(rows, [&](const Indices& i) {
      Stmt larger = b_.branch(arith::lt(cast(DType::index(), b_.load(most, {first})), count_.get()),
                              b_.store(most, {first}, cast(kI64, count_.get())));
      return b_.seq({walk(i, [&](Expr, Expr) { return b_.seq({}); }), larger});
    });
    Stmt write = b_.let("width", cast(DType::index(), b_.load(most, {first})), [&](Var width) {
      Dims shape = rows;
      shape.push_back(width);
      BufferRef spans = b_.buffer("rows", kI64, with_pair(d_.context(), shape));
      Strings out(d_, spans, d_.input(1));
      Stmt body = b_.nest(rows, [&](const Indices& i) {
        Indices slot = i;
        slot.push_back(first);
        Expr fill = b_.index(d_.attrs().integer("fill"));
        Stmt clear = b_.loop("k", width, [&](Var k) { return slot.back() = k, out.set(slot, first, fill); });
        auto store = [&](Expr begin, Expr length) {
          slot.back() = count_.get();
          return out.set(slot, begin, length);
        };
        return b_.seq({clear, walk(i, store)});
      });
      return b_.view(spans, d_.output(0), first, body);
    });
    Stmt all = b_.seq({b_.store(most, {first}, d_.context().imm(kI64, 0)), count, write});
    for (Local* local : {&at_, &from_, &start_, &hit_, &probe_, &state_, &side_, &characters_, &count_})
      all = local->around(all);
    return all;
  }

 private:
  using OnToken = std::function<Stmt(Expr begin, Expr length)>;

  /// Calls `on_token` for the tokens of one row in order; `count_` is their number afterwards.
  Stmt walk(const Indices& row, const OnToken& on_token) {
    Expr fill = b_.index(d_.attrs().integer("fill")), one = b_.index(1);
    bool marks = d_.attrs().flag("marks");
    Stmt texts = b_.loop("text", x_.dims().back(), [&](Var text) {
      Indices i = row;
      i.push_back(text);
      return b_.let("begin", x_.begin(i), [&](Var begin) {
        return b_.let("length", x_.length(i), [&](Var length) { return scan(begin, length, on_token); });
      });
    });
    std::vector<Stmt> parts{count_.set(0)};
    if (marks) parts.push_back(emit(fill, one, on_token));
    parts.push_back(texts);
    if (marks) parts.push_back(emit(fill + 1, one, on_token));
    return b_.seq(parts);
  }

  /// Emits a token, unless the result is full, which happens only if the strings of a row overlap; they must not.
  Stmt emit(Expr begin, Expr length, const OnToken& on_token) {
    Expr room = d_.input(1)->shape[0] + 2;
    return b_.branch(arith::lt(count_.get(), room), b_.seq({on_token(begin, length), count_.add(b_.index(1))}));
  }

  Stmt scan(Expr begin, Expr length, const OnToken& on_token) {
    bool between = d_.attrs().flag("between");
    Expr one = b_.index(1), least = b_.index(d_.attrs().integer("least"));
    auto token = [&](Expr from, Expr to) {
      return b_.branch(arith::le(least, characters_.get()), emit(begin + from, to - from, on_token));
    };
    // After a match that is empty or too short, the search continues after the character where it began.
    Expr step = start_.get() + character(begin, start_.get());
    Stmt skip = at_.set(step), go_on = at_.set(hit_.get());
    Stmt behind = b_.branch(arith::lt(start_.get(), hit_.get()), go_on, skip_at_end(length, skip));
    Stmt matched = between
                       ? b_.seq({measure(begin, from_.get(), start_.get()), token(from_.get(), start_.get()), behind,
                                 from_.set(at_.get())})
                       : b_.seq({measure(begin, start_.get(), hit_.get()), token(start_.get(), hit_.get()),
                                 b_.branch(arith::le(least, characters_.get()), behind, skip_at_end(length, skip))});
    Stmt rest = between ? b_.seq({measure(begin, from_.get(), length), token(from_.get(), length)}) : b_.seq({});
    Stmt none = b_.seq({rest, at_.set(length + one)});
    Stmt next = b_.seq({search(begin, length), b_.branch(arith::le(b_.index(0), hit_.get()), matched, none)});
    return b_.seq({at_.set(0), from_.set(0), b_.loop_while(arith::le(at_.get(), length), next)});
  }

  /// Runs `skip` if there is a character to skip, else ends the scan.
  Stmt skip_at_end(Expr length, Stmt skip) {
    return b_.branch(arith::lt(start_.get(), length), skip, at_.set(length + 1));
  }

  /// Returns the number of bytes of the UTF-8 character at a position before the end.
  Expr character(Expr begin, Expr at) {
    Expr byte = x_.byte(begin + at);
    auto from = [&](int64_t value) { return arith::le(d_.context().imm(kByte, value), byte); };
    return arith::select(from(0xf0), b_.index(4),
                         arith::select(from(0xe0), b_.index(3), arith::select(from(0xc0), b_.index(2), b_.index(1))));
  }

  /// Counts the characters of a part, which are its bytes except UTF-8 continuation bytes.
  Stmt measure(Expr begin, Expr from, Expr to) {
    Stmt look = b_.loop("k", arith::max(to - from, b_.index(0)), [&](Var k) {
      Expr byte = x_.byte(begin + from + k);
      Expr continues = arith::logical_and(arith::le(d_.context().imm(kByte, 0x80), byte),
                                          arith::lt(byte, d_.context().imm(kByte, 0xc0)));
      return b_.branch(continues, b_.seq({}), characters_.add(b_.index(1)));
    });
    return b_.seq({characters_.set(0), look});
  }

  /// Searches for the first match from `at_` on, and sets start_ and hit_ to its ends; hit_ is -1 if there is none.
  Stmt search(Expr begin, Expr length) {
    Stmt found = b_.branch(arith::le(b_.index(0), hit_.get()), b_.leave_loop(), start_.add(b_.index(1)));
    return b_.seq({hit_.set(-1), start_.set(at_.get()),
                   b_.loop_while(arith::le(start_.get(), length), b_.seq({match(begin, length), found}))});
  }

  /// Sets hit_ to the end of the longest match that begins at `start_`.
  Stmt match(Expr begin, Expr length) {
    BufferRef steps = d_.input(2), accepts = d_.input(3);
    const std::vector<int64_t>& starts = d_.attrs().ints("starts");
    auto is = [&](Side side) { return arith::eq(side_.get(), b_.index(side)); };
    Expr state = arith::select(is(kEdge), b_.index(starts[kEdge]),
                               arith::select(is(kWord), b_.index(starts[kWord]), b_.index(starts[kOther])));
    Expr first = arith::eq(start_.get(), b_.index(0));
    Stmt before = b_.branch(first, side_.set(kEdge), set_side(begin + start_.get() - 1));
    Stmt end = probe_.set(length + 1);
    Expr byte = cast(DType::index(), x_.byte(begin + probe_.get()));
    Stmt step = b_.seq(
        {state_.set(cast(DType::index(), b_.load(steps, {state_.get(), byte}))),
         b_.branch(arith::eq(state_.get(), b_.index(d_.attrs().integer("dead"))), end, probe_.add(b_.index(1)))});
    Expr more = arith::lt(probe_.get(), length);
    Stmt one = b_.seq({b_.branch(more, set_side(begin + probe_.get()), side_.set(kEdge)),
                       b_.branch(b_.load(accepts, {state_.get(), side_.get()}), hit_.set(probe_.get())),
                       b_.branch(more, step, end)});
    return b_.seq(
        {before, state_.set(state), probe_.set(start_.get()), b_.loop_while(arith::le(probe_.get(), length), one)});
  }

  Stmt set_side(Expr at) {
    Expr byte = x_.byte(at);
    auto within = [&](char low, char high) {
      return arith::logical_and(arith::le(d_.context().imm(kByte, low), byte),
                                arith::le(byte, d_.context().imm(kByte, high)));
    };
    Expr letter = arith::logical_or(within('a', 'z'), within('A', 'Z'));
    Expr word = arith::logical_or(letter, arith::logical_or(within('0', '9'), within('_', '_')));
    return side_.set(arith::select(word, b_.index(kWord), b_.index(kOther)));
  }

  DefineContext& d_;
  tir::Builder& b_;
  Strings x_;
  Local at_, from_, start_, hit_, probe_, state_, side_, characters_, count_;
};

Stmt define_tokens(DefineContext& d) {
  return Tokens(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "strings.tokens",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer_tokens,
     .define = define_tokens,
     .upper_bound = most_tokens,
     .doc = "the matches of an automaton in each row of texts, or what is between them, as spans of the same bytes; "
            "rows end with spans of the first `fill` bytes"},
};

}  // namespace
}  // namespace relaxc::ops::strings_tokens_family

RELAXC_OPERATORS(strings_tokens, kOps)
