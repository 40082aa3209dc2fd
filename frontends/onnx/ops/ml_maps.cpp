// ml_maps.cpp: operators on maps: ZipMap, which classifiers end with, DictVectorizer and CastMap.
//
// A map is its keys and its values in the same order (composite.h). All maps of a ZipMap have the model's labels as
// keys, so nothing is computed: the values are its input tensor.
#include <algorithm>

#include "frontends/onnx/categories.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::ml_maps_family {
namespace {

constexpr DType kI64 = DType::i(64);

Result<Maps> map_input(Node& node) {
  const NamedValue* slot = node.has(0) ? node.importer().find(node.proto.input(0)) : nullptr;
  const Maps* maps = slot == nullptr ? nullptr : maps_in(*slot);
  if (maps == nullptr || maps->values->shape().size() != 1)
    return node.error(Kind::dtype_mismatch, "the input must be a map, found {}",
                      slot == nullptr   ? "none"
                      : maps != nullptr ? "a sequence of maps"
                                        : form_of(*slot));
  return *maps;
}

/// Converts rows of probabilities to maps from labels; a single row is one map.
Status zip_map(Node& node) {
  ConversionBuilder c(node);
  Ints labels = node.ints_attr("classlabels_int64s");
  std::vector<std::string> words = node.strings_attr("classlabels_strings");
  if (labels.empty() == words.empty())
    return node.error(Kind::invalid_attribute, "it needs either classlabels_int64s or classlabels_strings");
  Maps maps{NamedValue(), c.input(0)};
  if (!c.ok()) return c.failed();
  auto count = static_cast<int64_t>(labels.size() + words.size());
  std::vector<Expr> dims = maps.values->shape();
  if (dims.empty() || dims.size() > 2)
    return node.error(Kind::rank_mismatch, "it takes rows of numbers, found {}", relax::to_string(maps.values->info));
  if (dims.size() == 1) dims.insert(dims.begin(), node.index(1));
  maps.values = c.reshape(maps.values, dims);
  if (!c.ok()) return c.failed();
  dims[1] = node.index(count);
  RELAXC_TRY(maps.values, with_shape(node, maps.values, std::move(dims), "the list of class labels"));
  if (words.empty())
    maps.keys.value = constant_of(node, {count}, labels);
  else
    maps.keys = strings_constant(node.builder(), {count}, words);
  if (node.wants(0)) node.importer().scope().slots[node.proto.output(0)] = maps_slot(std::move(maps));
  return Done{};
}

/// Returns a row of `count` zeros with `values` written at `places`; a value with the place `count` is dropped.
Value* scattered(ConversionBuilder& c, Value* values, Value* places, Expr count) {
  if (!c.ok()) return nullptr;
  Expr all = c.node.simplify(count + 1), one = c.node.index(1);
  Value* zeros = c.call("zeros", {c.node.shape({all})}, {{"dtype", values->dtype()}});
  Attrs attrs{{"axis", int64_t{0}}, {"reduction", std::string("none")}};
  Value* row = c.call("scatter_elements", {zeros, places, values}, std::move(attrs));
  return c.reshape(c.slice(row, 0, c.node.index(0), count), {one, count});
}

/// Makes one column for each word of the vocabulary; other keys are ignored.
Status dict_vectorizer(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Maps maps, map_input(node));
  Ints numbers = node.ints_attr("int64_vocabulary");
  std::vector<std::string> words = node.strings_attr("string_vocabulary");
  const Strings* keys = strings_in(maps.keys);
  if (numbers.empty() == words.empty() || (keys != nullptr) == words.empty())
    return node.error(Kind::invalid_attribute,
                      "it needs a vocabulary of the map's keys: int64_vocabulary or string_vocabulary");
  auto count = static_cast<int64_t>(numbers.size() + words.size());
  Value* places = nullptr;
  if (keys != nullptr) {
    RELAXC_TRY(places, place_of_string(c, *keys, words, count));
  } else {
    RELAXC_TRY(Value * list, Composites(node.importer()).tensor(maps.keys));
    places = Categories(numbers).find(c, list, count);
  }
  return c.set(0, scattered(c, maps.values, places, node.index(count)));
}

/// Converts a map from integers to one row: dense, its values in the order of keys; or sparse, each value at the index
/// that its key gives, in a row of `max_map`.
Status cast_map(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Maps maps, map_input(node));
  if (strings_in(maps.keys) != nullptr) return node.error(Kind::dtype_mismatch, "the keys must be integers");
  std::string to = node.string_attr("cast_to", "TO_FLOAT"), form = node.string_attr("map_form", "DENSE");
  if (to != "TO_FLOAT" && to != "TO_INT64")
    return node.error(Kind::unsupported, "cast_to '{}' is not supported; TO_FLOAT and TO_INT64 are", to);
  RELAXC_TRY(Value * keys, Composites(node.importer()).tensor(maps.keys));
  Value* values = c.as(maps.values, to == "TO_FLOAT" ? DType::f(32) : kI64);
  if (!c.ok()) return c.failed();
  if (form == "DENSE") {
    Value* order = c.call("argsort", {keys});
    Value* sorted = c.call("take", {values, order}, {{"axis", int64_t{0}}});
    return c.set(0, c.call("expand_dims", {sorted}, {{"axis", Ints{0}}}));
  }
  int64_t count = node.int_attr("max_map", 1);
  if (form != "SPARSE" || count < 1 || count > INT32_MAX)
    return node.error(Kind::invalid_attribute, "map_form '{}' with max_map {} is neither DENSE nor SPARSE", form,
                      count);
  Value* none = constant_of(node, {}, {count});
  Value* inside =
      c.call("logical_and", {c.call("greater_equal", {keys, c.number(kI64, 0)}), c.call("less", {keys, none})});
  return c.set(0, scattered(c, values, c.where(inside, keys, none), node.index(count)));
}

constexpr Converter kRows[] = {
    {.name = "ZipMap", .convert = zip_map, .note = "gives the keys once, and the values as a tensor", .domain = kMl},
    {.name = "DictVectorizer", .convert = dict_vectorizer, .note = "only maps to numbers", .domain = kMl},
    {.name = "CastMap", .convert = cast_map, .note = "only from numbers to numbers", .domain = kMl},
};

}  // namespace
}  // namespace relaxc::frontend::ml_maps_family

RELAXC_CONVERTERS(ml_maps, kRows)
