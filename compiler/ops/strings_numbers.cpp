// strings_numbers.cpp: prints numbers as strings, and parses strings as numbers.
//
// A float is printed with the fewest digits that read back as the same number, in plain notation or, outside of 1e-4 ..
// 1e16, with an exponent, as in NumPy. Digits come from float64 arithmetic with a table of powers of ten, which is
// precise enough for floats of up to 32 bits; a float64 can be parsed, with an error of one unit in the last place if
// there are more than 15 digits, but not printed. A string that is not a number ends the run with an error.
#include <cmath>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/strings.h"

namespace relaxc::ops::strings_numbers_family {
namespace {

constexpr DType kI64 = DType::i(64), kU64 = DType::u(64), kF64 = DType::f(64);
constexpr OperandDef kFormat[] = {{"x"}, {"powers"}};
constexpr OperandDef kParse[] = {{"spans"}, {"bytes"}, {"powers"}};
constexpr AttrDef kDtype[] = {{"dtype", AttrType::kDType, true}};
/// The table of powers has 10^-kLargest .. 10^kLargest, and the text of a number has at most kWidth bytes.
constexpr int64_t kLargest = 300, kWidth = 24, kMostDigits = 9;

relaxc::Status expect_powers(InferContext& c, size_t operand) {
  RELAXC_TRY(const TensorInfo* powers, c.tensor(operand));
  if (powers->ndim != 1 || powers->dtype != kF64 || !(*powers->shape)[0].is_constant(2 * kLargest + 1))
    return c.error(Kind::shape_mismatch, "'{}' takes the {} powers of ten from -{} to {} as float64", c.op.def->name,
                   2 * kLargest + 1, kLargest, kLargest);
  return Done{};
}

/// A scalar variable of the definition.
class Cell {
 public:
  Cell(tir::Builder& b, const char* name, DType dtype)
      : b_(b), buffer_(b.buffer(name, dtype, {b.index(1)}, tir::Scope::kLocal)) {}
  Expr get() { return b_.load(buffer_, {b_.index(0)}); }
  Stmt set(Expr value) { return b_.store(buffer_, {b_.index(0)}, cast(buffer_->dtype, value)); }
  Stmt around(Stmt body) { return b_.alloc(buffer_, body); }

 private:
  tir::Builder& b_;
  BufferRef buffer_;
};

/// Makes constants, and looks up powers of ten.
class Decimal {
 public:
  Decimal(DefineContext& d, BufferRef powers) : context_(d.context()), b_(d.builder), powers_(powers) {}

  Expr power(Expr exponent) {
    Expr at = arith::max(arith::min(exponent, b_.index(kLargest)), b_.index(-kLargest));
    return b_.load(powers_, {at + kLargest});
  }
  Expr u(int64_t value) { return context_.imm(kU64, value); }
  Expr f(double value) { return context_.imm_float(kF64, value); }
  Expr byte(char c) { return context_.imm(kByte, static_cast<unsigned char>(c)); }
  Expr is(bool value) { return context_.imm(DType::boolean(), value); }

 private:
  Context& context_;
  tir::Builder& b_;
  BufferRef powers_;
};

// ---- numbers to strings

InferResult infer_format(InferContext& c) {
  RELAXC_DO(expect_dtype(
      c, 0, [](DType dtype) { return dtype.is_integer() || (dtype.is_float() && dtype.bits <= 32); },
      "an integer or a float of up to 32 bits"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(expect_powers(c, 1));
  Expr bytes = product(c.context, *x->shape) * kWidth;
  return std::vector<Info>{tensor_info(c.context, with_pair(c.context, *x->shape), kI64),
                           tensor_info(c.context, Dims{bytes}, kByte)};
}

/// Writes each element as text into its own slot of kWidth bytes.
class Format {
 public:
  explicit Format(DefineContext& d)
      : d_(d),
        b_(d.builder),
        decimal_(d, d.input(1)),
        slot_(b_, "slot"),
        length_(b_, "length"),
        exponent_(b_, "exponent"),
        point_(b_, "point"),
        count_(b_, "count"),
        digits_(b_, "digits", kU64),
        scale_(b_, "scale", kU64),
        left_(b_, "left", kU64) {}

  Stmt run() {
    BufferRef x = d_.input(0);
    Strings out(d_, d_.output(0), d_.output(1));
    Stmt all = b_.nest(x->shape, [&](const Indices& i) {
      Expr value = b_.load(x, i);
      Stmt write = x->dtype.is_float() ? write_float(value) : write_integer(value);
      Stmt done = b_.seq({out.set(i, slot_.get(), length_.get()), slot_.add(b_.index(kWidth))});
      return b_.seq({length_.set(0), write, done});
    });
    Stmt body = b_.seq({slot_.set(0), all});
    for (Local* local : {&slot_, &length_, &exponent_, &point_, &count_}) body = local->around(body);
    for (Cell* cell : {&digits_, &scale_, &left_}) body = cell->around(body);
    return body;
  }

 private:
  Stmt put(Expr byte) {
    return b_.seq({b_.store(d_.output(1), {slot_.get() + length_.get()}, byte), length_.add(b_.index(1))});
  }
  Stmt put(char c) { return put(decimal_.byte(c)); }
  Stmt put(const char* text) {
    std::vector<Stmt> parts;
    for (; *text != '\0'; ++text) parts.push_back(put(*text));
    return b_.seq(parts);
  }

  Stmt write_integer(Expr value) {
    Stmt sign, size = digits_.set(value);
    if (value.dtype().is_int()) {
      Expr wide = cast(kI64, value), zero = d_.context().imm(kI64, 0);
      sign = b_.branch(arith::lt(wide, zero), put('-'));
      size = digits_.set(arith::select(arith::lt(wide, zero), decimal_.u(0) - cast(kU64, wide), cast(kU64, wide)));
    }
    return b_.seq({sign, size, measure(), put_digits(b_.index(kWidth))});
  }

  /// Sets `count` to the number of decimal digits, `scale` to the power of ten of the first, and `left` to all of them.
  Stmt measure() {
    Expr ten = decimal_.u(10);
    Stmt grow = b_.loop_while(arith::le(ten, safe_div(digits_.get(), scale_.get())),
                              b_.seq({scale_.set(scale_.get() * ten), count_.add(b_.index(1))}));
    return b_.seq({scale_.set(decimal_.u(1)), count_.set(1), grow, left_.set(digits_.get())});
  }

  /// Writes the next digits of `left`, at most `most`.
  Stmt put_digits(Expr most) {
    Stmt one = b_.let("digit", safe_div(left_.get(), scale_.get()), [&](Var digit) {
      return b_.seq({put(cast(kByte, digit) + decimal_.byte('0')), left_.set(left_.get() - digit * scale_.get()),
                     scale_.set(safe_div(scale_.get(), decimal_.u(10)))});
    });
    return b_.loop("place", most,
                   [&](Var) { return b_.branch(arith::eq(scale_.get(), decimal_.u(0)), b_.leave_loop(), one); });
  }

  Stmt write_float(Expr element) {
    Expr value = cast(kF64, element), size = call(Intrinsic::k_abs, value);
    // A zero is negative if its inverse is.
    Expr negative =
        arith::lt(arith::select(arith::eq(size, decimal_.f(0)), decimal_.f(1) / value, value), decimal_.f(0));
    Stmt sign = b_.branch(negative, put('-'));
    Stmt number = b_.branch(arith::eq(size, decimal_.f(0)), put("0.0"),
                            b_.seq({find_exponent(size), find_digits(element, size), measure(), write_digits()}));
    Stmt finite = b_.seq({sign, b_.branch(call(Intrinsic::k_isinf, value), put("INF"), number)});
    return b_.branch(call(Intrinsic::k_isnan, value), put("NaN"), finite);
  }

  /// Sets `exponent` to the power of ten of the first digit.
  Stmt find_exponent(Expr size) {
    Expr e = exponent_.get(), one = b_.index(1);
    Stmt up = b_.loop_while(arith::le(decimal_.power(exponent_.get() + 1), size), exponent_.add(one));
    Stmt down = b_.loop_while(arith::lt(size, decimal_.power(e)), exponent_.add(b_.index(-1)));
    return b_.seq({exponent_.set(0), up, down});
  }

  /// Finds the fewest digits that convert back to the element, and `point`, the power of ten of the last one.
  Stmt find_digits(Expr element, Expr size) {
    Expr magnitude = call(Intrinsic::k_abs, cast(element.dtype(), size));
    Stmt search = b_.loop("precision", b_.index(kMostDigits), [&](Var precision) {
      Expr unit = decimal_.power(exponent_.get() - precision);
      Expr again = cast(element.dtype(), cast(kF64, digits_.get()) * unit);
      return b_.seq({digits_.set(call(Intrinsic::k_round, size / unit)), point_.set(exponent_.get() - precision),
                     b_.branch(arith::eq(again, magnitude), b_.leave_loop())});
    });
    // 9.9999997e-05, for example, is rounded up to ten of its unit.
    Stmt round = b_.branch(arith::eq(digits_.get(), decimal_.u(10)),
                           b_.seq({digits_.set(decimal_.u(1)), point_.add(b_.index(1))}));
    return b_.seq({search, round});
  }

  /// Writes `digits` times 10^point, in plain or scientific notation. In plain text, `whole` digits precede the point.
  Stmt write_digits() {
    return b_.let("whole", count_.get() + point_.get(), [&](Var whole) {
      Expr zero = b_.index(0), one = b_.index(1), power = whole - 1;
      auto zeros = [&](Expr count) { return b_.loop("zero", count, [&](Var) { return put('0'); }); };
      Expr all = b_.index(kWidth);
      Stmt small = b_.seq({put("0."), zeros(zero - whole), put_digits(all)});
      Stmt large = b_.seq({put_digits(all), zeros(arith::max(zero, point_.get())), put(".0")});
      Stmt mixed = b_.seq({put_digits(whole), put('.'), put_digits(all)});
      Stmt plain = b_.branch(arith::le(whole, zero), small, b_.branch(arith::le(zero, point_.get()), large, mixed));
      Stmt fraction = b_.branch(arith::lt(one, count_.get()), b_.seq({put('.'), put_digits(all)}));
      Expr far = arith::select(arith::lt(power, zero), zero - power, power);
      auto digit = [&](Expr value) { return put(cast(kByte, value) + decimal_.byte('0')); };
      Expr sign = arith::select(arith::lt(power, zero), decimal_.byte('-'), decimal_.byte('+'));
      Stmt scientific = b_.seq({put_digits(one), fraction, put('e'), put(sign), digit(arith::floordiv(far, 10)),
                                digit(arith::floormod(far, 10))});
      Expr is_plain = arith::logical_and(arith::le(b_.index(-4), power), arith::lt(power, b_.index(16)));
      return b_.branch(is_plain, plain, scientific);
    });
  }

  DefineContext& d_;
  tir::Builder& b_;
  Decimal decimal_;
  Local slot_, length_, exponent_, point_, count_;
  Cell digits_, scale_, left_;
};

Stmt define_format(DefineContext& d) {
  return Format(d).run();
}

// ---- strings to numbers

InferResult infer_parse(InferContext& c) {
  RELAXC_TRY(Dims dims, strings_dims(c));
  RELAXC_DO(expect_powers(c, 2));
  DType dtype = c.op.attrs.dtype("dtype");
  if (!is_number(dtype))
    return c.error(Kind::invalid_attribute, "'strings.parse' gives numbers, not {}", to_string(dtype));
  return one(tensor_info(c.context, std::move(dims), dtype));
}

/// Parses each string as a number. Blanks at its ends are ignored; INF and NaN may be in any case.
class Parse {
 public:
  explicit Parse(DefineContext& d)
      : d_(d),
        b_(d.builder),
        x_(d, d.input(0), d.input(1)),
        decimal_(d, d.input(2)),
        at_(b_, "at"),
        end_(b_, "end"),
        negative_(b_, "negative"),
        digits_(b_, "digits"),
        point_(b_, "point"),
        exponent_(b_, "exponent"),
        kind_(b_, "kind"),
        value_(b_, "value", kU64) {}

  Stmt run() {
    BufferRef y = d_.output();
    Stmt body = b_.nest(y->shape, [&](const Indices& i) {
      Stmt begin = b_.seq({at_.set(x_.begin(i)), end_.set(x_.begin(i) + x_.length(i)), trim(),
                           value_.set(decimal_.u(0)), digits_.set(0), exponent_.set(0), point_.set(0)});
      Expr valid = arith::logical_and(arith::eq(at_.get(), end_.get()), arith::ne(kind_.get(), b_.index(kNone)));
      return b_.seq({begin, sign(), read(), d_.require(valid, kAssertion), b_.store(y, i, result(y->dtype))});
    });
    for (Local* local : {&at_, &end_, &negative_, &digits_, &point_, &exponent_, &kind_}) body = local->around(body);
    return value_.around(body);
  }

 private:
  enum Kind : int64_t { kNone, kNumber, kInfinite, kNotANumber };

  Expr here() { return x_.byte(at_.get()); }
  Expr more() { return arith::lt(at_.get(), end_.get()); }
  Expr is(Expr byte, char c) { return arith::eq(byte, decimal_.byte(c)); }
  Expr is_digit(Expr byte) {
    return arith::logical_and(arith::le(decimal_.byte('0'), byte), arith::le(byte, decimal_.byte('9')));
  }
  Expr is_blank(Expr byte) {
    Expr control = arith::logical_and(arith::le(decimal_.byte('\t'), byte), arith::le(byte, decimal_.byte('\r')));
    return arith::logical_or(is(byte, ' '), control);
  }
  Stmt step() { return at_.add(b_.index(1)); }
  /// Runs `then` if there is another byte and `condition` holds for it, else `otherwise`.
  Stmt where(const std::function<Expr(Expr byte)>& condition, Stmt then, Stmt otherwise = {}) {
    return b_.branch(more(), b_.branch(condition(here()), then, otherwise), otherwise);
  }

  Stmt trim() {
    Stmt front = b_.loop_while(more(), b_.branch(is_blank(here()), step(), b_.leave_loop()));
    Expr last = x_.byte(end_.get() - 1);
    Stmt back = b_.loop_while(more(), b_.branch(is_blank(last), end_.add(b_.index(-1)), b_.leave_loop()));
    return b_.seq({front, back});
  }

  /// Reads an optional sign into `negative`.
  Stmt sign() {
    auto minus = [&](Expr byte) { return is(byte, '-'); };
    auto plus = [&](Expr byte) { return is(byte, '+'); };
    return b_.seq({negative_.set(0), where(minus, b_.seq({negative_.set(1), step()}), where(plus, step()))});
  }

  Stmt read() {
    auto letter = [&](Expr byte, char c) {
      return arith::logical_or(is(byte, c), is(byte, static_cast<char>(c - 32)));
    };
    Expr three = arith::eq(end_.get() - at_.get(), b_.index(3));
    auto word = [&](const char* text, Kind kind, Stmt otherwise) {
      Stmt found = b_.seq({kind_.set(kind), at_.set(end_.get())});
      for (int64_t k = 2; k >= 0; --k) found = b_.branch(letter(x_.byte(at_.get() + k), text[k]), found, otherwise);
      return found;
    };
    Stmt number = read_number();
    return b_.seq(
        {kind_.set(kNone), b_.branch(three, word("inf", kInfinite, word("nan", kNotANumber, number)), number)});
  }

  /// Reads digits with an optional point, of which at least the first 19 count, and an optional exponent.
  Stmt read_number() {
    Expr one = b_.index(1);
    Expr digit = cast(kU64, here() - decimal_.byte('0'));
    Expr room = arith::lt(value_.get(), decimal_.u(1844674407370955161));
    Stmt keep = b_.seq({value_.set(value_.get() * decimal_.u(10) + digit), exponent_.add(b_.index(0) - point_.get())});
    Stmt take = b_.seq({kind_.set(kNumber), b_.branch(room, keep, exponent_.add(one - point_.get())), step()});
    auto is_point = [&](Expr byte) { return is(byte, '.'); };
    Stmt next = b_.branch(is_digit(here()), take,
                          b_.branch(arith::logical_and(is_point(here()), arith::eq(point_.get(), b_.index(0))),
                                    b_.seq({point_.set(1), step()}), b_.leave_loop()));
    Stmt mantissa = b_.loop_while(more(), next);
    auto is_e = [&](Expr byte) { return arith::logical_or(is(byte, 'e'), is(byte, 'E')); };
    Stmt power = where(is_e, b_.branch(arith::ne(kind_.get(), b_.index(kNone)), read_exponent()));
    return b_.seq({mantissa, power});
  }

  /// Reads the exponent into `digits`, with its sign in `point`. An exponent without digits makes the text no number.
  Stmt read_exponent() {
    Expr ten = b_.index(10), limit = b_.index(100000);
    Expr digit = cast(DType::index(), here() - decimal_.byte('0'));
    Stmt take = b_.seq({kind_.set(kNumber), digits_.set(arith::min(limit, digits_.get() * ten + digit)), step()});
    Stmt all = b_.loop_while(more(), b_.branch(is_digit(here()), take, b_.leave_loop()));
    auto minus = [&](Expr byte) { return is(byte, '-'); };
    auto plus = [&](Expr byte) { return is(byte, '+'); };
    Stmt turn = b_.branch(arith::eq(point_.get(), b_.index(1)), digits_.set(b_.index(0) - digits_.get()));
    return b_.seq({step(), kind_.set(kNone), point_.set(0),
                   where(minus, b_.seq({point_.set(1), step()}), where(plus, step())), all, turn,
                   exponent_.add(digits_.get())});
  }

  /// Returns the value. An exponent beyond the table takes a second multiplication, which gives 0 or infinity.
  Expr result(DType dtype) {
    Expr e = exponent_.get(), zero = b_.index(0);
    Expr near = arith::max(arith::min(e, b_.index(kLargest)), b_.index(-kLargest));
    Expr far = arith::max(arith::min(e - near, b_.index(kLargest)), b_.index(-kLargest));
    // Dividing by an exact power rounds once; multiplying by its inverse would round twice.
    Expr wide = cast(kF64, value_.get());
    Expr scaled = arith::select(arith::lt(near, zero), wide / decimal_.power(zero - near), wide * decimal_.power(near));
    scaled = arith::select(arith::eq(far, zero), scaled, scaled * decimal_.power(far));
    Expr infinite = arith::eq(kind_.get(), b_.index(kInfinite)), nan = arith::eq(kind_.get(), b_.index(kNotANumber));
    scaled = arith::select(infinite, decimal_.f(INFINITY), arith::select(nan, decimal_.f(NAN), scaled));
    Expr minus = arith::eq(negative_.get(), b_.index(1));
    if (dtype.is_float()) return cast(dtype, arith::select(minus, -scaled, scaled));
    Expr whole = arith::logical_and(arith::eq(e, zero), arith::eq(kind_.get(), b_.index(kNumber)));
    Expr exact = arith::select(minus, decimal_.u(0) - value_.get(), value_.get());
    return arith::select(whole, cast(dtype, exact), cast(dtype, arith::select(minus, -scaled, scaled)));
  }

  DefineContext& d_;
  tir::Builder& b_;
  Strings x_;
  Decimal decimal_;
  Local at_, end_, negative_, digits_, point_, exponent_, kind_;
  Cell value_;
};

Stmt define_parse(DefineContext& d) {
  return Parse(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "strings.format",
     .operands = kFormat,
     .infer = infer_format,
     .define = define_format,
     .doc = "numbers as the shortest strings that parse to the same numbers, by a table of powers of ten"},
    {.name = "strings.parse",
     .operands = kParse,
     .attrs = kDtype,
     .infer = infer_parse,
     .define = define_parse,
     .doc = "numbers parsed from strings, by a table of powers of ten"},
};

}  // namespace
}  // namespace relaxc::ops::strings_numbers_family

RELAXC_OPERATORS(strings_numbers, kOps)
