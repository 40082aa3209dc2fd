// section.cpp: see section.h.
#include "compiler/schedule/primitives/section.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

Legal<FocusSection::Facts> FocusSection::legal(const Tree& tree) const {
  Facts facts{tree, {}};
  facts.kernel.leave_section();
  const std::vector<Stmt> all = statements_of(facts.kernel.root());
  RELAXC_REQUIRE(begin < end && end <= static_cast<int64_t>(all.size()),
                 fmt::format("the kernel is a sequence of {} statements, from 0", all.size()));
  facts.statements.assign(all.begin() + begin, all.begin() + end);
  return facts;
}

FocusSection::Made FocusSection::apply(Tree& tree, const Facts& facts) const {
  tree = facts.kernel;
  tree.take_section(facts.statements);
  return Done{};
}

}  // namespace relaxc::schedule
