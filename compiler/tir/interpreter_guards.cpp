// interpreter_guards.cpp: see interpreter_guards.h.
#include "compiler/tir/interpreter_guards.h"

#include "compiler/tir/index_checks.h"

namespace relaxc::tir::interpreter {

int64_t GuardTable::add(const GuardRecord& record) {
  records_.push_back(record);
  return static_cast<int64_t>(records_.size()) - 1;
}

int64_t GuardTable::overflow() {
  auto [known, fresh] = overflows_.emplace(guard_, static_cast<int64_t>(records_.size()));
  if (!fresh) return known->second;
  const Guard found = overflow_record(function_, guard_);
  uint32_t expected = code_.constant({.i = INT64_MAX}), actual = code_.constant({.i = overflow_actual(found)});
  return add({found.code, found.tensor, found.axis, found.symbol, found.error_node, expected, actual});
}

void GuardTable::end() {
  overflows_.erase(guard_);
  guard_ = nullptr;
}

}  // namespace relaxc::tir::interpreter
