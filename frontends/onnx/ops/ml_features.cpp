// ml_features.cpp: what prepares features: scaling, imputing, selecting, joining, and categories by number.
//
// Categories are found in a list that is sorted when compiling (`search_sorted`). Of keys that are given twice the
// first counts. A key that is NaN is found by NaN since opset 4.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/ml.h"
#include "frontends/onnx/strings.h"

namespace relaxc::frontend {
namespace {

constexpr DType kF32 = DType::f(32), kI64 = DType::i(64);

/// Indices count along the last axis; of a vector the result has one row.
Status array_feature_extractor(Node& node) {
  Chain c(node);
  Value *x = c.input(0), *indices = c.input(1);
  if (!c.ok()) return c.failed();
  if (rank_of(x) == 0) return node.error(Kind::rank_mismatch, "the input must have a dim");
  Expr count = node.index(1);
  for (Expr dim : indices->shape()) count = count * dim;
  if (rank_of(indices) != 1) indices = c.reshape(indices, {node.simplify(count)});
  int64_t last = rank_of(x) - 1;
  Value* y = c.call("take", {x, indices}, {{"axis", last}});
  return c.set(0, last == 0 ? c.call("expand_dims", {y}, {{"axis", Ints{0}}}) : y);
}

Status binarizer(Node& node) {
  Chain c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  return c.set(0, c.as(c.call("greater", {x, c.like(x, node.float_attr("threshold", 0))}), x->dtype()));
}

/// (x - offset) * scale, each one number or one a feature.
Status scaler(Node& node) {
  Chain c(node);
  Value* x = c.input(0);
  std::vector<double> offset = node.floats_attr("offset"), scale = node.floats_attr("scale");
  if (offset.empty() || offset.size() != scale.size())
    return node.error(Kind::invalid_attribute, "there are {} offsets and {} scales", offset.size(), scale.size());
  Value* y = c.subtract(c.as(x, kF32), list_of(node, kF32, offset));
  return c.set(0, c.multiply(y, list_of(node, kF32, scale)));
}

/// Rows divided by their largest element, the sum of the magnitudes, or their length; those of which it is 0 stay.
Status normalizer(Node& node) {
  Chain c(node);
  Value* x = c.as(c.input(0), kF32);
  std::string norm = node.string_attr("norm", "MAX");
  Value* by = nullptr;
  if (norm == "MAX")
    by = c.reduce("max", x, Ints{-1});
  else if (norm == "L1")
    by = c.reduce("sum", c.call("abs", {x}), Ints{-1});
  else if (norm == "L2")
    by = c.call("sqrt", {c.reduce("sum", c.call("square", {x}), Ints{-1})});
  else
    return node.error(Kind::invalid_attribute, "norm '{}' is none of MAX, L1, L2", norm);
  Value* nothing = c.call("equal", {by, c.like(by, 0)});
  return c.set(0, c.divide(x, c.where(nothing, c.like(by, 1), by)));
}

/// What is replaced is one value, which may be NaN; what it becomes is one value or one a feature.
Status imputer(Node& node) {
  Chain c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  Value *fill = nullptr, *replaced = nullptr;
  if (x->dtype().is_float()) {
    std::vector<double> values = node.floats_attr("imputed_value_floats");
    double old_value = node.float_attr("replaced_value_float", 0);
    fill = list_of(node, x->dtype(), values);
    replaced = old_value != old_value ? c.call("isnan", {x}) : c.call("equal", {x, c.like(x, old_value)});
  } else {
    Ints values = node.ints_attr("imputed_value_int64s");
    fill = c.as(constant_of(node, {static_cast<int64_t>(values.size())}, values), x->dtype());
    Value* old_value = constant_of(node, {}, {node.int_attr("replaced_value_int64", 0)});
    replaced = c.call("equal", {x, c.as(old_value, x->dtype())});
  }
  if (!c.ok()) return c.failed();
  if (fill->shape()[0].is_constant(0))
    return node.error(Kind::invalid_attribute, "there are no imputed values of the input's type");
  return c.set(0, c.where(replaced, fill, x));
}

/// Rows of all inputs one behind another; each is cut, or filled up with 0, to the width that is given for it.
Status feature_vectorizer(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  Ints widths = node.ints_attr("inputdimensions");
  if (widths.size() != node.inputs())
    return node.error(Kind::invalid_attribute, "there are {} widths for {} inputs", widths.size(), node.inputs());
  std::vector<Value*> parts;
  for (size_t i = 0; i < widths.size(); ++i) {
    Value* x = c.as(c.input(i), kF32);
    if (!c.ok()) return c.failed();
    if (rank_of(x) == 1) x = c.call("expand_dims", {x}, {{"axis", Ints{1}}});
    RELAXC_DO(c.ok() ? expect_rank(node, x, 2, "an input") : c.failed());
    std::vector<Expr> pads(4, node.index(0));
    pads[3] = node.simplify(node.index(widths[i]) - x->shape()[1]);
    parts.push_back(c.call("pad", {x, node.shape(std::move(pads)), c.like(x, 0)}));
  }
  return c.set(0, c.concat(std::move(parts), 1));
}

/// A table from keys to places in the order in which they are given.
class Categories {
 public:
  Categories(DType dtype, std::vector<double> keys) : dtype_(dtype), numbers_(std::move(keys)) {
    sort(numbers_, [](double a, double b) { return a < b || (a == a && b != b); });
  }
  explicit Categories(Ints keys) : dtype_(kI64), ints_(std::move(keys)) {
    sort(ints_, [](int64_t a, int64_t b) { return a < b; });
  }

  /// The place of each element of x among the keys; `missing` where it is none of them.
  Value* find(Chain& c, Value* x, int64_t missing) const {
    Node& node = c.node;
    auto count = static_cast<int64_t>(order_.size());
    Value* none = constant_of(node, {}, {missing});
    x = c.as(x, dtype_);
    if (!c.ok()) return nullptr;
    if (count == 0) return c.call("broadcast_to", {none, node.shape(x->shape())});
    Value* keys = dtype_ == kI64 ? constant_of(node, {count}, ints_) : list_of(node, dtype_, numbers_);
    Value* at = c.call("search_sorted", {keys, x});
    at = c.call("minimum", {at, constant_of(node, {}, {count - 1})});
    Value* key = c.call("take", {keys, at}, {{"axis", int64_t{0}}});
    Value* same = c.call("equal", {key, x});
    if (dtype_.is_float() && node.opset >= 4)
      same = c.call("logical_or", {same, c.call("logical_and", {c.call("isnan", {key}), c.call("isnan", {x})})});
    Value* place = c.call("take", {constant_of(node, {count}, order_), at}, {{"axis", int64_t{0}}});
    return c.where(same, place, none);
  }

 private:
  template <typename List, typename Less>
  void sort(List& keys, Less less) {
    order_.resize(keys.size());
    std::iota(order_.begin(), order_.end(), 0);
    auto at = [&](int64_t i) { return keys[static_cast<size_t>(i)]; };
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) { return less(at(a), at(b)); });
    auto same = [&](int64_t a, int64_t b) { return !less(at(a), at(b)) && !less(at(b), at(a)); };
    order_.erase(std::unique(order_.begin(), order_.end(), same), order_.end());
    List sorted;
    for (int64_t i : order_) sorted.push_back(at(i));
    keys = std::move(sorted);
  }

  DType dtype_;
  std::vector<double> numbers_;
  Ints ints_, order_;
};

/// The place of each string of input 0 in the list; `missing` where it is not there.
Result<Value*> place_of_string(Chain& c, const std::vector<std::string>& list, int64_t missing) {
  Diagnostics& diag = c.node.diag;
  RELAXC_TRY(Strings x, strings_input(c.node, 0));
  StringTable table = string_table(list);
  RELAXC_TRY(Value * found, find_strings(c.node, x, table));
  Value* first = constant_of(c.node, {static_cast<int64_t>(table.first.size())}, table.first);
  Value* known = c.call("greater_equal", {found, c.number(kI64, 0)});
  Value* place = c.call("take", {first, c.call("maximum", {found, c.number(kI64, 0)})}, {{"axis", int64_t{0}}});
  Value* result = c.where(known, place, constant_of(c.node, {}, {missing}));
  return c.ok() ? Result<Value*>(result) : c.failed();
}

/// One column a category. One that is not known is a row of zeros, or an index that ends the call.
Status one_hot_encoder(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  Ints categories = node.ints_attr("cats_int64s");
  std::vector<std::string> words = node.strings_attr("cats_strings");
  if (categories.empty() == words.empty())
    return node.error(Kind::invalid_attribute, "it needs either cats_int64s or cats_strings");
  auto count = static_cast<int64_t>(categories.size() + words.size());
  bool zeros = node.int_attr("zeros", 1) != 0;
  Value* place = nullptr;
  if (words.empty()) {
    place = Categories(categories).find(c, c.input(0), count);
  } else {
    RELAXC_TRY(place, place_of_string(c, words, count));
  }
  std::vector<double> table(static_cast<size_t>(count * (count + (zeros ? 1 : 0))), 0);
  for (int64_t i = 0; i < count; ++i) table[static_cast<size_t>(i * count + i)] = 1;
  Value* rows = constant_of(node, kF32, {count + (zeros ? 1 : 0), count}, table);
  return c.set(0, c.call("take", {rows, place}, {{"axis", int64_t{0}}}));
}

/// Keys or values of a LabelEncoder, in one of several attributes.
struct Labels {
  DType dtype;
  std::vector<double> numbers;
  Ints ints;
  std::vector<std::string> strings = {};  ///< these alone, if there are any
  size_t count() const { return !strings.empty() ? strings.size() : dtype == kI64 ? ints.size() : numbers.size(); }
};

std::vector<std::string> strings_of(const onnx::TensorProto& tensor) {
  return {tensor.string_data().begin(), tensor.string_data().end()};
}

Result<Labels> labels_of(Node& node, const std::string& what) {
  Diagnostics& diag = node.diag;
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

/// The values with the default behind them.
Result<Value*> values_with_default(Node& node, Labels values) {
  Diagnostics& diag = node.diag;
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

/// Strings by place, with the default behind them.
Status set_strings_by_place(Chain& c, std::vector<std::string> values, Value* place) {
  const onnx::AttributeProto* tensor = c.node.attribute("default_tensor");
  bool given = tensor != nullptr && tensor->t().string_data_size() == 1;
  values.push_back(given ? tensor->t().string_data(0) : c.node.string_attr("default_string", "_Unused"));
  return set_strings_at(c, 0, values, place);
}

Status map_labels(Chain& c, const Labels& keys, Labels values) {
  Node& node = c.node;
  Diagnostics& diag = node.diag;
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

/// Strings to numbers or back, by what the input is: opset 1 of LabelEncoder, whose numbers are places, and
/// CategoryMapper.
Status map_strings(Chain& c, std::vector<std::string> strings, const Ints& numbers) {
  Labels words{kI64, {}, {}, std::move(strings)}, places{kI64, {}, numbers};
  return is_strings(c.node, 0) ? map_labels(c, words, places) : map_labels(c, places, words);
}

Status label_encoder(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
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
  Chain c(node);
  return map_strings(c, node.strings_attr("cats_strings"), node.ints_attr("cats_int64s"));
}

constexpr Converter kRows[] = {
    {.name = "ArrayFeatureExtractor", .convert = array_feature_extractor, .domain = kMl},
    {.name = "Binarizer", .convert = binarizer, .domain = kMl},
    {.name = "Scaler", .convert = scaler, .domain = kMl},
    {.name = "Normalizer", .convert = normalizer, .domain = kMl},
    {.name = "Imputer", .convert = imputer, .domain = kMl},
    {.name = "FeatureVectorizer", .convert = feature_vectorizer, .domain = kMl},
    {.name = "OneHotEncoder", .convert = one_hot_encoder, .domain = kMl},
    {.name = "LabelEncoder", .convert = label_encoder, .domain = kMl},
    {.name = "CategoryMapper", .convert = category_mapper, .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(ml_features, kRows)
