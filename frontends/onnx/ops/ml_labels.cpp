// ml_labels.cpp: LabelEncoder and CategoryMapper: map keys to values by tables that are sorted at compile time.
#include <cstring>
#include <numeric>

#include "frontends/onnx/categories.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::ml_labels_family {
namespace {

constexpr DType kF32 = DType::f(32), kI64 = DType::i(64);

/// Keys or values of a LabelEncoder, from the one of several attributes that holds them.
struct Labels {
  DType dtype;
  std::vector<double> numbers;
  Ints ints;
  std::vector<std::string> strings = {};  ///< the labels, unless empty
  size_t count() const { return !strings.empty() ? strings.size() : dtype == kI64 ? ints.size() : numbers.size(); }
};

std::vector<std::string> strings_of(const onnx::TensorProto& tensor) {
  return {tensor.string_data().begin(), tensor.string_data().end()};
}

Result<Labels> labels_of(Node& node, const std::string& what) {
  if (node.has_attr(what + "_strings")) return Labels{kI64, {}, {}, node.strings_attr(what + "_strings")};
  if (node.has_attr(what + "_int64s")) return Labels{kI64, {}, node.ints_attr(what + "_int64s")};
  if (node.has_attr(what + "_floats")) return Labels{kF32, node.floats_attr(what + "_floats"), {}};
  if (const onnx::AttributeProto* tensor = node.attribute(what + "_tensor")) {
    if (tensor->t().data_type() == onnx::TensorProto::STRING) return Labels{kI64, {}, {}, strings_of(tensor->t())};
    RELAXC_TRY(relax::ConstantRef data, node.tensor_attr(tensor->t()));
    Labels labels{data->dtype(), {}, {}};
    if (labels.dtype == kI64) {
      data->with_bytes([&](std::span<const std::byte> bytes) {
        for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
          int64_t element = 0;
          std::memcpy(&element, bytes.data() + at, sizeof element);
          labels.ints.push_back(element);
        }
      });
      return labels;
    }
    RELAXC_TRY(labels.numbers, tensor_numbers(node, what + "_tensor"));
    return labels;
  }
  return node.error(Kind::invalid_attribute, "it needs {}_strings, _int64s, _floats or a tensor", what);
}

/// Returns the values, followed by the default.
Result<Value*> values_with_default(Node& node, Labels values) {
  if (values.dtype == kI64) {
    int64_t fallback = node.int_attr("default_int64", -1);
    if (const onnx::AttributeProto* tensor = node.attribute("default_tensor")) {
      RELAXC_TRY(relax::ConstantRef data, node.tensor_attr(tensor->t()));
      if (data->dtype() != kI64 || data->elements() != 1)
        return node.error(Kind::dtype_mismatch, "default_tensor must be one number of the values' type");
      data->with_bytes([&](std::span<const std::byte> bytes) { std::memcpy(&fallback, bytes.data(), 8); });
    }
    values.ints.push_back(fallback);
    return constant_of(node, {static_cast<int64_t>(values.ints.size())}, values.ints);
  }
  RELAXC_TRY(std::vector<double> fallback, tensor_numbers(node, "default_tensor"));
  values.numbers.push_back(fallback.empty() ? node.float_attr("default_float", -0.0) : fallback[0]);
  auto count = static_cast<int64_t>(values.numbers.size());
  if (values.dtype.bits >= 32) return constant_of(node, values.dtype, {count}, values.numbers);
  return node.call("astype", {constant_of(node, DType::f(32), {count}, values.numbers)}, {{"dtype", values.dtype}});
}

/// Sets the output to the strings at the indices `place`; the index after the last one gives the default.
Status set_strings_by_place(ConversionBuilder& c, std::vector<std::string> values, Value* place) {
  const onnx::AttributeProto* tensor = c.node.attribute("default_tensor");
  bool given = tensor != nullptr && tensor->t().string_data_size() == 1;
  values.push_back(given ? tensor->t().string_data(0) : c.node.string_attr("default_string", "_Unused"));
  return set_strings_at(c, 0, values, place);
}

Status map_labels(ConversionBuilder& c, const Labels& keys, Labels values) {
  Node& node = c.node;
  if (keys.count() != values.count() || keys.count() == 0)
    return node.error(Kind::invalid_attribute, "there are {} keys and {} values", keys.count(), values.count());
  auto count = static_cast<int64_t>(keys.count());
  Value* place = nullptr;
  if (!keys.strings.empty()) {
    RELAXC_TRY(place, place_of_string(c, keys.strings, count));
  } else {
    Value* x = c.input(0);
    if (!c.ok()) return c.failed();
    if (x->dtype() != keys.dtype)
      return node.error(Kind::dtype_mismatch, "the keys are {} and the input is {}", to_string(keys.dtype),
                        relax::to_string(x->info));
    place = (keys.dtype == kI64 ? Categories(keys.ints) : Categories(keys.dtype, keys.numbers)).find(c, x, count);
  }
  if (!values.strings.empty()) return set_strings_by_place(c, std::move(values.strings), place);
  RELAXC_TRY(Value * table, values_with_default(node, std::move(values)));
  return c.set(0, c.call("take", {table, place}, {{"axis", int64_t{0}}}));
}

/// Maps strings to numbers or back, depending on the input: LabelEncoder of opset 1, where the numbers are indices, and
/// CategoryMapper.
Status map_strings(ConversionBuilder& c, std::vector<std::string> strings, const Ints& numbers) {
  Labels words{kI64, {}, {}, std::move(strings)}, places{kI64, {}, numbers};
  return is_strings(c.node, 0) ? map_labels(c, words, places) : map_labels(c, places, words);
}

Status label_encoder(Node& node) {
  ConversionBuilder c(node);
  if (node.opset < 2) {
    std::vector<std::string> classes = node.strings_attr("classes_strings");
    Ints places(classes.size());
    std::iota(places.begin(), places.end(), 0);
    return map_strings(c, std::move(classes), places);
  }
  RELAXC_TRY(Labels keys, labels_of(node, "keys"));
  RELAXC_TRY(Labels values, labels_of(node, "values"));
  return map_labels(c, keys, std::move(values));
}

Status category_mapper(Node& node) {
  ConversionBuilder c(node);
  return map_strings(c, node.strings_attr("cats_strings"), node.ints_attr("cats_int64s"));
}

constexpr Converter kRows[] = {
    {.name = "LabelEncoder", .convert = label_encoder, .domain = kMl},
    {.name = "CategoryMapper", .convert = category_mapper, .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend::ml_labels_family

RELAXC_CONVERTERS(ml_labels, kRows)
