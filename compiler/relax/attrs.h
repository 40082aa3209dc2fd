// attrs.h: the named constants of an operator call: strides, axes, modes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/support/check.h"
#include "compiler/support/dtype.h"

namespace relaxc::relax {

using AttrValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;
enum class AttrType : uint8_t { kBool, kInt, kFloat, kString, kDType, kInts, kFloats, kStrings };

/// Attributes, sorted by name. Reading a missing attribute, or one of another type, is an internal error: frontends add
/// defaults and check types against the operator's AttrDefs.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, AttrValue>> values) : values_(values) {}

  template <typename T>
  const T& get(std::string_view name) const {
    auto it = values_.find(name);
    RELAXC_CHECK(it != values_.end(), "no attribute " + std::string(name));
    const T* value = std::get_if<T>(&it->second);
    RELAXC_CHECK(value != nullptr, "attribute " + std::string(name) + " has another type");
    return *value;
  }
  bool flag(std::string_view name) const { return get<bool>(name); }
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }
  double number(std::string_view name) const { return get<double>(name); }
  const std::string& string(std::string_view name) const { return get<std::string>(name); }
  DType dtype(std::string_view name) const { return get<DType>(name); }
  const std::vector<int64_t>& ints(std::string_view name) const { return get<std::vector<int64_t>>(name); }
  const std::vector<double>& floats(std::string_view name) const { return get<std::vector<double>>(name); }

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void set(std::string name, AttrValue value) { values_.insert_or_assign(std::move(name), std::move(value)); }
  const std::map<std::string, AttrValue, std::less<>>& all() const { return values_; }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::map<std::string, AttrValue, std::less<>> values_;
};

}  // namespace relaxc::relax
