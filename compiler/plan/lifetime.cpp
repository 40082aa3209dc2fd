// lifetime.cpp: intervals over the statement tree.
//
// Statements are numbered in the order of the text. The frames of branches and loop bodies follow from that: an
// allocation in one branch ends before the other branch begins, so the two share memory, and an allocation in a loop
// body lives within one iteration. An allocation outside a loop that is accessed inside must outlive all iterations, so
// its interval grows to the whole loop.
//
// Rejected: a frame object for each region with a size of its own, added up by the parent. It gives the same result
// where regions are disjoint, and a worse one where a branch could use a hole in its parent's frame.
#include "compiler/plan/lifetime.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/analysis/overlaps.h"
#include "compiler/arith/prover.h"
#include "compiler/tir/visit.h"

namespace relaxc::plan {
namespace {

class Walk {
 public:
  Walk(const Calls& calls, const arith::Facts& facts) : calls_(calls), facts_(facts) {}

  /// `donors_until` receives the time at which each donor is first named.
  std::vector<Lifetime> run(tir::Stmt body, const std::vector<tir::BufferRef>& donors,
                            std::vector<uint32_t>& donors_until) {
    for (tir::BufferRef donor : donors) add_root(donor);
    walk(body);
    take_over();
    overlap();
    auto first_own = found_.begin() + static_cast<std::ptrdiff_t>(donors.size());
    for (auto donor = found_.begin(); donor != first_own; ++donor) donors_until.push_back(donor->first);
    found_.erase(found_.begin(), first_own);
    std::erase_if(found_, [](const Lifetime& life) { return life.last < life.first; });
    return std::move(found_);
  }

 private:
  struct Loop {
    uint32_t begin = 0;
    std::vector<size_t> touched;  ///< allocations from outside of the loop
  };

  void walk(tir::Stmt s) {
    // A body that ends in nested scopes is walked as a list, so that deep nests do not recurse.
    while (s) {
      if (const auto* alloc = s.as<tir::Alloc>()) {
        enter(*alloc);
        s = alloc->body;
      } else if (const auto* view = s.as<tir::View>()) {
        auto root = roots_.find(view->base);
        if (root != roots_.end()) {
          roots_[view->buffer] = root->second;
          need(view->buffer, view->buffer->dtype.bytes());
        }
        if (whole(view->base) && view->byte_offset.is_constant(0)) wholes_.insert(view->buffer);
        s = view->body;
      } else if (const auto* let = s.as<tir::Let>()) {
        here(s);
        s = let->body;
      } else if (const auto* seq = s.as<tir::Seq>()) {
        for (size_t i = 0; i + 1 < seq->body.size(); ++i) walk(seq->body[i]);
        s = seq->body.empty() ? tir::Stmt() : seq->body.back();
      } else {
        other(s);
        return;
      }
    }
  }

  void enter(const tir::Alloc& alloc) {
    if (alloc.buffer->scope != tir::Scope::kGlobal) return;
    allocated_.insert(alloc.buffer);
    add_root(alloc.buffer);
  }

  void add_root(tir::BufferRef buffer) {
    roots_[buffer] = found_.size();
    depths_.push_back(loops_.size());
    found_.push_back({buffer, UINT32_MAX, 0});
    need(buffer, buffer->dtype.bytes());
  }

  void need(tir::BufferRef buffer, int64_t alignment) {
    auto root = roots_.find(buffer);
    if (root == roots_.end()) return;
    Lifetime& life = found_[root->second];
    life.alignment = std::max(life.alignment, alignment);
  }

  void other(tir::Stmt s) {
    bool loop = s.as<tir::For>() != nullptr || s.as<tir::While>() != nullptr;
    if (loop) loops_.push_back({now_ + 1, {}});
    here(s);
    for (tir::Stmt child : tir::children(s)) walk(child);
    if (!loop) return;
    ++now_;
    for (size_t id : loops_.back().touched) found_[id].last = now_;
    loops_.pop_back();
  }

  void here(tir::Stmt s) {
    ++now_;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) touch(load->buffer);
      });
    if (const auto* store = s.as<tir::Store>()) touch(store->buffer);
    if (const auto* invoke = s.as<tir::Invoke>()) {
      for (size_t i = 0; i < invoke->args.size(); ++i)
        if (const auto* buffer = std::get_if<tir::BufferRef>(&invoke->args[i])) {
          touch(*buffer);
          if (calls_.alignment) need(*buffer, calls_.alignment(*invoke, i));
        }
      if (calls_.in_place) offer(*invoke);
      if (calls_.overlaps) offer_overlaps(*invoke);
    }
  }

  /// Returns whether `buffer` is an allocation, or a view of its first bytes.
  bool whole(tir::BufferRef buffer) const { return allocated_.count(buffer) != 0 || wholes_.count(buffer) != 0; }

  void offer(const tir::Invoke& invoke) {
    for (auto [from, to] : calls_.in_place(invoke)) {
      auto old = std::get<tir::BufferRef>(invoke.args.at(from)), made = std::get<tir::BufferRef>(invoke.args.at(to));
      if (!whole(old) || !whole(made)) continue;
      offers_.push_back({roots_.at(old), roots_.at(made), now_, invoke.callee});
    }
  }

  /// Records which allocations the call may read while it overwrites them: those of which each argument is a whole one
  /// that the callee's result may overlap.
  void offer_overlaps(const tir::Invoke& invoke) {
    const Calls::Overlaps allowed = calls_.overlaps(invoke);
    if (allowed.operands.empty()) return;
    const auto* made = std::get_if<tir::BufferRef>(&invoke.args.at(allowed.result));
    if (made == nullptr || !whole(*made)) return;
    std::map<size_t, PartialOffer> offers;
    for (size_t i = 0; i < invoke.args.size(); ++i) {
      const auto* buffer = std::get_if<tir::BufferRef>(&invoke.args[i]);
      auto root = buffer == nullptr || i == allowed.result ? roots_.end() : roots_.find(*buffer);
      if (root == roots_.end()) continue;
      PartialOffer& offer = offers[root->second];
      auto overlap = std::find_if(allowed.operands.begin(), allowed.operands.end(),
                                  [&](const tir::Overlap& one) { return one.input == i; });
      offer.all &= overlap != allowed.operands.end() && whole(*buffer);
      if (!offer.all) continue;
      offer.all = offer.params.empty() || offer.behind == overlap->behind;
      offer.distance = std::max(offer.distance, overlap->distance), offer.behind = overlap->behind;
      offer.params.push_back(i);
    }
    for (auto& [from, offer] : offers) {
      if (!offer.all) continue;
      offer.from = from, offer.to = roots_.at(*made), offer.time = now_, offer.callee = invoke.callee;
      offer.params.push_back(allowed.result);
      partial_offers_.push_back(std::move(offer));
    }
  }

  /// Accepts for each allocation the largest that it may overlap.
  void overlap() {
    for (const PartialOffer& offer : partial_offers_) {
      const Lifetime& old = found_[offer.from];
      Lifetime& made = found_[offer.to];
      if (offer.from == offer.to || old.last != offer.time || made.first != offer.time) continue;
      if (made.over != nullptr && analysis::known_bytes(*made.over) >= analysis::known_bytes(*old.buffer)) continue;
      made.over = old.buffer, made.distance = offer.distance, made.behind = offer.behind;
      made.over_by = offer.callee, made.sharing = offer.params;
    }
  }

  /// Accepts offers in which the old lifetime ends where the new one begins. Each memory passes to one successor.
  void take_over() {
    std::set<size_t> given;
    for (const Offer& offer : offers_) {
      Lifetime &old = found_[offer.from], &made = found_[offer.to];
      bool meet = offer.from != offer.to && old.last == offer.time && made.first == offer.time;
      if (!meet || made.successor_of != nullptr || !same_size(*old.buffer, *made.buffer)) continue;
      if (!given.insert(offer.from).second) continue;
      made.successor_of = old.buffer;
      made.by = offer.callee;
    }
  }

  bool same_size(const tir::Buffer& a, const tir::Buffer& b) {
    if (a.dtype.bytes() != b.dtype.bytes()) return false;
    Expr x = a.shape.empty() ? Expr() : a.shape[0], y = b.shape.empty() ? Expr() : b.shape[0];
    for (size_t i = 1; i < a.shape.size(); ++i) x = x * a.shape[i];
    for (size_t i = 1; i < b.shape.size(); ++i) y = y * b.shape[i];
    if (!x || !y || x == y) return x == y;
    if (!prover_) prover_.emplace(x.context(), facts_);
    return prover_->proves_equal(x, y);
  }

  void touch(tir::BufferRef buffer) {
    auto root = roots_.find(buffer);
    if (root == roots_.end()) return;
    size_t id = root->second;
    Lifetime& life = found_[id];
    uint32_t begin = now_;
    if (depths_[id] < loops_.size()) {
      Loop& outermost = loops_[depths_[id]];
      begin = outermost.begin;
      outermost.touched.push_back(id);
    }
    life.first = std::min(life.first, begin);
    life.last = std::max(life.last, now_);
  }

  using Expr = arith::Expr;
  struct Offer {
    size_t from, to;
    uint32_t time;
    std::string callee;
  };
  struct PartialOffer {
    size_t from = 0, to = 0;
    uint32_t time = 0;
    std::string callee = {};
    bool all = true;  ///< arguments allow it
    int64_t distance = 0;
    bool behind = false;
    std::vector<size_t> params = {};
  };
  const Calls& calls_;
  const arith::Facts& facts_;
  std::optional<arith::Prover> prover_;  ///< of same_size, made when it first asks
  std::vector<Offer> offers_;
  std::vector<PartialOffer> partial_offers_;
  std::set<tir::BufferRef> allocated_, wholes_;  // looked up only
  std::vector<Lifetime> found_;
  std::vector<size_t> depths_;  ///< the number of loops around each allocation
  std::map<tir::BufferRef, size_t> roots_;
  std::vector<Loop> loops_;
  uint32_t now_ = 0;
};

}  // namespace

std::vector<Lifetime> lifetimes(tir::Stmt body, const Calls& calls, const arith::Facts& facts,
                                const std::vector<tir::BufferRef>& donors, std::vector<uint32_t>* donors_until) {
  std::vector<uint32_t> unasked;
  return Walk(calls, facts).run(body, donors, donors_until != nullptr ? *donors_until : unasked);
}

}  // namespace relaxc::plan
