// sharing.cpp: selects the nodes of a statement that become temporaries.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/codegen/c/expression.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/codegen/c/operators.h"
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

/// Whether `e` may be computed only where the program chooses it: it may read outside of a buffer, or calls C code.
bool needs_leave(Expr e) {
  return e.as<Load>() != nullptr || (e.as<Extern>() != nullptr && !is_angle_call(e));
}

/// Whether the text of `e` contains that of its operands more than once.
bool prints_twice(Expr e) {
  return e->kind == ExprKind::kFloorMod && e.dtype().is_float();
}

}  // namespace

/// Temporaries are declared before the statement, whatever its selects choose. If one holds what only an arm may
/// compute, a load of the arm becomes a temporary under the arm's guard. If no order puts guards before what they
/// guard, as when a condition reads what it guards, arms become branches.
class Expressions::Sharing {
 public:
  Sharing(Expressions& expressions, const std::vector<Expr>& roots) : expressions_(expressions), roots_(roots) {
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

  std::vector<std::string> lines();

 private:
  class Branches;

  bool is_shared(Expr e) const {
    auto uses = uses_.find(e);
    return uses != uses_.end() && uses->second > 1 && !is_leaf(e);
  }

  /// Whether a temporary that may not be computed in all cases needs leave, or has operands that do.
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
    const std::string open = guarded ? name_of_guard(guard->second) : "";
    std::string value = expressions_.print(e);
    if (guarded) value = fmt::format("{} ? {} : {}", open, value, zero(e.dtype()));
    expressions_.temporaries_[e] = declare(expressions_.type_of(e), value);
  }

  const std::string& name_of_guard(int guard) {
    std::string& name = guards_[static_cast<size_t>(guard)];
    if (!name.empty()) return name;
    std::string ways;
    for (const Way& way : lazy_.guards[static_cast<size_t>(guard)])
      ways += fmt::format("{}{}", ways.empty() ? "" : " || ", way_text(way));
    name = declare(value_type(DType::boolean()), ways);
    return name;
  }

  std::string way_text(const Way& way) {
    std::string from = way.from >= 0 ? name_of_guard(way.from) : "";
    if (!way.condition) return from;
    // In `order_`, a condition may be after what it guards. What they share gets its name first here, too.
    for_each_node(
        way.condition, [&](Expr e) { return operands_except(e, [&](Expr part) { return defined_.count(part) != 0; }); },
        [&](Expr e) { define(e, true); });
    std::string asked = (way.holds ? "" : "!") + expressions_.text(way.condition);
    return from.empty() ? asked : fmt::format("({} && {})", from, asked);
  }

  std::string declare(const std::string& type, const std::string& value) {
    std::string name = expressions_.names_.fresh("t");
    lines_.push_back(fmt::format("const {} {} = {};", type, name, value));
    return name;
  }

  Expressions& expressions_;
  const std::vector<Expr>& roots_;
  std::unordered_map<Expr, int> uses_;
  std::vector<Expr> order_;
  LazyNodes lazy_;
  std::unordered_set<Expr> defined_;
  std::vector<std::string> guards_;  ///< names, once they are declared
  std::vector<std::string> lines_;
};

/// Declares names statement by statement: an arm that reads memory and has something to name becomes a branch with
/// names of its own, so a load is computed where its arm is chosen. Arms do not see each other's names;
/// share_across_arms has limited how much they repeat of each other.
class Expressions::Sharing::Branches {
 public:
  explicit Branches(Sharing& sharing) : sharing_(sharing), temporaries_(sharing.expressions_.temporaries_) {
    for (Expr e : sharing.order_) {
      std::vector<Expr> below = operands(e);
      if (needs_leave(e) || std::any_of(below.begin(), below.end(), [&](Expr o) { return reading_.count(o) != 0; }))
        reading_.insert(e);
    }
  }

  std::vector<std::string> lines() {
    for (Expr root : sharing_.roots_) compute(root);
    return std::move(sharing_.lines_);
  }

 private:
  /// One arm of a choice: the declarations that it needs, and the text of its value.
  struct Arm {
    std::vector<std::string> lines;
    std::string value;
  };

  bool has_arms(Expr e) const {
    if (e.as<Select>() == nullptr && e.as<And>() == nullptr && e.as<Or>() == nullptr) return false;
    std::vector<Expr> list = operands(e);
    return std::any_of(list.begin() + 1, list.end(), [&](Expr arm) { return reading_.count(arm) != 0; });
  }

  /// Declares names for what `root` computes in all cases.
  void compute(Expr root) {
    if (temporaries_.count(root) != 0) return;
    auto next = [&](Expr e) {
      std::vector<Expr> list = has_arms(e) ? eager_operands(e) : operands(e);
      std::erase_if(list, [&](Expr part) { return temporaries_.count(part) != 0; });
      return list;
    };
    for_each_node(root, next, [&](Expr e) {
      if (temporaries_.count(e) != 0 || (has_arms(e) && branch(e)) || !sharing_.is_shared(e)) return;
      name(e, sharing_.declare(sharing_.expressions_.type_of(e), sharing_.expressions_.print(e)));
    });
  }

  void name(Expr e, const std::string& text) {
    temporaries_[e] = text;
    named_.push_back(e);
  }

  Arm arm(Expr value) {
    Arm arm;
    const size_t outside = named_.size();
    std::swap(arm.lines, sharing_.lines_);
    compute(value);
    std::swap(arm.lines, sharing_.lines_);
    arm.value = arm.lines.empty() ? "" : sharing_.expressions_.text(value);
    for (; named_.size() > outside; named_.pop_back()) temporaries_.erase(named_.back());
    return arm;
  }

  /// Prints a choice as a branch. False if no arm has anything to name: then the choice is an expression.
  bool branch(Expr choice) {
    const std::vector<Expr> parts = operands(choice);
    std::vector<Arm> arms;
    for (size_t i = 1; i < parts.size(); ++i) arms.push_back(arm(parts[i]));
    if (std::all_of(arms.begin(), arms.end(), [](const Arm& arm) { return arm.lines.empty(); })) return false;
    for (size_t i = 0; i < arms.size(); ++i)
      if (arms[i].lines.empty()) arms[i].value = sharing_.expressions_.text(parts[i + 1]);
    const bool either = choice.as<Or>() != nullptr;
    const std::string asked = sharing_.expressions_.text(parts[0]), t = sharing_.expressions_.names_.fresh("t");
    const std::string first = arms.size() == 2 ? "" : either ? " = 1" : " = 0";
    add("{} {}{};", sharing_.expressions_.type_of(choice), t, first);
    add("if {} {{", truth(either ? "!" + asked : asked));
    for (size_t i = 0; i < arms.size(); ++i) {
      if (i > 0) add("else {{");
      for (const std::string& line : arms[i].lines) add("  {}", line);
      add("  {} = {};", t, arms[i].value);
      add("}}");
    }
    name(choice, t);
    return true;
  }

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    sharing_.lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  Sharing& sharing_;
  std::unordered_map<Expr, std::string>& temporaries_;
  std::unordered_set<Expr> reading_;  ///< nodes that need leave, or operands that do
  std::vector<Expr> named_;           ///< in the order in which they got their names
};

std::vector<std::string> Expressions::Sharing::lines() {
  const bool guards = shares_lazy_needs();
  if (guards && !tir::guards_come_first(lazy_, order_, needs_leave)) return Branches(*this).lines();
  if (guards)  // guards name their conditions, as choices do
    for (const std::vector<Way>& ways : lazy_.guards)
      for (const Way& way : ways)
        if (way.condition) ++uses_[way.condition];
  for (Expr e : order_) define(e, guards);
  return std::move(lines_);
}

std::vector<std::string> Expressions::share(const std::vector<Expr>& roots) {
  return Sharing(*this, roots).lines();
}

}  // namespace relaxc::codegen_c
