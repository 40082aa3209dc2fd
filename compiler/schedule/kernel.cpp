// kernel.cpp: a kernel's nests, one group after the other.
//
// A kernel as fusion leaves it is a sequence of nests inside allocations. A reduction takes with it the nest that fills
// in its neutral element (the tile begins with it anyway) and the consumers that follow over the same axes; results
// that nobody else reads then never reach memory.
#include "compiler/schedule/kernel.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/access.h"
#include "compiler/schedule/row_blocks.h"
#include "compiler/schedule/rule_parts.h"

namespace relaxc::schedule {

using analysis::Nest;

namespace {

bool is_reduction(const Nest& nest) {
  if (nest.block == nullptr || !nest.block->init) return false;
  const auto* init = nest.block->init.as<tir::Store>();
  bool reduces = std::any_of(nest.block->iters.begin(), nest.block->iters.end(),
                             [](const tir::IterVar& i) { return i.iter_kind == tir::IterKind::kReduce; });
  return reduces && init != nullptr && init->buffer == nest.store->buffer && init->indices == nest.store->indices;
}

std::vector<const tir::IterVar*> spatial_axes(const Nest& nest) {
  std::vector<const tir::IterVar*> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(&iter);
  return axes;
}

bool writes_own_axes(const Nest& nest) {
  auto axes = spatial_axes(nest);
  return std::equal(axes.begin(), axes.end(), nest.store->indices.begin(), nest.store->indices.end(),
                    [](const tir::IterVar* axis, Expr index) { return index == axis->var; });
}

/// The nest writes the value with which the reduction begins, everywhere.
bool fills_for(const Nest& fill, const Nest& reduction) {
  if (fill.block == nullptr || fill.block->init || !writes_own_axes(fill) || !writes_own_axes(reduction)) return false;
  const auto& init = *reduction.block->init.as<tir::Store>();
  return fill.store->buffer == init.buffer && fill.store->value == init.value;
}

class Kernel {
 public:
  Kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target, const arith::Facts& facts,
         const std::vector<BufferRef>& constants, std::vector<PackedParam>& packed, const Freedom& freedom)
      : context_(context),
        build_(context),
        kernel_(kernel),
        target_(target),
        facts_(facts),
        constants_(constants),
        packed_(packed),
        choices_(kernel.attrs.count("choices") != 0 ? kernel.attrs.at("choices") : ""),
        freedom_(freedom) {}

  bool run() {
    Stmt body = kernel_.body;
    while (const auto* alloc = body.as<tir::Alloc>()) {
      temporaries_.push_back(alloc->buffer);
      body = alloc->body;
    }
    if (!body) return false;
    parts_ = body.as<tir::Seq>() ? body.as<tir::Seq>()->body : std::vector<Stmt>{body};
    Stmt s = schedule_all();
    if (trace_.empty()) return false;
    s = without_unused_views(s);
    for (size_t i = temporaries_.size(); i-- > 0;)
      if (is_used(s, temporaries_[i])) s = build_.alloc(temporaries_[i], s);
    kernel_.body = s;
    replace_params();
    kernel_.attrs["schedule"] = one_line(trace_);
    if (auto asked = kernel_.attrs.find("choices"); asked != kernel_.attrs.end()) asked->second = choices_.text();
    return true;
  }

 private:
  /// All nests, each group of them by the rule that fits; in blocks of rows where that is to be.
  Stmt schedule_all() {
    std::vector<RowBlocks> blocks = cut_into_row_blocks(context_, parts_, temporaries_, target_, facts_);
    if (blocks.empty()) return schedule_parallel(context_, schedule_parts(parts_), target_, trace_);
    in_blocks_ = true;
    const std::vector<BufferRef> whole = std::exchange(temporaries_, {});  // what comes before, all blocks read
    std::vector<Stmt> made{schedule_parallel(context_, schedule_parts(blocks.front().before), target_, trace_)};
    for (RowBlocks& one : blocks) {
      temporaries_ = one.temporaries;
      Stmt s = schedule_parts(one.parts);
      std::erase_if(one.temporaries, [&](BufferRef own) { return !is_used(s, own); });
      made.push_back(one.around(build_, s, target_, trace_));
    }
    temporaries_ = whole;
    return build_.seq(std::move(made));
  }

  Stmt schedule_parts(std::vector<Stmt> parts) {
    parts_ = std::move(parts);
    for (size_t i = 0; i < parts_.size();) i = schedule_part(i);
    return build_.seq(merge_rows(context_, std::exchange(done_, {}), target_, trace_));
  }

  /// Gives the part to go on with.
  size_t schedule_part(size_t i) {
    Nest nest = analysis::as_nest(parts_[i]);
    if (fills_next(i)) return i + 1;  // schedule_group sees to it
    if (is_reduction(nest) && is_normal(nest)) return schedule_group(i, nest);
    add_spatial(parts_[i]);
    return i + 1;
  }

  void add_spatial(Stmt s) {
    Stmt better = schedule_spatial(context_, s, target_, facts_, trace_);
    done_.push_back(better ? better : s);
  }

  /// Part `i` only fills in the neutral element of the reduction behind it.
  bool fills_next(size_t i) const {
    if (i + 1 >= parts_.size()) return false;
    Nest next = analysis::as_nest(parts_[i + 1]);
    return is_reduction(next) && is_normal(next) && fills_for(analysis::as_nest(parts_[i]), next);
  }

  size_t schedule_group(size_t i, const Nest& nest) {
    ReductionGroup group{parts_[i], {}, {}, {}, kernel_.is_private && !in_blocks_};
    std::vector<BufferRef> results{nest.store->buffer};
    size_t next = i + 1;
    for (; next < parts_.size() && joins(analysis::as_nest(parts_[next]), nest, results); ++next) {
      if (fills_next(next)) break;
      group.consumers.push_back(parts_[next]);
      results.push_back(analysis::as_nest(parts_[next]).store->buffer);
    }
    for (BufferRef result : results) {
      bool temporary = std::find(temporaries_.begin(), temporaries_.end(), result) != temporaries_.end();
      bool read = false;
      for (size_t later = next; later < parts_.size(); ++later) read |= is_used(parts_[later], result);
      if (temporary && !read) group.unseen.push_back(result);
    }
    group.constants = own_constants(i, next);
    const Choices before = choices_;
    Stmt better = schedule_winograd(context_, group, target_, facts_, freedom_.winograd, trace_, packed_, choices_);
    if (!better) better = schedule_pool(context_, group, target_, facts_, trace_);
    if (!better) choices_ = before;
    if (!better) better = schedule_reduction(context_, group, target_, facts_, trace_, packed_, choices_);
    if (!better) choices_ = before;
    if (!better && !group.consumers.empty()) {  // at least each by itself
      next = i + 1;
      group.consumers.clear(), group.unseen.clear();
      group.constants = own_constants(i, next);
      better = schedule_reduction(context_, group, target_, facts_, trace_, packed_, choices_);
      if (!better) choices_ = before;
    }
    if (!better && i > 0 && fills_next(i - 1)) add_spatial(parts_[i - 1]);
    done_.push_back(better ? better : parts_[i]);
    return next;
  }

  /// Packed constants take the places of the parameters they were.
  void replace_params() {
    for (const PackedParam& one : packed_)
      for (tir::Param& param : kernel_.params)
        if (param.buffer == one.param) param.buffer = one.packed;
  }

  /// Of buffers that have become locals, or packed.
  Stmt without_unused_views(Stmt s) {
    tir::Rewriter rewriter;
    rewriter.on_stmt = [](Stmt inner) {
      const auto* view = inner.as<tir::View>();
      return view != nullptr && !is_used(view->body, view->buffer) ? view->body : inner;
    };
    return tir::rewrite(context_, s, rewriter);
  }

  /// Constants that the parts from `begin` to before `end` read and no others do.
  std::vector<BufferRef> own_constants(size_t begin, size_t end) const {
    std::vector<BufferRef> own;
    if (in_blocks_) return own;  // several copies of a nest read them
    for (BufferRef constant : constants_) {
      bool elsewhere = false;
      for (size_t i = 0; i < parts_.size(); ++i)
        if (i < begin || i >= end) elsewhere |= is_used(parts_[i], constant);
      if (!elsewhere) own.push_back(constant);
    }
    return own;
  }

  /// A consumer of the group over the axes of its reduction.
  bool joins(const Nest& nest, const Nest& reduction, const std::vector<BufferRef>& results) const {
    if (nest.block == nullptr || nest.block->init || !is_normal(nest) || !writes_own_axes(nest)) return false;
    if (!writes_own_axes(reduction)) return false;
    auto own = spatial_axes(nest), axes = spatial_axes(reduction);
    if (own.size() != nest.loops.size() || own.size() != axes.size() || own.empty()) return false;
    for (size_t a = 0; a < own.size(); ++a) {
      if (!arith::prove_equal(own[a]->extent, axes[a]->extent)) return false;
      if (!(own[a]->binding == nest.loops[a]->var)) return false;
    }
    bool fresh = std::find(results.begin(), results.end(), nest.store->buffer) == results.end();
    for (BufferRef result : results) fresh &= analysis::reads_at_own_index(nest, result);
    // What the reduction reads must not be overwritten while it runs.
    return fresh && !is_used(Stmt(reduction.block), nest.store->buffer);
  }

  static std::string one_line(std::string text) {
    for (size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, at + 1 < text.size() ? "; " : "");
    return text;
  }

  static bool is_used(Stmt s, BufferRef buffer) {
    bool used = false;
    for_each_access(s, [&](const Access& access) { used |= access.buffer == buffer; });
    tir::for_each_stmt(s, [&](Stmt inner) {
      if (const auto* view = inner.as<tir::View>()) used |= view->base == buffer;
      if (const auto* invoke = inner.as<tir::Invoke>())
        for (const tir::Argument& arg : invoke->args)
          if (const auto* passed = std::get_if<BufferRef>(&arg)) used |= *passed == buffer;
    });
    return used;
  }

  arith::Context& context_;
  tir::Builder build_;
  tir::PrimFunc& kernel_;
  const Target& target_;
  const arith::Facts& facts_;
  const std::vector<BufferRef>& constants_;
  std::vector<PackedParam>& packed_;
  std::vector<BufferRef> temporaries_;
  std::vector<Stmt> parts_, done_;
  bool in_blocks_ = false;  ///< the kernel is cut into blocks of rows, whose memory does not depend on the block
  std::string trace_;
  Choices choices_;
  const Freedom& freedom_;
};

}  // namespace

bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target,
                     const std::vector<BufferRef>& constants, std::vector<PackedParam>& packed,
                     const arith::Facts& facts, const Freedom& freedom) {
  return Kernel(context, kernel, target, facts, constants, packed, freedom).run();
}

bool schedule_kernel(arith::Context& context, tir::PrimFunc& kernel, const Target& target) {
  std::vector<PackedParam> none;
  return schedule_kernel(context, kernel, target, {}, none);
}

}  // namespace relaxc::schedule
