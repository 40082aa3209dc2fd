// strings.cpp: operators on strings, which are spans of bytes.
//
// A tensor of strings is two tensors: spans [..., 2] of int64, where element i begins and how long it is, and the bytes
// [n] that all of them refer to. Spans may overlap and lie in any order, so taking a string apart moves no byte.
// `strings.checked` is where spans come in from outside; the others rely on spans that lie within their bytes.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops {
namespace {

constexpr DType kI64 = DType::i(64), kByte = DType::u(8);
constexpr OperandDef kStrings[] = {{"spans"}, {"bytes"}};
constexpr OperandDef kPair[] = {{"a_spans"}, {"a_bytes"}, {"b_spans"}, {"b_bytes"}};
constexpr OperandDef kFind[] = {{"spans"}, {"bytes"}, {"table_spans"}, {"table_bytes"}};
constexpr OperandDef kMatch[] = {{"spans"}, {"bytes"}, {"steps"}, {"accepts"}};
constexpr OperandDef kSplit[] = {{"spans"}, {"bytes"}, {"delimiter"}};
constexpr AttrDef kMost[] = {{"most", AttrType::kInt, false, "-1"}};

/// The dims of the strings whose spans and bytes are the operands from `first` on.
Result<Dims> strings(InferContext& c, size_t first = 0) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(const TensorInfo* spans, c.tensor(first));
  RELAXC_TRY(const TensorInfo* bytes, c.tensor(first + 1));
  if (spans->ndim < 1 || !spans->shape->back().is_constant(2) || spans->dtype != kI64 || bytes->ndim != 1 ||
      bytes->dtype != kByte)
    return c.error(Kind::shape_mismatch, "'{}' takes spans [..., 2] of int64 and a vector of bytes, found {} and {}",
                   c.op.def->name, to_string(c.op.operand(first)->info), to_string(c.op.operand(first + 1)->info));
  return Dims(spans->shape->begin(), spans->shape->end() - 1);
}

Dims with_pair(Context& context, Dims dims) {
  dims.push_back(context.index(2));
  return dims;
}

/// Reads and writes of one tensor of strings in a definition.
class Strings {
 public:
  Strings(DefineContext& d, BufferRef spans, BufferRef bytes) : b_(d.builder), spans_(spans), bytes_(bytes) {}

  Dims dims() const { return Dims(spans_->shape.begin(), spans_->shape.end() - 1); }
  Expr begin(const Indices& i) { return part(i, 0); }
  Expr length(const Indices& i) { return part(i, 1); }
  Expr byte(Expr at) { return b_.load(bytes_, {at}); }
  Stmt set(Indices i, Expr begin, Expr length) {
    i.push_back(b_.index(0));
    Stmt first = b_.store(spans_, i, cast(kI64, begin));
    i.back() = b_.index(1);
    return b_.seq({first, b_.store(spans_, i, cast(kI64, length))});
  }

 private:
  Expr part(Indices i, int64_t which) {
    i.push_back(b_.index(which));
    return cast(DType::index(), b_.load(spans_, i));
  }
  tir::Builder& b_;
  BufferRef spans_, bytes_;
};

/// A number that loops change.
class Local {
 public:
  Local(tir::Builder& b, const char* name) : b_(b), buffer_(b.buffer(name, kI64, {b.index(1)}, tir::Scope::kLocal)) {}
  Expr get() { return cast(DType::index(), b_.load(buffer_, {b_.index(0)})); }
  Stmt set(Expr value) { return b_.store(buffer_, {b_.index(0)}, cast(kI64, value)); }
  Stmt set(int64_t value) { return set(b_.index(value)); }
  Stmt add(Expr value) { return set(get() + value); }
  Stmt around(Stmt body) { return b_.alloc(buffer_, body); }

 private:
  tir::Builder& b_;
  BufferRef buffer_;
};

// ---- checked

InferResult infer_checked(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims dims, strings(c));
  return one(tensor_info(c.context, with_pair(c.context, std::move(dims)), kI64));
}

Stmt define_checked(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings in(d, d.input(0), d.input(1)), out(d, d.output(), d.input(1));
  Expr zero = b.index(0), room = d.input(1)->shape[0];
  return b.nest(in.dims(), [&](const Indices& i) {
    return b.let("begin", in.begin(i), [&](Var begin) {
      return b.let("length", in.length(i), [&](Var length) {
        Expr inside = arith::logical_and(arith::le(zero, begin), arith::le(begin, room));
        return b.seq(
            {d.require(inside, kIndexRange),
             d.require(arith::logical_and(arith::le(zero, length), arith::le(length, room - begin)), kIndexRange),
             out.set(i, begin, length)});
      });
    });
  });
}

// ---- equal

InferResult infer_equal(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims a, strings(c, 0));
  RELAXC_TRY(Dims b, strings(c, 2));
  RELAXC_TRY(Dims dims, broadcast_dims(c, a, b));
  return one(tensor_info(c.context, std::move(dims), DType::boolean()));
}

Stmt define_equal(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), y(d, d.input(2), d.input(3));
  BufferRef out = d.output();
  auto truth = [&](bool value) { return d.context().imm(DType::boolean(), value); };
  return b.nest(out->shape, [&](const Indices& i) {
    Indices p = broadcast_indices(x.dims(), i, out->shape), q = broadcast_indices(y.dims(), i, out->shape);
    Expr same_length = arith::eq(x.length(p), y.length(q));
    Stmt compare = b.loop("k", x.length(p), [&](Var k) {
      Expr differ = arith::ne(x.byte(x.begin(p) + k), y.byte(y.begin(q) + k));
      return b.branch(differ, b.seq({b.store(out, i, truth(false)), b.leave_loop()}));
    });
    return b.seq(
        {b.store(out, i, truth(false)), b.branch(same_length, b.seq({b.store(out, i, truth(true)), compare}))});
  });
}

// ---- find

InferResult infer_find(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims dims, strings(c, 0));
  RELAXC_TRY(Dims table, strings(c, 2));
  if (table.size() != 1)
    return c.error(Kind::rank_mismatch, "the table of 'strings.find' must be a vector, found {} dims", table.size());
  return one(tensor_info(c.context, std::move(dims), kI64));
}

/// Binary search; `order` is negative where the string comes before the entry of the table.
Stmt define_find(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), table(d, d.input(2), d.input(3));
  BufferRef out = d.output();
  Local low(b, "low"), high(b, "high"), order(b, "order");
  auto probe = [&](const Indices& i, Expr middle) {
    Expr length = x.length(i), other = table.length({middle});
    Stmt compare = b.loop("k", arith::min(length, other), [&](Var k) {
      Expr p = x.byte(x.begin(i) + k), q = table.byte(table.begin({middle}) + k);
      return b.seq({b.branch(arith::lt(p, q), b.seq({order.set(-1), b.leave_loop()})),
                    b.branch(arith::lt(q, p), b.seq({order.set(1), b.leave_loop()}))});
    });
    Expr zero = b.index(0);
    Stmt found = b.seq({b.store(out, i, cast(kI64, middle)), low.set(high.get())});
    return b.seq({order.set(length - other), compare,
                  b.branch(arith::eq(order.get(), zero), found,
                           b.branch(arith::lt(order.get(), zero), high.set(middle), low.set(middle + 1)))});
  };
  Stmt search = b.nest(out->shape, [&](const Indices& i) {
    Stmt halve = b.loop_while(
        arith::lt(low.get(), high.get()),
        b.let("middle", arith::floordiv(low.get() + high.get(), 2), [&](Var middle) { return probe(i, middle); }));
    return b.seq({b.store(out, i, d.context().imm(kI64, -1)), low.set(0), high.set(table.dims()[0]), halve});
  });
  return low.around(high.around(order.around(search)));
}

// ---- match

InferResult infer_match(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims dims, strings(c, 0));
  RELAXC_TRY(const TensorInfo* steps, c.tensor(2));
  RELAXC_TRY(const TensorInfo* accepts, c.tensor(3));
  if (steps->ndim != 2 || !(*steps->shape)[1].is_constant(256) || steps->dtype != DType::i(32) || accepts->ndim != 1 ||
      !accepts->dtype->is_bool())
    return c.error(Kind::shape_mismatch,
                   "'strings.match' takes steps [states, 256] of int32 and a bool for each state");
  RELAXC_DO(require_equal(c, (*steps->shape)[0], (*accepts->shape)[0], "states"));
  return one(tensor_info(c.context, std::move(dims), DType::boolean()));
}

Stmt define_match(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1));
  BufferRef steps = d.input(2), accepts = d.input(3), out = d.output();
  Local state(b, "state");
  return state.around(b.nest(out->shape, [&](const Indices& i) {
    Stmt run = b.loop("k", x.length(i), [&](Var k) {
      Expr byte = cast(DType::index(), x.byte(x.begin(i) + k));
      return state.set(cast(DType::index(), b.load(steps, {state.get(), byte})));
    });
    return b.seq({state.set(0), run, b.store(out, i, b.load(accepts, {state.get()}))});
  }));
}

// ---- concat

InferResult infer_concat(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims a, strings(c, 0));
  RELAXC_TRY(Dims b, strings(c, 2));
  RELAXC_TRY(Dims dims, broadcast_dims(c, a, b));
  Var total = c.bound_symbol(0, "bytes" + std::to_string(c.op.id));
  return std::vector<Info>{tensor_info(c.context, with_pair(c.context, std::move(dims)), kI64),
                           tensor_info(c.context, Dims{total}, kByte)};
}

/// Every string may be all the bytes that there are.
Expr most_bytes(const Op& op, size_t) {
  const Dims& spans = op.results[0]->shape();
  Expr count = product(op.binds[0].context(), Dims(spans.begin(), spans.end() - 1));
  return count * (op.operand(1)->shape()[0] + op.operand(3)->shape()[0]);
}

Stmt define_concat(DefineContext& d) {
  tir::Builder& b = d.builder;
  Strings x(d, d.input(0), d.input(1)), y(d, d.input(2), d.input(3)), out(d, d.output(0), d.output(1));
  BufferRef bytes = d.output(1), total = d.bound_value(0);
  Expr first = b.index(0);
  auto at = [&] { return cast(DType::index(), b.load(total, {first})); };
  auto append = [&](Strings& from, const Indices& i) {
    Stmt copy =
        b.loop("k", from.length(i), [&](Var k) { return b.store(bytes, {at() + k}, from.byte(from.begin(i) + k)); });
    return b.seq({copy, b.store(total, {first}, cast(kI64, at() + from.length(i)))});
  };
  Dims dims = out.dims();
  Stmt all = b.nest(dims, [&](const Indices& i) {
    Indices p = broadcast_indices(x.dims(), i, dims), q = broadcast_indices(y.dims(), i, dims);
    return b.seq({out.set(i, at(), x.length(p) + y.length(q)), append(x, p), append(y, q)});
  });
  return b.seq({b.store(total, {first}, d.context().imm(kI64, 0)), all});
}

// ---- split

InferResult infer_split(InferContext& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Dims dims, strings(c, 0));
  RELAXC_TRY(const TensorInfo* delimiter, c.tensor(2));
  if (delimiter->ndim != 1 || delimiter->dtype != kByte || (*delimiter->shape)[0].constant() == nullptr)
    return c.error(Kind::shape_mismatch, "the delimiter of 'strings.split' must be a vector of bytes of known length");
  Dims parts = dims;
  parts.push_back(c.bound_symbol(0, "parts" + std::to_string(c.op.id)));
  return std::vector<Info>{tensor_info(c.context, with_pair(c.context, std::move(parts)), kI64),
                           tensor_info(c.context, std::move(dims), kI64)};
}

Expr most_parts(const Op& op, size_t) {
  return op.operand(1)->shape()[0] + 1;
}

class Split {
 public:
  explicit Split(DefineContext& d)
      : d_(d),
        b_(d.builder),
        x_(d, d.input(0), d.input(1)),
        delimiter_(d.input(2)),
        at_(b_, "at"),
        start_(b_, "start"),
        hit_(b_, "hit"),
        parts_(b_, "parts") {}

  /// Once to count, once to write.
  Stmt run() {
    BufferRef counts = d_.output(1), most = d_.bound_value(0);
    Expr first = b_.index(0);
    Dims dims = x_.dims();
    Stmt count = b_.nest(dims, [&](const Indices& i) {
      Stmt larger = b_.branch(arith::lt(cast(DType::index(), b_.load(most, {first})), parts_.get()),
                              b_.store(most, {first}, cast(kI64, parts_.get())));
      return b_.seq(
          {walk(i, [&](Expr, Expr) { return Stmt(); }), b_.store(counts, i, cast(kI64, parts_.get())), larger});
    });
    Stmt write = b_.let("width", cast(DType::index(), b_.load(most, {first})), [&](Var width) {
      Dims shape = dims;
      shape.push_back(width);
      BufferRef rows = b_.buffer("rows", kI64, with_pair(d_.context(), shape));
      Strings out(d_, rows, d_.input(1));
      Stmt body = b_.nest(dims, [&](const Indices& i) {
        Indices slot = i;
        slot.push_back(first);
        Stmt clear = b_.loop("k", width, [&](Var k) { return slot.back() = k, out.set(slot, first, first); });
        auto store = [&](Expr begin, Expr length) {
          slot.back() = parts_.get();
          return out.set(slot, begin, length);
        };
        return b_.seq({clear, walk(i, store)});
      });
      return b_.view(rows, d_.output(0), first, body);
    });
    Stmt all = b_.seq({b_.store(most, {first}, d_.context().imm(kI64, 0)), count, write});
    return at_.around(start_.around(hit_.around(parts_.around(all))));
  }

 private:
  using OnPart = std::function<Stmt(Expr begin, Expr length)>;

  Stmt walk(const Indices& i, const OnPart& on_part) {
    bool blanks = delimiter_->shape[0].is_constant(0);
    return b_.let("begin", x_.begin(i), [&](Var begin) {
      return b_.let("length", x_.length(i), [&](Var length) {
        return blanks ? walk_blanks(begin, length, on_part) : walk_delimiter(begin, length, on_part);
      });
    });
  }

  Stmt part(Expr begin, Expr end, const OnPart& on_part) {
    return b_.seq({on_part(begin + start_.get(), end - start_.get()), parts_.add(b_.index(1))});
  }

  /// Whether there may be one more cut; the last part is what is left.
  Expr may_cut() {
    int64_t most = d_.attrs().integer("most");
    return most < 0 ? d_.context().imm(DType::boolean(), true) : arith::lt(parts_.get(), b_.index(most));
  }

  Stmt walk_delimiter(Expr begin, Expr length, const OnPart& on_part) {
    Expr width = delimiter_->shape[0];
    Stmt compare = b_.loop("k", width, [&](Var k) {
      Expr differ = arith::ne(x_.byte(begin + at_.get() + k), b_.load(delimiter_, {k}));
      return b_.branch(differ, b_.seq({hit_.set(0), b_.leave_loop()}));
    });
    Stmt cut = b_.seq({part(begin, at_.get(), on_part), at_.add(width), start_.set(at_.get())});
    Expr found = arith::logical_and(arith::ne(hit_.get(), b_.index(0)), may_cut());
    Stmt scan = b_.loop_while(arith::le(at_.get() + width, length),
                              b_.seq({hit_.set(1), compare, b_.branch(found, cut, at_.add(b_.index(1)))}));
    return b_.seq({at_.set(0), start_.set(0), parts_.set(0), scan, part(begin, length, on_part)});
  }

  Expr is_blank(Expr byte) {
    auto is = [&](int64_t value) { return arith::eq(byte, d_.context().imm(kByte, value)); };
    Expr control =
        arith::logical_and(arith::le(d_.context().imm(kByte, 9), byte), arith::le(byte, d_.context().imm(kByte, 13)));
    return arith::logical_or(is(' '), control);
  }

  /// Runs of blanks separate, and what is at the ends does not count.
  Stmt walk_blanks(Expr begin, Expr length, const OnPart& on_part) {
    Expr one = b_.index(1);
    Stmt to_blank = b_.loop_while(arith::lt(at_.get(), length),
                                  b_.branch(is_blank(x_.byte(begin + at_.get())), b_.leave_loop(), at_.add(one)));
    Stmt word = b_.seq(
        {start_.set(at_.get()), b_.branch(may_cut(), to_blank, at_.set(length)), part(begin, at_.get(), on_part)});
    Stmt scan = b_.loop_while(arith::lt(at_.get(), length),
                              b_.branch(is_blank(x_.byte(begin + at_.get())), at_.add(one), word));
    return b_.seq({at_.set(0), parts_.set(0), scan});
  }

  DefineContext& d_;
  tir::Builder& b_;
  Strings x_;
  BufferRef delimiter_;
  Local at_, start_, hit_, parts_;
};

Stmt define_split(DefineContext& d) {
  return Split(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "strings.checked",
     .operands = kStrings,
     .infer = infer_checked,
     .define = define_checked,
     .doc = "the spans, of which each must lie within the bytes"},
    {.name = "strings.equal",
     .operands = kPair,
     .infer = infer_equal,
     .define = define_equal,
     .doc = "whether strings are the same, with broadcasting"},
    {.name = "strings.find",
     .operands = kFind,
     .infer = infer_find,
     .define = define_find,
     .doc = "the position of each string in a table in ascending order of bytes; -1: it is not there"},
    {.name = "strings.match",
     .operands = kMatch,
     .infer = infer_match,
     .define = define_match,
     .doc = "whether a finite automaton that begins in state 0 accepts each string"},
    {.name = "strings.concat",
     .operands = kPair,
     .infer = infer_concat,
     .define = define_concat,
     .upper_bound = most_bytes,
     .doc = "strings of a followed by those of b, with broadcasting: spans and bytes"},
    {.name = "strings.split",
     .operands = kSplit,
     .attrs = kMost,
     .infer = infer_split,
     .define = define_split,
     .upper_bound = most_parts,
     .doc = "the parts between delimiters (none: between blanks) after at most so many cuts, as spans of the same "
            "bytes, and how many each string has"},
};

}  // namespace
}  // namespace relaxc::ops

RELAXC_OPERATORS(strings, kOps)
