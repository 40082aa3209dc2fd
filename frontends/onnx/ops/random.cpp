// random.cpp: random numbers: RandomUniform and RandomNormal with their Like forms, Bernoulli, Multinomial, Dropout.
//
// A compiled program has no state between runs and no clock, so the numbers are a function of the seed and the index of
// an element: SplitMix64 (Steele, Lea and Flood 2014), whose n-th output is a hash of seed + n * gamma. Each element is
// computed independently and is the same on every target, for every number of threads and in every run. The seed is the
// attribute; without one it is the name of the output, so that two nodes have different numbers.
#include <bit>
#include <cmath>
#include <cstring>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend::random_family {
namespace {

constexpr DType kBits = DType::u(64);

Value* word(Node& node, uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return node.builder().constant(relax::ConstantData::inline_bytes(kBits, {}, std::move(bytes)));
}

/// Returns the start of the node's random sequence, from its seed or else from its output's name.
uint64_t seed_of(Node& node) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  if (node.has_attr("seed")) {
    mix(std::bit_cast<uint32_t>(static_cast<float>(node.float_attr("seed", 0))));
  } else {
    for (char c : node.proto.output(0)) mix(static_cast<unsigned char>(c));
  }
  return hash * 0x9e3779b97f4a7c15;
}

/// Returns random numbers in [0, 1) of shape `dims`, with as many random bits as the dtype's mantissa has. Draws of one
/// node with different `stream` are independent.
Result<Value*> uniform(Node& node, const std::vector<Expr>& dims, DType dtype, uint64_t stream = 0) {
  Expr count = node.index(1);
  for (Expr dim : dims) count = node.simplify(count * dim);
  RELAXC_TRY(Value * z, node.call("arange", {node.shape({node.index(1), count, node.index(1)})}));
  RELAXC_TRY(z, astype(node, z, kBits));
  RELAXC_TRY(z, node.call("multiply", {z, word(node, 0x9e3779b97f4a7c15)}));
  RELAXC_TRY(z, node.call("add", {z, word(node, seed_of(node) + stream * 0xd1342543de82ef95)}));
  struct Round {
    uint64_t shift, factor;
  };
  for (Round round : {Round{30, 0xbf58476d1ce4e5b9}, Round{27, 0x94d049bb133111eb}}) {
    RELAXC_TRY(Value * high, node.call("right_shift", {z, word(node, round.shift)}));
    RELAXC_TRY(z, node.call("bitwise_xor", {z, high}));
    RELAXC_TRY(z, node.call("multiply", {z, word(node, round.factor)}));
  }
  RELAXC_TRY(Value * high, node.call("right_shift", {z, word(node, 31)}));
  RELAXC_TRY(z, node.call("bitwise_xor", {z, high}));
  int bits = dtype == DType::f(64) ? 53 : 24;
  RELAXC_TRY(z, node.call("right_shift", {z, word(node, static_cast<uint64_t>(64 - bits))}));
  RELAXC_TRY(z, astype(node, z, dtype));
  RELAXC_TRY(z, node.call("multiply", {z, node.scalar(dtype, std::ldexp(1.0, -bits))}));
  return reshape(node, z, dims);
}

/// Returns numbers of the standard normal distribution, by the Box-Muller transform.
Result<Value*> normal(Node& node, const std::vector<Expr>& dims, DType dtype) {
  RELAXC_TRY(Value * radius, uniform(node, dims, dtype));
  RELAXC_TRY(radius, node.call("subtract", {node.scalar(dtype, 1), radius}));  // 0 has no logarithm
  RELAXC_TRY(radius, node.call("log", {radius}));
  RELAXC_TRY(radius, node.call("multiply", {radius, node.scalar(dtype, -2)}));
  RELAXC_TRY(radius, node.call("sqrt", {radius}));
  RELAXC_TRY(Value * angle, uniform(node, dims, dtype, 1));
  RELAXC_TRY(angle, node.call("multiply", {angle, node.scalar(dtype, 6.283185307179586)}));
  RELAXC_TRY(angle, node.call("cos", {angle}));
  return node.call("multiply", {radius, angle});
}

/// Returns the dtype in which to draw: float64 for float64, float32 for all others.
DType drawn_in(DType dtype) {
  return dtype == DType::f(64) ? dtype : DType::f(32);
}

Result<DType> dtype_or(Node& node, DType fallback) {
  int64_t code = node.int_attr("dtype", 0);
  if (code == 0) return fallback;
  return dtype_of(static_cast<int32_t>(code), node.location, node.diag);
}

/// Sets the output to low + uniform * (high - low), or to mean + normal * scale.
Status draw(Node& node, const std::vector<Expr>& dims, DType dtype, bool is_normal) {
  if (!dtype.is_float())
    return node.error(Kind::dtype_mismatch, "random numbers of {} are not defined; floats are", to_string(dtype));
  DType compute = drawn_in(dtype);
  double first = is_normal ? node.float_attr("mean", 0) : node.float_attr("low", 0);
  double width = is_normal ? node.float_attr("scale", 1) : node.float_attr("high", 1) - first;
  RELAXC_TRY(Value * y, is_normal ? normal(node, dims, compute) : uniform(node, dims, compute));
  RELAXC_TRY(y, node.call("multiply", {y, node.scalar(compute, width)}));
  RELAXC_TRY(y, node.call("add", {y, node.scalar(compute, first)}));
  return node.set(0, astype(node, y, dtype));
}

template <bool Normal>
Status random(Node& node) {
  if (!node.has_attr("shape")) return node.error(Kind::invalid_attribute, "attribute 'shape' is missing");
  RELAXC_TRY(DType dtype, dtype_or(node, DType::f(32)));
  return draw(node, node.indices(node.ints_attr("shape")), dtype, Normal);
}

template <bool Normal>
Status random_like(Node& node) {
  RELAXC_TRY(const TensorInfo* like, node.info(0));
  std::vector<Expr> dims = *like->shape;
  RELAXC_TRY(DType dtype, dtype_or(node, *like->dtype));
  return draw(node, dims, dtype, Normal);
}

/// Draws 1 with the probability that each element gives, else 0.
Status bernoulli(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(DType dtype, dtype_or(node, x->dtype()));
  DType compute = drawn_in(x->dtype());
  RELAXC_TRY(x, astype(node, x, compute));
  RELAXC_TRY(Value * draw, uniform(node, x->shape(), compute));
  RELAXC_TRY(Value * y, node.call("less", {draw, x}));
  return node.set(0, astype(node, y, dtype));
}

/// Draws classes whose unnormalized log-probabilities are the rows of x. A class is the number of cumulative
/// probabilities that are not greater than a uniform number.
Status multinomial(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(DType dtype, dtype_or(node, DType::i(32)));
  if (dtype != DType::i(32) && dtype != DType::i(64))
    return node.error(Kind::invalid_attribute, "classes are int32 or int64, not {}", to_string(dtype));
  if (x->shape().size() != 2)
    return node.error(Kind::rank_mismatch, "the input must be [batch, classes], found {}", relax::to_string(x->info));
  DType compute = DType::f(64);
  std::vector<Expr> dims = x->shape();
  RELAXC_TRY(x, astype(node, x, compute));
  RELAXC_TRY(x, node.call("nn.softmax", {x}, {{"axis", int64_t{1}}}));
  RELAXC_TRY(x, node.call("cumsum", {x}, {{"axis", int64_t{1}}}));
  RELAXC_TRY(x, reshape(node, x, {dims[0], node.index(1), dims[1]}));
  Expr samples = node.index(node.int_attr("sample_size", 1));
  RELAXC_TRY(Value * draw, uniform(node, {dims[0], samples, node.index(1)}, compute));
  RELAXC_TRY(Value * before, node.call("less_equal", {x, draw}));
  RELAXC_TRY(before, astype(node, before, DType::i(64)));
  RELAXC_TRY(Value * y, node.call("sum", {before}, {{"axis", std::vector<int64_t>{2}}, {"keepdims", false}}));
  // Rounding may leave the sum of the probabilities below 1, so the class is clamped to the last one.
  Expr last = node.simplify(dims[1] - 1);
  RELAXC_TRY(Value * most, node.call("shape_to_tensor", {node.shape({last})}));
  RELAXC_TRY(y, node.call("minimum", {y, most}));
  return node.set(0, astype(node, y, dtype));
}

/// The training mode: the constant; or, if `asked` is not null, the value to read at run time.
struct Training {
  bool constant = false;
  Value* asked = nullptr;
};

Result<Training> training_mode(Node& node) {
  if (node.opset < 12 || !node.has(2)) return Training{};
  if (std::optional<double> known = node.constant_scalar(2)) return Training{*known != 0, nullptr};
  RELAXC_TRY(Value * asked, node.input(2));
  return Training{false, asked};
}

/// Sets the outputs to x itself and to a mask that keeps everything.
Status keep_all(Node& node) {
  RELAXC_DO(node.forward(0, 0));
  if (!node.wants(1)) return Done{};
  RELAXC_TRY(const TensorInfo* x, node.info(0));
  std::vector<Expr> dims = *x->shape;
  DType dtype = node.opset >= 10 ? DType::boolean() : *x->dtype;
  return node.set(1, node.call("ones", {node.shape(std::move(dims))}, {{"dtype", dtype}}));
}

/// Scales the elements kept by 1 / (1 - ratio), so that the mean stays. If `asked` is false, all are kept unscaled.
Status dropout(Node& node) {
  RELAXC_TRY(Training training, training_mode(node));
  if (!training.constant && training.asked == nullptr) return keep_all(node);
  RELAXC_TRY(Value * x, node.input(0));
  DType compute = drawn_in(x->dtype());
  Value* ratio = node.scalar(compute, 0.5);
  if (node.has(1)) {
    RELAXC_TRY(ratio, node.input(1));
    RELAXC_TRY(ratio, astype(node, ratio, compute));
  }
  RELAXC_TRY(Value * draw, uniform(node, x->shape(), compute));
  RELAXC_TRY(Value * kept, node.call("greater_equal", {draw, ratio}));
  RELAXC_TRY(Value * left, node.call("subtract", {node.scalar(compute, 1), ratio}));
  RELAXC_TRY(Value * factor, node.call("divide", {node.scalar(compute, 1), left}));
  if (training.asked != nullptr) {
    RELAXC_TRY(Value * idle, node.call("logical_not", {training.asked}));
    RELAXC_TRY(kept, node.call("logical_or", {kept, idle}));
    RELAXC_TRY(factor, node.call("where", {training.asked, factor, node.scalar(compute, 1)}));
  }
  RELAXC_TRY(Value * y, astype(node, x, compute));
  RELAXC_TRY(y, node.call("multiply", {y, factor}));
  RELAXC_TRY(y, node.call("where", {kept, y, node.scalar(compute, 0)}));
  if (node.wants(1)) RELAXC_DO(node.set(1, kept));
  return node.set(0, astype(node, y, x->dtype()));
}

constexpr Converter kRows[] = {
    {.name = "RandomUniform",
     .convert = random<false>,
     .note = "random numbers depend on the seed and the position only"},
    {.name = "RandomNormal",
     .convert = random<true>,
     .note = "random numbers depend on the seed and the position only"},
    {.name = "RandomUniformLike",
     .convert = random_like<false>,
     .note = "random numbers depend on the seed and the position only"},
    {.name = "RandomNormalLike",
     .convert = random_like<true>,
     .note = "random numbers depend on the seed and the position only"},
    {.name = "Bernoulli", .convert = bernoulli, .note = "random numbers depend on the seed and the position only"},
    {.name = "Multinomial", .convert = multinomial, .note = "random numbers depend on the seed and the position only"},
    {.name = "Dropout",
     .convert = dropout,
     .note = "training mode: random numbers depend on the seed and the position only"},
};

}  // namespace
}  // namespace relaxc::frontend::random_family

RELAXC_CONVERTERS(random, kRows)
