// ml.cpp: see ml.h. The formulas of the transforms are ONNX Runtime's; the standard only names them.
#include "frontends/onnx/ml.h"

#include <cstring>

#include "frontends/onnx/strings.h"

namespace relaxc::frontend {
namespace {

template <typename T, typename List>
std::vector<std::byte> encode(const List& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  size_t at = 0;
  for (auto element : elements) {
    T value = static_cast<T>(element);
    std::memcpy(bytes.data() + at, &value, sizeof value);
    at += sizeof value;
  }
  return bytes;
}

/// Returns sqrt(2) * erf^-1(2 x - 1), by Winitzki's approximation.
Value* probit(ConversionBuilder& c, Value* x) {
  Value* y = c.add(c.multiply(x, 2), -1);
  Value *one = c.like(y, 1), *below = c.subtract(one, y), *above = c.add(y, 1);
  Value* log = c.call("log", {c.multiply(below, above)});
  Value* v = c.add(c.multiply(log, 0.5), 2 / (3.14159F * 0.147F));
  Value* far = c.multiply(log, 1 / 0.147F);
  Value* inner = c.subtract(c.call("square", {v}), far);
  Value* root = c.call("sqrt", {c.subtract(c.call("sqrt", {inner}), v)});
  Value* minus_one = c.like(y, -1);
  Value* sign = c.where(c.call("less", {y, c.like(y, 0)}), minus_one, one);
  return c.multiply(c.multiply(sign, root), 1.41421356F);
}

/// Returns the softmax over the last axis, except that scores of 0 stay 0.
Value* softmax_zero(ConversionBuilder& c, Value* x) {
  Value* most = c.reduce("max", x, Ints{-1});
  Value* is_zero = c.call("less_equal", {c.call("abs", {x}), c.like(x, 0.0000001F)});
  Value* nothing = c.multiply(x, c.call("exp", {c.call("negative", {most})}));
  Value* powers = c.where(is_zero, nothing, c.call("exp", {c.subtract(x, most)}));
  Value* sum = c.reduce("sum", c.where(is_zero, c.like(x, 0), powers), Ints{-1});
  return c.divide(powers, sum);
}

}  // namespace

Value* constant_of(Node& node, DType dtype, std::vector<int64_t> shape, const std::vector<double>& elements) {
  std::vector<std::byte> bytes;
  if (dtype == DType::f(32))
    bytes = encode<float>(elements);
  else if (dtype == DType::f(64))
    bytes = encode<double>(elements);
  else if (dtype == DType::i(32))
    bytes = encode<int32_t>(elements);
  else if (dtype == DType::i(64))
    bytes = encode<int64_t>(elements);
  else
    for (double element : elements) {
      std::vector<std::byte> one = relax::encode_scalar(dtype, element);
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
  return node.builder().constant(relax::ConstantData::inline_bytes(dtype, std::move(shape), std::move(bytes)));
}

Value* constant_of(Node& node, std::vector<int64_t> shape, const std::vector<int64_t>& elements) {
  return node.builder().constant(
      relax::ConstantData::inline_bytes(DType::i(64), std::move(shape), encode<int64_t>(elements)));
}

Result<std::vector<double>> tensor_numbers(Node& node, std::string_view attribute) {
  const onnx::AttributeProto* found = node.attribute(attribute);
  std::vector<double> numbers;
  if (found == nullptr) return numbers;
  RELAXC_TRY(relax::ConstantRef data, node.tensor_attr(found->t()));
  data->with_bytes([&](std::span<const std::byte> bytes) {
    size_t step = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = 0; at + step <= bytes.size(); at += step)
      numbers.push_back(relax::decode_scalar(data->dtype(), bytes.data() + at));
  });
  return numbers;
}

Result<Value*> feature_rows(ConversionBuilder& c, bool keep_double) {
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  if (rank_of(x) != 1 && rank_of(x) != 2)
    return c.node.error(Kind::rank_mismatch, "it takes rows of features, found {}", relax::to_string(x->info));
  if (rank_of(x) == 1) x = c.call("expand_dims", {x}, {{"axis", Ints{0}}});
  if (!c.ok() || (keep_double && x->dtype() == DType::f(64))) return c.ok() ? Result<Value*>(x) : c.failed();
  x = c.as(x, DType::f(32));
  return c.ok() ? Result<Value*>(x) : c.failed();
}

ClassLabels::ClassLabels(Node& node, std::string_view ints, std::string_view strings)
    : labels_(node.ints_attr(ints)), strings_(node.strings_attr(strings)) {}

Status ClassLabels::set(ConversionBuilder& c, Value* index) const {
  if (!c.node.wants(0)) return Done{};
  if (!strings_.empty()) return set_strings_at(c, 0, strings_, index);
  Value* labels = constant_of(c.node, {count()}, labels_);
  return c.set(0, c.call("take", {labels, index}, {{"axis", int64_t{0}}}));
}

Status set_strings_at(ConversionBuilder& c, size_t output, const std::vector<std::string>& list, Value* indices) {
  NamedValue table = strings_constant(c.node.builder(), {static_cast<int64_t>(list.size())}, list);
  const Strings* strings = strings_in(table);
  Value* spans = c.call("take", {strings->spans, indices}, {{"axis", int64_t{0}}});
  if (!c.ok()) return c.failed();
  set_strings(c.node, output, {spans, strings->bytes});
  return Done{};
}

Value* transformed(ConversionBuilder& c, Value* scores, const std::string& transform) {
  if (!c.ok() || transform == "NONE" || transform.empty()) return scores;
  if (transform == "LOGISTIC") return c.call("sigmoid", {scores});
  if (transform == "SOFTMAX") return c.call("nn.softmax", {scores}, {{"axis", int64_t{-1}}});
  if (transform == "SOFTMAX_ZERO") return softmax_zero(c, scores);
  if (transform == "PROBIT") return probit(c, scores);
  return c.take(c.node.error(Kind::invalid_attribute,
                             "post_transform '{}' is not one of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT",
                             transform));
}

Value* both_classes(ConversionBuilder& c, Value* score, bool mixed, const std::string& transform) {
  if (transform == "PROBIT") return transformed(c, score, transform);
  bool logistic = transform == "LOGISTIC";
  Value* other = mixed || logistic ? c.call("negative", {score}) : c.subtract(c.like(score, 1), score);
  Value* both = c.concat({other, score}, 1);
  return logistic ? transformed(c, both, transform) : both;
}

}  // namespace relaxc::frontend
