// sharing.cpp: which nodes of a statement become temporaries.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/codegen/c/expression.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/codegen/c/types.h"
#include "compiler/tir/lazy.h"

namespace relaxc::codegen_c {

using namespace arith;
using tir::LazyNodes;
using tir::Way;

namespace {

bool is_leaf(Expr e) {
  return e.constant() != nullptr || e.as<FloatImm>() != nullptr || e.as<VarNode>() != nullptr;
}

/// Its operands are not enough to compute it: that may read where no element is, or have the caller's code run.
bool needs_leave(Expr e) {
  return e.as<Load>() != nullptr || (e.as<Extern>() != nullptr && !is_angle_call(e));
}

/// Its text holds that of its operands more than once.
bool prints_twice(Expr e) {
  return e->kind == ExprKind::kFloorMod && e.dtype().is_float();
}

}  // namespace

/// Temporaries stand before the statement, whatever its selects choose later. Where one of them holds what only an arm
/// may compute, a load of the arm becomes a temporary of its own, behind the arm's guard.
class Expressions::Sharing {
 public:
  Sharing(Expressions& expressions, const std::vector<Expr>& roots) : expressions_(expressions) {
    for (Expr root : roots)
      for_each_node(root, [&](Expr e) {
        if (uses_.emplace(e, 0).second) {
          order_.push_back(e);
          for (Expr operand : operands(e)) uses_[operand] += prints_twice(e) ? 2 : 1;
        }
      });
    for (Expr root : roots) ++uses_[root];
    lazy_ = tir::lazy_nodes(roots, order_);
    guards_.resize(lazy_.guards.size());
  }

  std::vector<std::string> lines() {
    const bool guards = shares_lazy_needs();
    if (guards)  // which name their conditions, as the choices themselves do
      for (const std::vector<Way>& ways : lazy_.guards)
        for (const Way& way : ways)
          if (way.condition) ++uses_[way.condition];
    for (Expr e : order_) define(e, guards);
    return std::move(lines_);
  }

 private:
  bool is_shared(Expr e) const {
    auto uses = uses_.find(e);
    return uses != uses_.end() && uses->second > 1 && !is_leaf(e);
  }

  /// A temporary holds what needs leave, or operands that do, and may itself not be computed.
  bool shares_lazy_needs() const {
    std::unordered_set<Expr> needing;
    bool shares = false;
    for (Expr e : order_) {
      std::vector<Expr> below = operands(e);
      bool needs =
          needs_leave(e) || std::any_of(below.begin(), below.end(), [&](Expr o) { return needing.count(o) != 0; });
      if (needs) needing.insert(e);
      shares |= needs && is_shared(e) && lazy_.guard_of.count(e) != 0;
    }
    return shares;
  }

  void define(Expr e, bool guards) {
    if (!defined_.insert(e).second) return;
    auto guard = lazy_.guard_of.find(e);
    const bool guarded = guards && needs_leave(e) && guard != lazy_.guard_of.end();
    if (!guarded && !is_shared(e)) return;
    if (guarded) open_.insert(e);
    const std::string open = guarded ? name_of_guard(guard->second) : "";
    open_.erase(e);
    std::string value = expressions_.print(e);
    if (guarded) value = fmt::format("{} ? {} : {}", open, value, zero(e.dtype()));
    expressions_.temporaries_[e] = declare(e.dtype(), value);
  }

  const std::string& name_of_guard(int guard) {
    std::string& name = guards_[static_cast<size_t>(guard)];
    if (!name.empty()) return name;
    std::string ways;
    for (const Way& way : lazy_.guards[static_cast<size_t>(guard)])
      ways += fmt::format("{}{}", ways.empty() ? "" : " || ", way_text(way));
    name = declare(DType::boolean(), ways);
    return name;
  }

  std::string way_text(const Way& way) {
    std::string from = way.from >= 0 ? name_of_guard(way.from) : "";
    if (!way.condition) return from;
    // Conditions may stand behind what they guard in `order_`; what they share gets its name first here, too. A
    // condition that reads what it guards is written out, which reads as lazily as the choices do, and gets its name
    // afterwards.
    std::unordered_set<Expr> reads_guarded;
    for_each_node(
        way.condition, [&](Expr e) { return operands_but(e, [&](Expr part) { return defined_.count(part) != 0; }); },
        [&](Expr e) {
          std::vector<Expr> below = operands(e);
          bool waits = std::any_of(below.begin(), below.end(),
                                   [&](Expr o) { return open_.count(o) != 0 || reads_guarded.count(o) != 0; });
          if (waits)
            reads_guarded.insert(e);
          else
            define(e, true);
        });
    std::string asked = (way.holds ? "" : "!") + expressions_.text(way.condition);
    return from.empty() ? asked : fmt::format("({} && {})", from, asked);
  }

  std::string declare(DType dtype, const std::string& value) {
    std::string name = expressions_.names_.fresh("t");
    lines_.push_back(fmt::format("const {} {} = {};", value_type(dtype), name, value));
    return name;
  }

  Expressions& expressions_;
  std::unordered_map<Expr, int> uses_;
  std::vector<Expr> order_;
  LazyNodes lazy_;
  std::unordered_set<Expr> defined_;
  std::unordered_set<Expr> open_;    ///< nodes whose guards are being named
  std::vector<std::string> guards_;  ///< names, once they are declared
  std::vector<std::string> lines_;
};

std::vector<std::string> Expressions::share(const std::vector<Expr>& roots) {
  return Sharing(*this, roots).lines();
}

}  // namespace relaxc::codegen_c
