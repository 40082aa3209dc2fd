// elementwise.cpp: elementwise operators: activations, arithmetic, comparison.
//
// Most are one operator of relaxc under another name. Before opset 7 a binary operator broadcast only if an attribute
// said so, with the second operand's dims aligned at `axis`; that becomes dims of 1 after them.
#include "frontends/onnx/fold.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend::elementwise_family {
namespace {

/// Converts a unary operator to the relax operator `Name`.
template <const OpName& Name>
Status unary(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call(Name, {x}));
}

// clang-format off
#define RELAXC_UNARY(X) \
  X(Abs, "abs") X(Acos, "acos") X(Acosh, "acosh") X(Asin, "asin") X(Asinh, "asinh") X(Atan, "atan") \
  X(Atanh, "atanh") X(Ceil, "ceil") X(Cos, "cos") X(Cosh, "cosh") X(Erf, "erf") X(Exp, "exp") X(Floor, "floor") \
  X(Log, "log") X(Neg, "negative") X(Not, "logical_not") X(Reciprocal, "reciprocal") X(Round, "round") \
  X(Sigmoid, "sigmoid") X(Sign, "sign") X(Sin, "sin") X(Sinh, "sinh") X(Softplus, "nn.softplus") \
  X(Softsign, "nn.softsign") X(Sqrt, "sqrt") X(Tan, "tan") X(Tanh, "tanh") X(Relu, "nn.relu") X(IsNaN, "isnan") \
  X(BitwiseNot, "bitwise_not") X(Mish, "nn.mish") X(HardSwish, "nn.hard_swish")
// clang-format on
#define X(name, ours) constexpr OpName k##name = ours;
RELAXC_UNARY(X)
#undef X

/// Returns the second operand in a shape that broadcasts; before opset 7, `axis` says where its dims belong.
Result<Value*> aligned(Node& node, Value* a, Value* b) {
  if (node.opset >= 7 || !node.has_attr("axis") || node.int_attr("broadcast", 0) == 0) return b;
  int64_t rank = static_cast<int64_t>(a->shape().size()), own = static_cast<int64_t>(b->shape().size());
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), rank));
  if (axis + own > rank)
    return node.error(Kind::invalid_attribute, "axis {} leaves no room for the second operand's {} dims", axis, own);
  std::vector<Expr> dims = b->shape();
  dims.resize(static_cast<size_t>(rank - axis), node.index(1));
  return reshape(node, b, std::move(dims));
}

template <const OpName& Name>
Status binary(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  RELAXC_TRY(b, aligned(node, a, b));
  return node.set(0, node.call(Name, {a, b}));
}

// clang-format off
#define RELAXC_BINARY(X) \
  X(Add, "add") X(Sub, "subtract") X(Mul, "multiply") X(Div, "divide") X(Pow, "power") X(And, "logical_and") \
  X(Or, "logical_or") X(Xor, "logical_xor") X(Equal, "equal") X(Greater, "greater") X(Less, "less") \
  X(GreaterOrEqual, "greater_equal") X(LessOrEqual, "less_equal") X(BitwiseAnd, "bitwise_and") \
  X(BitwiseOr, "bitwise_or") X(BitwiseXor, "bitwise_xor") X(Maximum, "maximum") X(Minimum, "minimum")
// clang-format on
#define X(name, ours) constexpr OpName k##name = ours;
RELAXC_BINARY(X)
#undef X

template <ScalarFold F>
bool fold(Node& node) {
  return fold_binary(node, F);
}
using Compare = Expr (*)(Expr, Expr);
template <Compare C>
bool fold_compare(Node& node) {
  return fold_binary(
      node, [](Node& n, Expr a, Expr b) { return fold_bool(n, C(a, b)); }, true);
}
constexpr Compare kEqualExpr = arith::eq;
bool is_known_bool(Node& node) {
  return node.known(0) != nullptr && node.known(0)->dtype.is_bool();
}
bool fold_and(Node& node) {
  return is_known_bool(node) && fold_binary(node, fold_min);
}
bool fold_or(Node& node) {
  return is_known_bool(node) && fold_binary(node, fold_max);
}
bool fold_not(Node& node) {
  return is_known_bool(node) && fold_unary(
                                    node, [](Node& n, Expr a) { return n.index(1) - a; }, DType::boolean());
}
bool fold_negative(Node& node) {
  const Known* x = node.known(0);
  return x != nullptr && fold_unary(
                             node, [](Node& n, Expr a) { return fold_sub(n, n.index(0), a); }, x->dtype);
}
bool fold_where(Node& node) {
  const Known *c = node.known(0), *x = node.known(1), *y = node.known(2);
  if (c == nullptr || x == nullptr || y == nullptr || x->dtype != y->dtype) return false;
  auto values = broadcast_shape(x->shape, y->shape);
  auto shape = values ? broadcast_shape(*values, c->shape) : std::nullopt;
  if (!shape) return false;
  auto cs = broadcast_known(*c, *shape), xs = broadcast_known(*x, *shape), ys = broadcast_known(*y, *shape);
  if (!cs || !xs || !ys) return false;
  Known result{x->dtype, *shape, {}};
  for (size_t i = 0; i < cs->size(); ++i)
    result.elements.push_back(arith::select(arith::ne((*cs)[i], node.index(0)), (*xs)[i], (*ys)[i]));
  return node.set_known(0, std::move(result));
}

template <ScalarFold F>
bool fold_all(Node& node) {
  return fold_variadic(node, F);
}

/// Converts an operator of any number of operands, such as Max, by combining them one after another.
template <const OpName& Name>
Status variadic(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, node.all_inputs());
  if (values.empty()) return node.error(Kind::wrong_arity, "it needs at least one input");
  Value* result = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    RELAXC_TRY(result, node.call(Name, {result, values[i]}));
  }
  if (values.size() == 1) return node.forward(0, 0);
  return node.set(0, result);
}

Status mean(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, node.all_inputs());
  if (values.empty()) return node.error(Kind::wrong_arity, "it needs at least one input");
  Value* sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    RELAXC_TRY(sum, node.call("add", {sum, values[i]}));
  }
  return node.set(0, node.call("divide", {sum, node.scalar(sum->dtype(), static_cast<double>(values.size()))}));
}

Status mod(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  bool truncating = node.int_attr("fmod", 0) != 0;
  if (!truncating && a->dtype().is_float()) return node.error(Kind::invalid_attribute, "fmod must be 1 for floats");
  return node.set(0, node.call(truncating ? OpName("mod") : OpName("floor_mod"), {a, b}));
}
bool fold_modulo(Node& node) {
  return node.int_attr("fmod", 0) == 0 && fold_binary(node, fold_mod);
}

Status bit_shift(Node& node) {
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  std::string direction = node.string_attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error(Kind::invalid_attribute, "direction must be LEFT or RIGHT, found '{}'", direction);
  return node.set(0, node.call(direction == "LEFT" ? OpName("left_shift") : OpName("right_shift"), {a, b}));
}

Status where(Node& node) {
  RELAXC_TRY(std::vector<Value*> values, node.all_inputs());
  if (values.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", values.size());
  return node.set(0, node.call("where", values));
}

/// Returns the slope as a matrix of one row where it is a vector along the last axis of x: in the text, a vector is
/// along axis 1.
Result<Value*> last_axis_slope(Node& node, const Value* x, Value* slope) {
  if (slope->shape().size() != 1 || x->shape().size() < 3 || slope->shape()[0].is_constant(1)) return slope;
  return reshape(node, slope, {node.index(1), slope->shape()[0]});
}

/// Converts PRelu. Before opset 7, element c of a list was the slope of channel c.
Status prelu(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * slope, node.input(1));
  if (node.opset < 7 && slope->shape().size() == 1 && x->shape().size() > 1 && !slope->shape()[0].is_constant(1)) {
    std::vector<Expr> dims(x->shape().size() - 1, node.index(1));
    dims[0] = slope->shape()[0];
    RELAXC_TRY(slope, reshape(node, slope, std::move(dims)));
  }
  RELAXC_TRY(slope, last_axis_slope(node, x, slope));
  return node.set(0, node.call("nn.prelu", {x, slope}));
}

/// Converts an activation to `Name`, whose float attributes have the same names as in ONNX.
template <const OpName& Name>
Status activation(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  Attrs attrs;
  for (const char* attr : {"alpha", "beta", "gamma"})
    if (node.has_attr(attr)) attrs.set(attr, node.float_attr(attr, 0));
  return node.set(0, node.call(Name, {x}, std::move(attrs)));
}
constexpr OpName kElu = "nn.elu", kCelu = "nn.celu", kSelu = "nn.selu", kLeakyRelu = "nn.leaky_relu",
                 kThresholdedRelu = "nn.thresholded_relu", kHardSigmoid = "nn.hard_sigmoid";

/// Converts Selu, whose defaults had fewer digits before opset 6.
Status selu(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  double alpha = node.opset < 6 ? 1.6732 : 1.67326319217681884765625;
  double gamma = node.opset < 6 ? 1.0507 : 1.05070102214813232421875;
  return node.set(
      0,
      node.call(kSelu, {x}, {{"alpha", node.float_attr("alpha", alpha)}, {"gamma", node.float_attr("gamma", gamma)}}));
}

Status gelu(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("nn.gelu", {x}, {{"approximate", node.string_attr("approximate", "none")}}));
}

/// Returns x * sigmoid(alpha * x).
Result<Value*> swished(Node& node, Value* x) {
  double alpha = node.float_attr("alpha", 1);
  if (alpha == 1) return node.call("nn.silu", {x});
  RELAXC_TRY(Value * scaled, node.call("multiply", {x, node.scalar(x->dtype(), alpha)}));
  RELAXC_TRY(Value * gate, node.call("sigmoid", {scaled}));
  return node.call("multiply", {x, gate});
}

Status swish(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, swished(node, x));
}

Status swiglu(Node& node) {
  RELAXC_TRY(Value * gate, node.input(0));
  RELAXC_TRY(Value * x, node.input(1));
  RELAXC_TRY(gate, swished(node, gate));
  return node.set(0, node.call("multiply", {gate, x}));
}

/// Computes x + bias where x < -lambd, x - bias where x > lambd, else 0.
Status shrink(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  DType dtype = x->dtype();
  Value *lambd = node.scalar(dtype, node.float_attr("lambd", 0.5)),
        *bias = node.scalar(dtype, node.float_attr("bias", 0));
  RELAXC_TRY(Value * low, node.call("negative", {lambd}));
  RELAXC_TRY(Value * below, node.call("less", {x, low}));
  RELAXC_TRY(Value * above, node.call("greater", {x, lambd}));
  RELAXC_TRY(Value * raised, node.call("add", {x, bias}));
  RELAXC_TRY(Value * lowered, node.call("subtract", {x, bias}));
  RELAXC_TRY(Value * upper, node.call("where", {above, lowered, node.scalar(dtype, 0)}));
  return node.set(0, node.call("where", {below, raised, upper}));
}

Status is_inf(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("isinf", {x},
                               {{"negative", node.int_attr("detect_negative", 1) != 0},
                                {"positive", node.int_attr("detect_positive", 1) != 0}}));
}

/// Converts Clip, whose limits are attributes before opset 11 and inputs since.
Status clip(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  Value *low = nullptr, *high = nullptr;
  if (node.opset < 11) {
    if (node.has_attr("min")) low = node.scalar(x->dtype(), node.float_attr("min", 0));
    if (node.has_attr("max")) high = node.scalar(x->dtype(), node.float_attr("max", 0));
  } else {
    RELAXC_TRY(low, node.optional_input(1));
    RELAXC_TRY(high, node.optional_input(2));
  }
  if (low == nullptr && high == nullptr) return node.forward(0, 0);
  if (low != nullptr) {
    RELAXC_TRY(x, node.call("maximum", {x, low}));
  }
  if (high != nullptr) {
    RELAXC_TRY(x, node.call("minimum", {x, high}));
  }
  return node.set(0, x);
}

Status identity(Node& node) {
  return node.forward(0, 0);
}

Status equal(Node& node) {
  if (!is_strings(node, 0)) return binary<kEqual>(node);
  RELAXC_TRY(Strings a, strings_input(node, 0));
  RELAXC_TRY(Strings b, strings_input(node, 1));
  return node.set(0, node.call("strings.equal", {a.spans, a.bytes, b.spans, b.bytes}));
}

constexpr Converter kRows[] = {
    {.name = "Abs", .convert = unary<kAbs>},
    {.name = "Acos", .convert = unary<kAcos>},
    {.name = "Acosh", .convert = unary<kAcosh>},
    {.name = "Asin", .convert = unary<kAsin>},
    {.name = "Asinh", .convert = unary<kAsinh>},
    {.name = "Atan", .convert = unary<kAtan>},
    {.name = "Atanh", .convert = unary<kAtanh>},
    {.name = "Ceil", .convert = unary<kCeil>},
    {.name = "Cos", .convert = unary<kCos>},
    {.name = "Cosh", .convert = unary<kCosh>},
    {.name = "Erf", .convert = unary<kErf>},
    {.name = "Exp", .convert = unary<kExp>},
    {.name = "Floor", .convert = unary<kFloor>},
    {.name = "Log", .convert = unary<kLog>},
    {.name = "Neg", .convert = unary<kNeg>, .fold = fold_negative},
    {.name = "Not", .convert = unary<kNot>, .fold = fold_not},
    {.name = "Reciprocal", .convert = unary<kReciprocal>},
    {.name = "Round", .convert = unary<kRound>},
    {.name = "Sigmoid", .convert = unary<kSigmoid>},
    {.name = "Sign", .convert = unary<kSign>},
    {.name = "Sin", .convert = unary<kSin>},
    {.name = "Sinh", .convert = unary<kSinh>},
    {.name = "Softplus", .convert = unary<kSoftplus>},
    {.name = "Softsign", .convert = unary<kSoftsign>},
    {.name = "Sqrt", .convert = unary<kSqrt>},
    {.name = "Tan", .convert = unary<kTan>},
    {.name = "Tanh", .convert = unary<kTanh>},
    {.name = "Relu", .convert = unary<kRelu>},
    {.name = "IsNaN", .convert = unary<kIsNaN>},
    {.name = "BitwiseNot", .convert = unary<kBitwiseNot>},
    {.name = "Mish", .convert = unary<kMish>},
    {.name = "HardSwish", .convert = unary<kHardSwish>},
    {.name = "Add", .convert = binary<kAdd>, .fold = fold<fold_add>},
    {.name = "Sub", .convert = binary<kSub>, .fold = fold<fold_sub>},
    {.name = "Mul", .convert = binary<kMul>, .fold = fold<fold_mul>},
    {.name = "Div", .convert = binary<kDiv>, .fold = fold<fold_div>},
    {.name = "Pow", .convert = binary<kPow>},
    {.name = "And", .convert = binary<kAnd>, .fold = fold_and},
    {.name = "Or", .convert = binary<kOr>, .fold = fold_or},
    {.name = "Xor", .convert = binary<kXor>},
    {.name = "Equal", .convert = equal, .fold = fold_compare<kEqualExpr>},
    {.name = "Greater", .convert = binary<kGreater>, .fold = fold_compare<arith::gt>},
    {.name = "GreaterOrEqual", .convert = binary<kGreaterOrEqual>, .fold = fold_compare<arith::ge>},
    {.name = "Less", .convert = binary<kLess>, .fold = fold_compare<arith::lt>},
    {.name = "LessOrEqual", .convert = binary<kLessOrEqual>, .fold = fold_compare<arith::le>},
    {.name = "BitwiseAnd", .convert = binary<kBitwiseAnd>},
    {.name = "BitwiseOr", .convert = binary<kBitwiseOr>},
    {.name = "BitwiseXor", .convert = binary<kBitwiseXor>},
    {.name = "Max", .convert = variadic<kMaximum>, .fold = fold_all<fold_max>},
    {.name = "Min", .convert = variadic<kMinimum>, .fold = fold_all<fold_min>},
    {.name = "Sum", .convert = variadic<kAdd>, .fold = fold_all<fold_add>},
    {.name = "Mean", .convert = mean},
    {.name = "Mod", .convert = mod, .fold = fold_modulo},
    {.name = "BitShift", .convert = bit_shift},
    {.name = "Where", .convert = where, .fold = fold_where, .strings = Converter::Strings::kMoved},
    {.name = "PRelu", .convert = prelu},
    {.name = "Elu", .convert = activation<kElu>},
    {.name = "Celu", .convert = activation<kCelu>},
    {.name = "LeakyRelu", .convert = activation<kLeakyRelu>},
    {.name = "ThresholdedRelu", .convert = activation<kThresholdedRelu>},
    {.name = "HardSigmoid", .convert = activation<kHardSigmoid>},
    {.name = "Selu", .convert = selu},
    {.name = "Gelu", .convert = gelu},
    {.name = "Swish", .convert = swish},
    {.name = "SwiGLU", .convert = swiglu},
    {.name = "Shrink", .convert = shrink},
    {.name = "IsInf", .convert = is_inf},
    {.name = "Clip", .convert = clip},
    {.name = "Identity", .convert = identity},
};

}  // namespace
}  // namespace relaxc::frontend::elementwise_family

RELAXC_CONVERTERS(elementwise, kRows)
