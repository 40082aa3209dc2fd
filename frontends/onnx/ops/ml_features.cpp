// ml_features.cpp: preparation of features: scaling, imputing, selecting, joining, and numbering of categories.
#include <numeric>

#include "frontends/onnx/categories.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::ml_features_family {
namespace {

constexpr DType kF32 = DType::f(32), kI64 = DType::i(64);

/// Converts ArrayFeatureExtractor: indices count along the last axis; the result for a vector has one row.
Status array_feature_extractor(Node& node) {
  ConversionBuilder c(node);
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
  ConversionBuilder c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  return c.set(0, c.as(c.call("greater", {x, c.like(x, node.float_attr("threshold", 0))}), x->dtype()));
}

/// Computes (x - offset) * scale; each is one number, or one per feature.
Status scaler(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.input(0);
  std::vector<double> offset = node.floats_attr("offset"), scale = node.floats_attr("scale");
  if (offset.empty() || offset.size() != scale.size())
    return node.error(Kind::invalid_attribute, "there are {} offsets and {} scales", offset.size(), scale.size());
  Value* offsets = list_of(node, kF32, offset);
  Value* y = c.subtract(c.as(x, kF32), offsets);
  return c.set(0, c.multiply(y, list_of(node, kF32, scale)));
}

/// Divides rows by their largest element, sum of magnitudes, or length; rows where that is 0 stay unchanged.
Status normalizer(Node& node) {
  ConversionBuilder c(node);
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
    return node.error(Kind::invalid_attribute, "norm '{}' is not one of MAX, L1, L2", norm);
  Value* nothing = c.call("equal", {by, c.like(by, 0)});
  return c.set(0, c.divide(x, c.where(nothing, c.like(by, 1), by)));
}

/// Replaces one value, which may be NaN, by one value or by one per feature.
Status imputer(Node& node) {
  ConversionBuilder c(node);
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

/// Returns `x` as rows, with all dims but the first flattened; a vector is one row.
Value* as_rows(ConversionBuilder& c, Value* x) {
  if (!c.ok() || rank_of(x) == 2) return x;
  if (rank_of(x) == 1) return c.call("expand_dims", {x}, {{"axis", Ints{0}}});
  Expr width = c.node.index(1);
  for (size_t axis = 1; axis < x->shape().size(); ++axis) width = c.node.simplify(width * x->shape()[axis]);
  return c.reshape(x, {x->shape()[0], width});
}

/// Concatenates the rows of all inputs; each is cropped, or padded with 0, to its input's width in inputdimensions.
Status feature_vectorizer(Node& node) {
  ConversionBuilder c(node);
  Ints widths = node.ints_attr("inputdimensions");
  if (widths.size() != node.inputs())
    return node.error(Kind::invalid_attribute, "there are {} widths for {} inputs", widths.size(), node.inputs());
  std::vector<Value*> parts;
  for (size_t i = 0; i < widths.size(); ++i) {
    Value* x = c.as(c.input(i), kF32);
    if (c.ok() && rank_of(x) == 0) return node.error(Kind::rank_mismatch, "input {} must have a dim", i);
    x = as_rows(c, x);
    if (!c.ok()) return c.failed();
    std::vector<Expr> pads(4, node.index(0));
    pads[3] = node.simplify(node.index(widths[i]) - x->shape()[1]);
    parts.push_back(c.call("pad", {x, node.shape(std::move(pads)), c.like(x, 0)}));
  }
  return c.set(0, c.concat(std::move(parts), 1));
}

/// Makes one column per category. An unknown category gives a row of zeros, or with zeros = 0 a run-time error.
Status one_hot_encoder(Node& node) {
  ConversionBuilder c(node);
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
  // An unknown category has an index past the end. If that is not allowed, this lookup fails at run time.
  if (!zeros) place = c.call("take", {c.arange(node.index(0), node.index(count)), place}, {{"axis", int64_t{0}}});
  Value* size = node.shape({node.index(count)});
  return c.set(0, c.call("one_hot", {place, c.number(kF32, 1), c.number(kF32, 0), size}, {{"axis", int64_t{-1}}}));
}

constexpr Converter kRows[] = {
    {.name = "ArrayFeatureExtractor",
     .convert = array_feature_extractor,
     .domain = kMl,
     .strings = Converter::Strings::kMoved},
    {.name = "Binarizer", .convert = binarizer, .domain = kMl},
    {.name = "Scaler", .convert = scaler, .domain = kMl},
    {.name = "Normalizer", .convert = normalizer, .domain = kMl},
    {.name = "Imputer", .convert = imputer, .domain = kMl},
    {.name = "FeatureVectorizer", .convert = feature_vectorizer, .domain = kMl},
    {.name = "OneHotEncoder", .convert = one_hot_encoder, .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend::ml_features_family

RELAXC_CONVERTERS(ml_features, kRows)
