// focus_statements.cpp: see focus_statements.h.
#include "compiler/schedule/primitives/focus_statements.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

Legal<FocusStatements::Facts> FocusStatements::legal(const Tree& tree) const {
  Facts facts{tree, {}};
  facts.kernel.leave_section();
  const std::vector<Stmt> all = statements_of(facts.kernel.root());
  RELAXC_REQUIRE(begin < end && end <= static_cast<int64_t>(all.size()),
                 fmt::format("the kernel is a sequence of {} statements, from 0", all.size()));
  facts.statements.assign(all.begin() + begin, all.begin() + end);
  return facts;
}

FocusStatements::Made FocusStatements::apply(Tree& tree, const Facts& facts) const {
  tree = facts.kernel;
  tree.take_section(facts.statements);
  return Done{};
}

}  // namespace relaxc::schedule
