// compare.cpp: comparisons, logic and selection.
//
// Quantized 8-bit operands are compared as fixed-point real values with 8 more bits; each is rounded as "double".
#include "frontends/tflite/operators.h"

namespace relaxc::tflite::compare_family {
namespace {

/// Returns both operands in one unit, so that they can be compared.
std::pair<Value*, Value*> comparable(Node& node) {
  Value *a = node.input(0), *b = node.input(1);
  if (!node.ok()) return {nullptr, nullptr};
  if (node.type(0) != node.type(1)) {
    node.error(Kind::dtype_mismatch, "operands of {} and {}", type_name(node.type(0)), type_name(node.type(1)));
    return {nullptr, nullptr};
  }
  if (!node.quantized() || node.type() == TensorType::INT16) return {a, b};
  // TFLite multiplies each operand by its own scale, with 8 more bits.
  constexpr double kMoreBits = 1 << 8;
  auto in_units = [&](Value* x, size_t i) {
    Value* steps = node.add(node.i32(x), static_cast<double>(-node.zero_of(node.in(i))));
    return node.scale(node.multiply(steps, kMoreBits), multiplier_of(static_cast<double>(node.scale_of(node.in(i)))));
  };
  return {in_units(a, 0), in_units(b, 1)};
}

template <const OpName& Op>
Status compare(Node& node) {
  auto [a, b] = comparable(node);
  return node.set(node.call(Op, {a, b}));
}

template <const OpName& Op>
Status logic(Node& node) {
  return node.set(node.call(Op, {node.input(0), node.input(1)}));
}
constexpr OpName kEqual = "equal", kNotEqual = "not_equal", kLess = "less", kLessEqual = "less_equal",
                 kGreater = "greater", kGreaterEqual = "greater_equal", kAnd = "logical_and", kOr = "logical_or";

/// A condition of one dim selects whole rows.
Status select(Node& node) {
  Value *condition = node.input(0), *x = node.input(1), *y = node.input(2);
  if (!node.ok()) return node.status();
  if (node.rank(condition) == 1 && node.rank(x) > 1) {
    Ints dims(static_cast<size_t>(node.rank(x)), 1);
    dims[0] = node.dims(condition)[0];
    condition = node.reshape(condition, dims);
  }
  return node.set(node.where(condition, x, y));
}

Status select_v2(Node& node) {
  Value *otherwise = node.input(2), *then = node.input(1);
  return node.set(node.where(node.input(0), then, otherwise));
}

constexpr std::string_view kRounding = "double, of operands with 8 more bits";

constexpr Row kRows[] = {
    {.code = BuiltinOperator::EQUAL,
     .convert = compare<kEqual>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers | kBool,
     .rounding = kRounding},
    {.code = BuiltinOperator::NOT_EQUAL,
     .convert = compare<kNotEqual>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers | kBool,
     .rounding = kRounding},
    {.code = BuiltinOperator::LESS,
     .convert = compare<kLess>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kRounding},
    {.code = BuiltinOperator::LESS_EQUAL,
     .convert = compare<kLessEqual>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kRounding},
    {.code = BuiltinOperator::GREATER,
     .convert = compare<kGreater>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kRounding},
    {.code = BuiltinOperator::GREATER_EQUAL,
     .convert = compare<kGreaterEqual>,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kNumbers,
     .rounding = kRounding},
    {.code = BuiltinOperator::LOGICAL_AND, .convert = logic<kAnd>, .min_inputs = 2, .max_inputs = 2, .types = kBool},
    {.code = BuiltinOperator::LOGICAL_OR, .convert = logic<kOr>, .min_inputs = 2, .max_inputs = 2, .types = kBool},
    {.code = BuiltinOperator::SELECT, .convert = select, .min_inputs = 3, .max_inputs = 3, .types = kBool},
    {.code = BuiltinOperator::SELECT_V2, .convert = select_v2, .min_inputs = 3, .max_inputs = 3, .types = kBool},
};

}  // namespace
}  // namespace relaxc::tflite::compare_family

RELAXC_TFLITE_OPERATORS(compare, kRows)
