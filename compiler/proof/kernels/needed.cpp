// needed.cpp: see needed.h.
//
// What a store to a needed element loads is needed. A subscript of a load that equals one of the store's has its set;
// another one has the values that it takes while the store's subscripts are in theirs. This is repeated until nothing
// is added.
#include "compiler/proof/kernels/needed.h"

#include <algorithm>

#include "compiler/arith/simplify.h"

namespace relaxc::proof {

namespace {

using arith::Expr;
using arith::Range;

class Needs {
 public:
  Needs(const StoreSites& sites, const arith::Facts& facts) : sites_(sites), facts_(facts) {
    for (const StoreSite& site : sites.stores) written_.insert(site.buffer);
  }

  NeededElements run(const NeededElements& results) {
    for (const auto& [buffer, dims] : results) add(buffer, dims);
    for (const tir::BufferRef buffer : sites_.whole)
      if (written_.count(buffer) != 0) add_whole(buffer);
    constexpr int kMostRounds = 16;
    for (int round = 0; changed_; ++round) {
      changed_ = false;
      for (const StoreSite& site : sites_.stores) {
        const auto needed = needed_.find(site.buffer);
        if (needed == needed_.end()) continue;
        const std::vector<IndexSet> stored = needed->second;
        for (const auto& [buffer, indices] : site.loads) {
          if (written_.count(buffer) == 0) continue;
          round < kMostRounds ? add(buffer, loaded(site, stored, indices)) : add_whole(buffer);
        }
      }
    }
    return std::move(needed_);
  }

 private:
  void add_whole(tir::BufferRef buffer) { add(buffer, std::vector<IndexSet>(buffer->shape.size(), every_index())); }

  void add(tir::BufferRef buffer, std::vector<IndexSet> dims) {
    const auto [known, fresh] = needed_.try_emplace(buffer, std::vector<IndexSet>(dims.size()));
    changed_ = changed_ || fresh;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Range count = arith::bounds(buffer->shape[d], facts_);
      IndexSet all = united(known->second[d], count.is_exact() ? with_outside(dims[d], count.lower) : every_index());
      changed_ = changed_ || all != known->second[d];
      known->second[d] = std::move(all);
    }
  }

  /// Returns the subscripts of a load while the store's subscripts are in `stored`.
  static std::vector<IndexSet> loaded(const StoreSite& site, const std::vector<IndexSet>& stored,
                                      const std::vector<Expr>& indices) {
    std::vector<IndexSet> dims;
    for (const Expr index : indices) {
      const auto same = std::find(site.at.begin(), site.at.end(), index);
      dims.push_back(same != site.at.end() ? stored[static_cast<size_t>(same - site.at.begin())]
                                           : values_of(site, stored, index));
    }
    return dims;
  }

  static IndexSet values_of(const StoreSite& site, const std::vector<IndexSet>& stored, Expr index) {
    for (size_t d = 0; d < stored.size(); ++d) {
      if (site.at[d].as<arith::VarNode>() == nullptr || is_every_index(stored[d])) continue;
      const arith::Var var(static_cast<const arith::VarNode*>(site.at[d].node()));
      const std::vector<arith::Var> vars = arith::free_vars(index);
      if (std::find(vars.begin(), vars.end(), var) == vars.end()) continue;
      IndexSet values;
      for (const Range range : intersected(stored[d], site.facts.range_of(var))) {
        arith::Facts facts = site.facts;
        facts.bound(var, range);
        values = united(std::move(values), {arith::bounds(index, facts)});
      }
      return values;
    }
    return {arith::bounds(index, site.facts)};
  }

  const StoreSites& sites_;
  const arith::Facts& facts_;
  std::set<tir::BufferRef> written_;
  NeededElements needed_;
  bool changed_ = true;
};

}  // namespace

NeededElements needed_elements(const StoreSites& sites, const NeededElements& results, const arith::Facts& facts) {
  return Needs(sites, facts).run(results);
}

}  // namespace relaxc::proof
