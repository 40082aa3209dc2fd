// focus_nests.cpp: see focus_nests.h.
#include "compiler/schedule/primitives/focus_nests.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

namespace {

/// The sequence in `root` in which `nests` are consecutive; null if there is none.
const tir::Seq* sequence_of(Stmt root, const std::vector<Stmt>& nests) {
  const tir::Seq* found = nullptr;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq != nullptr &&
        std::search(seq->body.begin(), seq->body.end(), nests.begin(), nests.end()) != seq->body.end())
      found = seq;
  });
  return found;
}

}  // namespace

Legal<FocusNests::Facts> FocusNests::legal(const Tree& tree) const {
  Facts facts{tree, {}};
  facts.kernel.leave_focus();
  const Stmt root = facts.kernel.root();
  for (uint32_t id : blocks.ids) {
    facts.nests.push_back(nest_around(root, id));
    RELAXC_REQUIRE(
        static_cast<bool>(facts.nests.back()),
        fmt::format("block '{}' is not in a nest of its own: loops around nothing else", block_name(facts.kernel, id)));
  }
  RELAXC_REQUIRE(!facts.nests.empty(), "no block is named");
  RELAXC_REQUIRE(facts.nests.size() == 1 || sequence_of(root, facts.nests) != nullptr,
                 "these nests are not consecutive in this order");
  return facts;
}

FocusNests::Made FocusNests::apply(Tree& tree, const Facts& facts) const {
  tree = facts.kernel;
  tree.take_focus(facts.nests);
  return Done{};
}

}  // namespace relaxc::schedule
