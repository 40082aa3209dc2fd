// lazy.cpp: conditions from the roots down. A node that is used in several places is computed if one of them is.
#include "compiler/codegen/c/lazy.h"

#include <algorithm>

#include "compiler/arith/visit.h"

namespace relaxc::codegen_c {

using namespace arith;

namespace {

/// What is known of a node so far: `when` is null if it is always computed.
struct Reached {
  Expr when;
  bool yet = false;
};

class Walk {
 public:
  explicit Walk(const std::vector<Expr>& roots) {
    for (Expr root : roots) reach(root, {});
  }

  void visit_operands(Expr e) {
    const Expr when = reached_[e].when;
    auto also = [&](Expr condition) { return when ? logical_and(when, condition) : condition; };
    if (const auto* select = e.as<Select>()) {
      reach(select->condition, when);
      reach(select->then_value, also(select->condition));
      reach(select->else_value, also(logical_not(select->condition)));
    } else if (const auto* both = e.as<And>()) {
      reach(both->a, when);
      reach(both->b, also(both->a));
    } else if (const auto* either = e.as<Or>()) {
      reach(either->a, when);
      reach(either->b, also(logical_not(either->a)));
    } else {
      for (Expr operand : operands(e)) reach(operand, when);
    }
  }

  Expr when(Expr e) const { return reached_.at(e).when; }

 private:
  void reach(Expr e, Expr when) {
    Reached& node = reached_[e];
    node.when = !node.yet ? when : node.when && when ? logical_or(node.when, when) : Expr();
    node.yet = true;
  }

  std::unordered_map<Expr, Reached> reached_;
};

}  // namespace

std::unordered_map<Expr, Expr> lazy_nodes(const std::vector<Expr>& roots, const std::vector<Expr>& order) {
  bool chooses = std::any_of(order.begin(), order.end(), [](Expr e) {
    return e.as<Select>() != nullptr || e.as<And>() != nullptr || e.as<Or>() != nullptr;
  });
  std::unordered_map<Expr, Expr> lazy;
  if (!chooses) return lazy;
  Walk walk(roots);
  for (auto e = order.rbegin(); e != order.rend(); ++e) {
    walk.visit_operands(*e);
    if (Expr when = walk.when(*e)) lazy[*e] = when;
  }
  return lazy;
}

}  // namespace relaxc::codegen_c
