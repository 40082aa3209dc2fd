// strings_split.cpp: splits strings into spans of the same bytes.
//
// The number of parts is known only after a walk over all strings, so there are two: one counts, one writes.
#include "compiler/ops/common/strings.h"

namespace relaxc::ops::strings_split_family {
namespace {

constexpr DType kI64 = DType::i(64);
constexpr OperandDef kOperands[] = {{"spans"}, {"bytes"}, {"delimiter"}};
constexpr AttrDef kMost[] = {{"most", AttrType::kInt, false, "-1"}};

InferResult infer_split(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c, 0));
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

  /// Walks over all strings twice: to count their parts, and to write them.
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

  /// Whether another cut is allowed; after the last one, the rest of the string is one part.
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

  /// Splits at runs of blanks; blanks at the ends of the string separate nothing.
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
    {.name = "strings.split",
     .operands = kOperands,
     .attrs = kMost,
     .infer = infer_split,
     .define = define_split,
     .upper_bound = most_parts,
     .doc = "the parts between delimiters (none: between blanks) after at most `most` splits, as spans of the same "
            "bytes, and how many each string has"},
};

}  // namespace
}  // namespace relaxc::ops::strings_split_family

RELAXC_OPERATORS(strings_split, kOps)
