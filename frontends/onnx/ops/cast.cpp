// cast.cpp: Cast and CastLike: conversions between element types.
//
// relaxc's own casts round to nearest and saturate to integers. ONNX's further conversions are composed of operators:
// float8 that saturates at its largest value, integers of less than a byte that wrap, and powers of two (float8e8m0)
// that round up and ignore the sign.
#include <algorithm>
#include <cstring>

#include "compiler/support/dtype_limits.h"
#include "frontends/onnx/conversion.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::cast_family {
namespace {

/// Returns whether the dtype is a float8 with infinities or NaNs that an overflow would give.
bool overflows(DType dtype) {
  return dtype.code == TypeCode::kFloat8E4M3FN || dtype.code == TypeCode::kFloat8E4M3FNUZ ||
         dtype.code == TypeCode::kFloat8E5M2 || dtype.code == TypeCode::kFloat8E5M2FNUZ;
}

/// Returns the exponent of x as float32, rounded as the rules say, in float8e8m0. Infinity and NaN become NaN.
Result<Value*> to_powers(Node& node, Value* x, const ConversionRules& rules) {
  DType bits = DType::u(32);
  auto number = [&](double value) { return node.scalar(bits, value); };
  RELAXC_TRY(x, astype(node, x, DType::f(32)));
  RELAXC_TRY(x, node.call("reinterpret", {x}, {{"dtype", bits}}));
  RELAXC_TRY(Value * exponent, node.call("right_shift", {x, number(23)}));
  RELAXC_TRY(exponent, node.call("bitwise_and", {exponent, number(255)}));
  if (rules.round != "down") {
    RELAXC_TRY(Value * fraction, node.call("bitwise_and", {x, number(0x7fffff)}));
    RELAXC_TRY(Value * more, node.call("greater", {fraction, number(rules.round == "up" ? 0 : 0x400000)}));
    if (rules.round == "nearest") {
      // A tie goes to the larger power, except for float32 subnormals.
      RELAXC_TRY(Value * tie, node.call("equal", {fraction, number(0x400000)}));
      RELAXC_TRY(Value * normal, node.call("greater", {exponent, number(0)}));
      RELAXC_TRY(tie, node.call("logical_and", {tie, normal}));
      RELAXC_TRY(more, node.call("logical_or", {more, tie}));
    }
    RELAXC_TRY(Value * room, node.call("less", {exponent, number(rules.saturate ? 254 : 255)}));
    RELAXC_TRY(more, node.call("logical_and", {more, room}));
    RELAXC_TRY(more, astype(node, more, bits));
    RELAXC_TRY(exponent, node.call("add", {exponent, more}));
  }
  RELAXC_TRY(exponent, astype(node, exponent, DType::u(8)));
  return node.call("reinterpret", {exponent}, {{"dtype", DType{TypeCode::kFloat8E8M0FNU, 8}}});
}

/// Returns the element type that Cast asks for: a number, or its name in opsets 1 to 5.
Result<int32_t> cast_target(Node& node) {
  const onnx::AttributeProto* to = node.attribute("to");
  if (to == nullptr) return node.error(Kind::invalid_attribute, "attribute 'to' is missing");
  int64_t code = to->i();
  if (to->has_s()) {
    std::string name = to->s();
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (int32_t type = 1; type <= onnx::TensorProto::DOUBLE; ++type)
      if (data_type_name(type) == name) code = type;
  }
  if (code != static_cast<int32_t>(code)) return node.error(Kind::invalid_attribute, "attribute 'to' is {}", code);
  return static_cast<int32_t>(code);
}

/// Returns the table of 10^-300 .. 10^300 that operators between strings and numbers read.
Value* powers_of_ten(Node& node) {
  std::vector<double> powers;
  for (int power = -300; power <= 300; ++power)
    powers.push_back(std::strtod(("1e" + std::to_string(power)).c_str(), nullptr));
  std::vector<std::byte> bytes(powers.size() * sizeof(double));
  std::memcpy(bytes.data(), powers.data(), bytes.size());
  auto count = static_cast<int64_t>(powers.size());
  return node.builder().constant(relax::ConstantData::inline_bytes(DType::f(64), {count}, std::move(bytes)));
}

Status cast_to_strings(Node& node) {
  if (is_strings(node, 0)) return node.forward(0, 0);
  RELAXC_TRY(Value * x, node.input(0));
  if (x->dtype().is_bool()) {
    RELAXC_TRY(x, astype(node, x, DType::u(8)));
  }
  if (x->dtype() == DType::f(64))
    return node.error(Kind::unsupported, "float64 cannot be cast to strings; cast it to float32 first");
  RELAXC_TRY(std::vector<Value*> made, node.call_many("strings.format", {x, powers_of_ten(node)}));
  set_strings(node, 0, {made[0], made[1]});
  return Done{};
}

/// Parses dtypes without a text form of their own as a wider one: narrow floats as float32, bool as float64.
Status cast_from_strings(Node& node, DType dtype) {
  RELAXC_TRY(Strings x, strings_input(node, 0));
  DType read = dtype.is_bool() ? DType::f(64) : dtype.is_float() && dtype.bits < 32 ? DType::f(32) : dtype;
  Attrs attrs{{"dtype", read}};
  RELAXC_TRY(Value * y, node.call("strings.parse", {x.spans, x.bytes, powers_of_ten(node)}, std::move(attrs)));
  RELAXC_TRY(ConversionRules rules, conversion_rules(node));
  return node.set(0, converted(node, y, dtype, rules));
}

Status cast_to(Node& node, DType dtype) {
  if (is_strings(node, 0)) return cast_from_strings(node, dtype);
  RELAXC_TRY(const TensorInfo* info, node.info(0));
  if (*info->dtype == dtype) return node.forward(0, 0);
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(ConversionRules rules, conversion_rules(node));
  return node.set(0, converted(node, x, dtype, rules));
}

Status cast(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(int32_t target, cast_target(node));
  if (target == onnx::TensorProto::STRING) return cast_to_strings(node);
  RELAXC_TRY(DType dtype, dtype_of(target, node.location, diag));
  return cast_to(node, dtype);
}

bool fold_cast(Node& node) {
  const Known* x = node.known(0);
  const onnx::AttributeProto* to = node.attribute("to");
  if (x == nullptr || to == nullptr || to->has_s()) return false;
  if (to->i() == onnx::TensorProto::INT64)
    return fold_unary(
        node, [](Node&, Expr a) { return a; }, DType::i(64));
  if (to->i() == onnx::TensorProto::INT32)
    return fold_unary(
        node,
        [](Node& n, Expr a) {
          return a.constant() == nullptr ? a : n.index(arith::wrap_to_dtype(*a.constant(), DType::i(32)));
        },
        DType::i(32));
  if (to->i() == onnx::TensorProto::BOOL)
    return fold_unary(
        node, [](Node& n, Expr a) { return fold_bool(n, arith::ne(a, n.index(0))); }, DType::boolean());
  return false;
}

Status cast_like(Node& node) {
  if (is_strings(node, 1)) return cast_to_strings(node);
  RELAXC_TRY(const TensorInfo* like, node.info(1));
  return cast_to(node, *like->dtype);
}

Status bit_cast(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(DType to, dtype_of(static_cast<int32_t>(node.int_attr("to", 0)), node.location, diag));
  return node.set(0, node.call("reinterpret", {x}, {{"dtype", to}}));
}

constexpr Converter kRows[] = {
    {.name = "Cast", .convert = cast, .fold = fold_cast, .note = "not from float64 to strings"},
    {.name = "CastLike", .convert = cast_like, .note = "not from float64 to strings"},
    {.name = "BitCast", .convert = bit_cast, .note = "only between element types of one width"},
};

}  // namespace
}  // namespace relaxc::frontend::cast_family

namespace relaxc::frontend {

Result<ConversionRules> conversion_rules(Node& node) {
  ConversionRules rules{node.int_attr("saturate", 1) != 0, node.string_attr("round_mode", "up")};
  if (rules.round != "up" && rules.round != "down" && rules.round != "nearest")
    return node.error(Kind::invalid_attribute, "round_mode is '{}'; 'up', 'down' and 'nearest' are possible",
                      rules.round);
  return rules;
}

Result<Value*> converted(Node& node, Value* x, DType dtype, const ConversionRules& rules) {
  if (x->dtype() == dtype) return x;
  if (dtype.code == TypeCode::kFloat8E8M0FNU) return cast_family::to_powers(node, x, rules);
  // The reference converts via a wider integer, which wraps; a direct conversion would saturate.
  if (x->dtype().is_float() && dtype.is_integer() && dtype.bits < 8) {
    RELAXC_TRY(x, astype(node, x, DType::i(32)));
  }
  if (cast_family::overflows(dtype) && rules.saturate) {
    double largest = largest_finite(dtype);
    // Compare in a dtype that can hold the limit: 448 does not fit into an int8 or another float8.
    if (!x->dtype().is_float() || x->dtype().bits <= 8) {
      RELAXC_TRY(x, astype(node, x, DType::f(32)));
    }
    RELAXC_TRY(x, node.call("maximum", {x, node.scalar(x->dtype(), -largest)}));
    RELAXC_TRY(x, node.call("minimum", {x, node.scalar(x->dtype(), largest)}));
  }
  return astype(node, x, dtype);
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(cast, kRows)
