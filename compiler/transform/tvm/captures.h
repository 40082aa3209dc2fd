// captures.h: what the body of a loop reads of the function around it.
#pragma once

#include <unordered_set>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Values and symbols that a loop reads and that are not its own, in the order of first use.
class Captures {
 public:
  explicit Captures(const relax::Op& loop);

  const std::vector<relax::Value*>& values() const { return values_; }
  /// Symbols that are dims or whole scalars, which a shape can pass.
  const std::vector<relax::Var>& symbols() const { return symbols_; }
  /// A symbol of another dtype that no value passes; nullopt if there is none.
  const std::optional<relax::Var>& lost() const { return lost_; }

 private:
  void read(const relax::Region& region);
  void read(const relax::Op& op);
  void read(relax::Value* value);
  void read(relax::Info info);
  void sort_symbols(const relax::Function& function);

  std::unordered_set<const relax::Value*> own_;
  std::unordered_set<const arith::Node*> own_symbols_, seen_symbols_;
  std::unordered_set<const relax::Value*> seen_;
  std::vector<relax::Value*> values_;
  std::vector<relax::Var> symbols_;
  std::optional<relax::Var> lost_;
};

}  // namespace relaxc
