// constant_reader.cpp: reads R.const(…).
#include "frontends/relax/constants/constant_reader.h"

#include <cstring>
#include <limits>

#include "compiler/arith/expr.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {
namespace {

using AstKind = ast::ExprKind;

/// A number of the text: its value, and whether it was written as an integer.
struct Number {
  const ast::Expr* at = nullptr;
  bool is_integer = true, is_bool = false;
  int64_t integer = 0;
  double real = 0;

  double as_real() const { return is_integer ? static_cast<double>(integer) : real; }
};

class ConstantReader {
 public:
  explicit ConstantReader(SourceText& source) : source_(source) {}

  /// Reads nested lists to `shape_` and `numbers_`, in row-major order. Reports lists of different depth or length.
  Status read(const ast::Expr& e, size_t depth) {
    if (!e.is_sequence()) {
      if (depth != shape_.size() && !first_leaf_)
        return source_.error(e.place, Kind::shape_mismatch, "lists of a constant must be of one depth and length");
      first_leaf_ = false;
      return leaf(e);
    }
    if (first_leaf_ && depth == shape_.size()) shape_.push_back(static_cast<int64_t>(e.items.size()));
    if (depth >= shape_.size() || shape_[depth] != static_cast<int64_t>(e.items.size()))
      return source_.error(e.place, Kind::shape_mismatch, "lists of a constant must be of one depth and length");
    for (const ast::Expr* item : e.items)
      if (!read(*item, depth + 1)) return source_.diag().failed();
    return Done{};
  }

  DType natural_dtype() const {
    bool bools = !numbers_.empty(), integers = true;
    for (const Number& number : numbers_) {
      bools = bools && number.is_bool;
      integers = integers && number.is_integer;
    }
    return bools ? DType::boolean() : integers && !numbers_.empty() ? DType::i(32) : DType::f(32);
  }

  Result<std::vector<std::byte>> bytes(DType dtype) const {
    size_t size = static_cast<size_t>(dtype.bytes());
    std::vector<std::byte> out(numbers_.size() * size);
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const Number& number = numbers_[i];
      uint64_t bits = 0;
      if (dtype.is_float()) {
        std::vector<std::byte> encoded = relax::encode_scalar(dtype, number.as_real());
        std::memcpy(&bits, encoded.data(), size);
      } else {
        if (!number.is_integer)
          return source_.error(number.at->place, Kind::dtype_mismatch, "expected a value of dtype {}, found a float",
                               to_string(dtype));
        bool fits = arith::wrap_to_dtype(number.integer, dtype) == number.integer || dtype == DType::u(64);
        if (!fits)
          return source_.error(number.at->place, Kind::overflow, "{} does not fit {}", number.integer,
                               to_string(dtype));
        bits = static_cast<uint64_t>(number.integer);
      }
      std::memcpy(out.data() + i * size, &bits, size);
    }
    return out;
  }

  const std::vector<int64_t>& shape() const { return shape_; }
  size_t count() const { return numbers_.size(); }

 private:
  Status leaf(const ast::Expr& e) {
    RELAXC_TRY(Number number, number_of(e));
    numbers_.push_back(number);
    return Done{};
  }

  /// Returns the value of a number, or of +, -, * and / of numbers, as Python computes it.
  Result<Number> number_of(const ast::Expr& e) {
    Number number;
    number.at = &e;
    if (e.is(AstKind::kTrue) || e.is(AstKind::kFalse)) {
      number.is_bool = true;
      number.integer = e.is(AstKind::kTrue);
    } else if (e.is(AstKind::kInt)) {
      RELAXC_TRY(number.integer, integer_value(source_, e));
    } else if (e.is(AstKind::kFloat)) {
      number.is_integer = false;
      number.real = float_value(e);
    } else if (std::optional<double> value = special(e)) {
      number.is_integer = false;
      number.real = *value;
    } else if (e.is(AstKind::kUnary) && e.text == "-") {
      RELAXC_TRY(Number operand, number_of(*e.items[0]));
      return computed(e, Number{}, operand);
    } else if (e.is(AstKind::kBinary) && (e.text == "+" || e.text == "-" || e.text == "*" || e.text == "/")) {
      RELAXC_TRY(Number left, number_of(*e.items[0]));
      RELAXC_TRY(Number right, number_of(*e.items[1]));
      return computed(e, left, right);
    } else {
      return source_.error(e.place, Kind::invalid_value, "expected a number, found {}", describe(e));
    }
    return number;
  }

  /// Returns `left` e.text `right`; for a negation, `left` is the integer 0.
  Result<Number> computed(const ast::Expr& e, const Number& left, const Number& right) {
    Number out;
    out.at = &e;
    out.is_integer = left.is_integer && right.is_integer && e.text != "/";
    if (out.is_integer) {
      const int64_t a = left.integer, b = right.integer;
      bool beyond = e.text == "+"   ? __builtin_add_overflow(a, b, &out.integer)
                    : e.text == "-" ? __builtin_sub_overflow(a, b, &out.integer)
                                    : __builtin_mul_overflow(a, b, &out.integer);
      if (beyond) return source_.error(e.place, Kind::overflow, "the number does not fit 64 bits");
      return out;
    }
    const double a = left.as_real(), b = right.as_real();
    if (e.text == "/" && b == 0) return source_.error(e.place, Kind::invalid_value, "a division by zero");
    // 0 - 0.0 would be 0.0, and the negation is -0.0.
    if (e.is(AstKind::kUnary)) return out.real = -b, out;
    out.real = e.text == "+" ? a + b : e.text == "-" ? a - b : e.text == "*" ? a * b : a / b;
    return out;
  }

  /// Returns the value of float("inf"), float("nan"), float("-inf") or of the text alone, as TVM prints it; nullopt for
  /// anything else.
  static std::optional<double> special(const ast::Expr& e) {
    const bool call = e.is(AstKind::kCall) && e.items.size() == 2 && dotted_path(*e.items[0]) == "float";
    const ast::Expr& written = call ? *e.items[1] : e;
    if (!written.is(AstKind::kString)) return std::nullopt;
    const std::string& text = written.text;
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  SourceText& source_;
  std::vector<int64_t> shape_;
  std::vector<Number> numbers_;
  bool first_leaf_ = true;
};

}  // namespace

Result<relax::ConstantRef> read_constant(SourceText& source, const ast::Expr& value, std::optional<DType> dtype,
                                         const std::optional<std::vector<int64_t>>& shape) {
  ConstantReader reader(source);
  RELAXC_DO(reader.read(value, 0));
  DType element = dtype.value_or(reader.natural_dtype());
  bool numeric = element.is_float() || element.is_integer() || element.is_bool();
  if (!numeric)
    return source.error(value.place, Kind::unsupported, "a constant of dtype {} cannot be written in text",
                        to_string(element));
  std::vector<int64_t> dims = shape.value_or(reader.shape());
  int64_t elements = 1;
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(elements, dim, &elements))
      return source.error(value.place, Kind::overflow, "the constant's shape overflows");
  if (elements != static_cast<int64_t>(reader.count()))
    return source.error(value.place, Kind::shape_mismatch, "{} numbers for a shape of {} elements", reader.count(),
                        elements);
  RELAXC_TRY(std::vector<std::byte> bytes, reader.bytes(element));
  return relax::ConstantData::inline_bytes(element, std::move(dims), std::move(bytes));
}

}  // namespace relaxc::frontend
