// evaluation.h: values of many index expressions at one choice of their variables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// Does what evaluate() does for expressions that share nodes: each node is evaluated once for all of them.
class Evaluation {
 public:
  explicit Evaluation(std::function<int64_t(Var)> value_of) : value_of_(std::move(value_of)) {}
  std::optional<int64_t> of(Expr e);

 private:
  std::optional<int64_t> from_operands(Expr e) const;

  std::function<int64_t(Var)> value_of_;
  std::unordered_map<Expr, std::optional<int64_t>> values_;
};

}  // namespace relaxc::arith
