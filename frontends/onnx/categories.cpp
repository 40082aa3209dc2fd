// categories.cpp: see categories.h.
#include "frontends/onnx/categories.h"

#include <algorithm>
#include <numeric>

namespace relaxc::frontend {
namespace {

/// Sorts keys and removes duplicates; returns the first position of each remaining key in the original list.
template <typename List, typename Less>
Ints sort_keys(List& keys, Less less) {
  Ints order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int64_t i) { return keys[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return less(at(a), at(b)); });
  auto same = [&](int64_t a, int64_t b) { return !less(at(a), at(b)) && !less(at(b), at(a)); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  List sorted;
  for (int64_t i : order) sorted.push_back(at(i));
  keys = std::move(sorted);
  return order;
}

}  // namespace

Categories::Categories(DType dtype, std::vector<double> keys) : dtype_(dtype), numbers_(std::move(keys)) {
  order_ = sort_keys(numbers_, [](double a, double b) { return a < b || (a == a && b != b); });
}

Categories::Categories(Ints keys) : dtype_(DType::i(64)), ints_(std::move(keys)) {
  order_ = sort_keys(ints_, [](int64_t a, int64_t b) { return a < b; });
}

Value* Categories::find(ConversionBuilder& c, Value* x, int64_t missing) const {
  Node& node = c.node;
  auto count = static_cast<int64_t>(order_.size());
  Value* none = constant_of(node, {}, {missing});
  x = c.as(x, dtype_);
  if (!c.ok()) return nullptr;
  if (count == 0) return c.call("broadcast_to", {none, node.shape(x->shape())});
  Value* keys = dtype_ == DType::i(64) ? constant_of(node, {count}, ints_) : list_of(node, dtype_, numbers_);
  Value* at = c.call("search_sorted", {keys, x});
  at = c.call("minimum", {at, constant_of(node, {}, {count - 1})});
  Value* key = c.call("take", {keys, at}, {{"axis", int64_t{0}}});
  Value* same = c.call("equal", {key, x});
  if (dtype_.is_float() && node.opset >= 4)
    same = c.call("logical_or", {same, c.call("logical_and", {c.call("isnan", {key}), c.call("isnan", {x})})});
  Value* place = c.call("take", {constant_of(node, {count}, order_), at}, {{"axis", int64_t{0}}});
  return c.where(same, place, none);
}

Result<Value*> place_of_string(ConversionBuilder& c, const Strings& x, const std::vector<std::string>& list,
                               int64_t missing) {
  StringTable table = string_table(list);
  RELAXC_TRY(Value * found, find_strings(c.node, x, table));
  Value* first = constant_of(c.node, {static_cast<int64_t>(table.first.size())}, table.first);
  Value* known = c.call("greater_equal", {found, c.number(DType::i(64), 0)});
  Value* place = c.call("take", {first, c.call("maximum", {found, c.number(DType::i(64), 0)})}, {{"axis", int64_t{0}}});
  Value* result = c.where(known, place, constant_of(c.node, {}, {missing}));
  return c.ok() ? Result<Value*>(result) : c.failed();
}

Result<Value*> place_of_string(ConversionBuilder& c, const std::vector<std::string>& list, int64_t missing) {
  RELAXC_TRY(Strings x, strings_input(c.node, 0));
  return place_of_string(c, x, list, missing);
}

}  // namespace relaxc::frontend
