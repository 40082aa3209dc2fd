// stored_formula.cpp: see stored_formula.h.
#include "frontends/tflite/stored_formula.h"

#include <algorithm>

#include "frontends/tflite/fixed_point.h"

namespace relaxc::tflite {

Value* StoredFormula::scale(Value* x, const std::vector<Multiplier>& m, const Stored& stored) {
  if (!ok() || x == nullptr) return nullptr;
  FixedPoint fixed(*this);
  const Limits limits = stored.limits.value_or(limits_of(stored.dtype));
  const Negatives negatives = limits.low >= stored.zero_point ? Negatives::kAreCut : Negatives::kMatter;
  return store(stored.reduced ? fixed.scale_reduced(x, m) : fixed.scale(x, m, negatives), stored);
}

Value* StoredFormula::store(Value* x, const Stored& stored) {
  Limits limits = stored.limits.value_or(limits_of(stored.dtype));
  x = add(x, static_cast<double>(stored.zero_point));
  if (limits.low > INT32_MIN || limits.high < INT32_MAX)
    x = clamp(x, static_cast<double>(limits.low), static_cast<double>(limits.high));
  return as(x, stored.dtype);
}

Value* StoredFormula::saturate(Value* x, DType dtype) {
  Limits limits = limits_of(dtype);
  return as(clamp(x, static_cast<double>(limits.low), static_cast<double>(limits.high)), dtype);
}

Value* StoredFormula::look_up(Value* x, const Ints& table, DType dtype) {
  if (x == nullptr || !ok()) return nullptr;
  Ints by_bits = table;  // the table is indexed by the byte's bits as unsigned
  if (x->dtype().is_int()) std::rotate(by_bits.begin(), by_bits.begin() + 128, by_bits.end());
  return call("take", {list(dtype, by_bits), as(x, DType::u(8))}, {{"axis", int64_t{0}}});
}

Value* StoredFormula::interpolate(Value* x, const std::vector<int16_t>& table) {
  if (!ok() || x == nullptr) return nullptr;
  Value* entries = list(DType::i(32), Ints(table.begin(), table.end()));
  Value* place = add(call("right_shift", {x, like(x, 7)}), 256);
  auto entry = [&](Value* at) {
    return call("take", {entries, at}, {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
  };
  Value *here = entry(place), *next = entry(add(place, 1));
  Value* rest = call("bitwise_and", {x, like(x, 0x7F)});
  Value* rise = add(multiply(subtract(next, here), rest), 64);
  return add(here, call("right_shift", {rise, like(rise, 7)}));
}

}  // namespace relaxc::tflite
