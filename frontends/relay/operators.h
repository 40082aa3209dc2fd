// operators.h: Relay's operators, a row each.
//
// A row says what Relay calls an operator's operands and attributes, in its order and with its defaults, since TVM
// prints only attributes that have other values. Most operators are an operator of relaxc's text language under other
// names: `target`. What Relay means otherwise has a function that makes it of operators of relaxc.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontends/relax/language.h"
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::relay {

using frontend::Term;
using frontend::TvmCall;
using namespace frontend::tvm_names;
using arith::Expr;

struct Row {
  std::string_view name;
  /// "data:x, axis=-1": Relay's `data` is what the target calls x, and `axis` is -1 where it is not given.
  std::string_view params;
  std::string_view target = {};
  Result<Term> (*read)(TvmCall&) = nullptr;  ///< null: the target
  std::string_view note = {};                ///< limits, for docs/relay-support.md
};

/// All rows, found by name. The families are listed by CMake.
class OperatorTable {
 public:
  explicit OperatorTable(std::vector<std::span<const Row>> families);
  const Row* find(std::string_view name) const;
  /// In order of their names.
  const std::vector<const Row*>& all() const { return rows_; }

 private:
  std::vector<const Row*> rows_;
};

OperatorTable operator_table();

/// Reads calls by the table.
extern const frontend::Dialect kDialect;

}  // namespace relaxc::relay

/// Ends a file frontends/relay/ops/<family>.cpp: publishes its rows under the name that the generated list calls.
#define RELAXC_RELAY_OPERATORS(family, table) \
  namespace relaxc::relay {                   \
  std::span<const Row> family##_operators();  \
  std::span<const Row> family##_operators() { \
    return family##_family::table;            \
  }                                           \
  }
