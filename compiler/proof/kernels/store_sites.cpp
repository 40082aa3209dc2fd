// store_sites.cpp: see store_sites.h.
#include "compiler/proof/kernels/store_sites.h"

#include <map>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::proof {

namespace {

using arith::Expr;
using tir::Stmt;

class SiteWalk {
 public:
  explicit SiteWalk(const arith::Facts& facts) : facts_(facts) {}

  StoreSites run(Stmt body) {
    walk(body);
    return std::move(found_);
  }

 private:
  Expr now(Expr e) const { return arith::substitute(e, values_); }

  void walk(Stmt s) {
    if (!s) return;
    tir::visit(
        s, [&](const tir::Seq&) { walk_children(s); }, [&](const tir::For& loop) { in_loop(loop); },
        [&](const tir::While&) { decides(s); }, [&](const tir::If&) { decides(s); },
        [&](const tir::Break&) { complete(); }, [&](const tir::Continue&) { complete(); },
        [&](const tir::Let& let) {
          values_[let.var] = now(let.value);
          walk(let.body);
        },
        [&](const tir::Alloc& alloc) {
          loops_around_[alloc.buffer] = loops_.size();
          walk(alloc.body);
        },
        [&](const tir::View& view) {
          found_.whole.insert(view.buffer);
          if (view.base != nullptr) found_.whole.insert(view.base);
          walk(view.body);
        },
        [&](const tir::Store& store) { note(store); }, [&](const tir::Block& block) { in_block(block); },
        [&](const tir::Guard&) { complete(), decides(s); },
        [&](const tir::Invoke& call) {
          complete(), decides(s);
          for (const tir::Argument& argument : call.args)
            if (const auto* buffer = std::get_if<tir::BufferRef>(&argument)) found_.whole.insert(*buffer);
        });
  }

  void walk_children(Stmt s) {
    for (const Stmt inner : tir::children(s)) walk(inner);
  }

  /// Notes that whether or how often something runs depends on the loads of `s`.
  void decides(Stmt s) {
    for (const Expr e : tir::expressions(s)) decides(e);
    walk_children(s);
  }
  void decides(Expr e) {
    if (!e) return;
    arith::for_each_node(now(e), [&](Expr node) {
      if (const auto* load = node.as<arith::Load>()) found_.whole.insert(load->buffer);
    });
  }

  /// Notes that no iteration of the loops here can be left out.
  void complete() {
    for (const tir::For* loop : loops_) found_.complete.insert(loop->id);
  }

  void in_loop(const tir::For& loop) {
    decides(loop.min), decides(loop.extent);
    const Expr first = now(loop.min);
    const arith::Range range{arith::bounds(first, facts_).lower,
                             arith::bounds(first + now(loop.extent) - 1, facts_).upper};
    if (range.lower > range.upper) return;  // it has no iterations
    const arith::Facts outside = facts_;
    facts_.bound(loop.var, range);
    loops_.push_back(&loop);
    walk(loop.body);
    loops_.pop_back();
    facts_ = outside;
  }

  void in_block(const tir::Block& block) {
    for (const tir::IterVar& axis : block.iters) values_[axis.var] = now(axis.binding);
    decides(block.predicate);
    walk(block.init), walk(block.body);
  }

  void note(const tir::Store& store) {
    StoreSite site;
    site.buffer = store.buffer, site.loops = loops_, site.facts = facts_;
    auto add_loads = [&](Expr e) {
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) site.loads.emplace_back(load->buffer, load->indices);
      });
    };
    for (const Expr index : store.indices) {
      site.at.push_back(arith::simplify(now(index), facts_));
      add_loads(now(index));
    }
    add_loads(now(store.value));
    for (auto& [buffer, indices] : site.loads)
      for (Expr& index : indices) index = arith::simplify(index, facts_);
    const auto around = loops_around_.find(store.buffer);
    site.loops_around_buffer = around == loops_around_.end() ? 0 : around->second;
    found_.stores.push_back(std::move(site));
  }

  arith::Facts facts_;
  arith::Substitution values_;  ///< of the axes of blocks, and of the variables of lets
  std::vector<const tir::For*> loops_;
  std::map<tir::BufferRef, size_t> loops_around_;  ///< how many loops are around an allocation
  StoreSites found_;
};

}  // namespace

StoreSites store_sites(const tir::PrimFunc& kernel, const arith::Facts& facts) {
  return SiteWalk(facts).run(kernel.body);
}

}  // namespace relaxc::proof
