// operators.h: the table of Relay's operators, one row each.
//
// A row lists the names of an operator's operands and attributes in Relay, in its order and with its defaults, since
// TVM prints only attributes that have other values. Most operators only have other names in relaxc's text language:
// `target`. An operator with another meaning has a function, `read`, that expresses it by operators of relaxc.
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

struct Row {
  std::string_view name;
  /// "data:x, axis=-1" means: Relay's `data` is the target's `x`, and `axis` is -1 if it is absent.
  std::string_view params;
  std::string_view target = {};
  Result<Term> (*read)(TvmCall&) = nullptr;  ///< reads the call; null: the target's reader does
  std::string_view note = {};                ///< limitations, for docs/relay-support.md
};

/// All rows, found by name. CMake lists the families.
class OperatorTable {
 public:
  explicit OperatorTable(std::vector<std::span<const Row>> families);
  const Row* find(std::string_view name) const;
  /// Returns the rows in order of their names.
  const std::vector<const Row*>& all() const { return rows_; }

 private:
  std::vector<const Row*> rows_;
};

OperatorTable operator_table();

/// Tells the text frontend to read calls by this table.
extern const frontend::Dialect kDialect;

}  // namespace relaxc::relay

/// Ends a file frontends/relay/ops/<family>.cpp: defines the function by which the generated table finds its rows.
#define RELAXC_RELAY_OPERATORS(family, table) \
  namespace relaxc::relay {                   \
  std::span<const Row> family##_operators();  \
  std::span<const Row> family##_operators() { \
    return family##_family::table;            \
  }                                           \
  }
