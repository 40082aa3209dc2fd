// profile.cpp: derives kernels and memory from the lowered program.
//
// Everything is read from the input of the backends, not from what passes say they did: a kernel's work is counted in
// its loops, the arena's offsets are those of the views around the calls. Only the extent and lifetime of tensors come
// from the program before memory was planned, when allocations still had a scope.
//
// Values that only the run knows (trip counts, data-dependent sizes) are replaced by typical numbers.
#include "compiler/api/observe/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/analysis/kernel_work.h"
#include "compiler/api/observe/sizes.h"
#include "compiler/tir/visit.h"

namespace relaxc::api {
namespace {

using analysis::Numbers;
using arith::Expr;
using tir::BufferRef;

BufferRef arena_of(const tir::PrimFunc& host) {
  return host.params[*host.host.arena].buffer;
}

struct Place {
  std::string pool;  ///< empty for the arena
  Expr offset;
};

/// Returns where views of the arena and the pools begin, by the id of the buffer that the view defines.
std::map<uint32_t, Place> places_in(const tir::PrimFunc& host, const std::vector<interface::Pool>& pools) {
  std::map<BufferRef, std::string> memories{{arena_of(host), ""}};  // never iterated
  size_t at = *host.host.arena;
  for (const interface::Pool& pool : pools) memories[host.params[++at].buffer] = pool.name;
  std::map<uint32_t, Place> places;
  arith::Substitution named;
  tir::for_each_stmt(host.body, [&](tir::Stmt s) {
    if (const auto* let = s.as<tir::Let>()) named[let->var] = let->value;
    const auto* view = s.as<tir::View>();
    auto memory = view == nullptr ? memories.end() : memories.find(view->base);
    if (memory == memories.end()) return;
    places.emplace(view->buffer->id, Place{memory->second, arith::substitute(view->byte_offset, named)});
  });
  return places;
}

/// What lowering calls a tensor whose value has no name.
constexpr std::string_view kNoName = "t";

class EntryWalk {
 public:
  EntryWalk(const relax::Module& module, const tir::PrimFunc& host, const std::vector<interface::Pool>& pools,
            tir::Stmt unplanned, Numbers numbers)
      : module_(module), numbers_(std::move(numbers)), places_(places_in(host, pools)) {
    walk(unplanned, 1);
  }

  std::vector<std::string> steps;
  std::map<std::string, KernelCost> kernels;

  std::vector<MemoryPiece> pieces() const {
    std::vector<MemoryPiece> all;
    for (const auto& [id, placed] : pieces_)
      if (placed.touched && placed.has_place) all.push_back(placed.piece);
    for (MemoryPiece& piece : all)
      if (piece.name.empty()) piece.name = kNoName;  // no kernel accesses it
    std::sort(all.begin(), all.end(), [](const MemoryPiece& a, const MemoryPiece& b) {
      return std::tie(a.first, a.pool, a.offset, a.name) < std::tie(b.first, b.pool, b.offset, b.name);
    });
    return all;
  }

 private:
  struct Loop {
    uint32_t begin;
    std::vector<uint32_t> touched;  ///< allocations from outside of the loop
  };
  struct Placed {
    MemoryPiece piece;
    size_t depth = 0;  ///< number of loops around the allocation
    bool touched = false, has_place = false;
  };
  struct Below {
    uint32_t piece;
    int64_t offset;
  };

  void walk(tir::Stmt s, double times) {
    while (s) {
      if (const auto* let = s.as<tir::Let>()) {
        touch_all(s);
        numbers_.let(let->var, let->value);
        s = let->body;
      } else if (const auto* view = s.as<tir::View>()) {
        if (auto base = below_.find(view->base == nullptr ? 0 : view->base->id); base != below_.end())
          make_visible(*view->buffer, base->second.piece, base->second.offset + numbers_.of(view->byte_offset));
        s = view->body;
      } else if (const auto* alloc = s.as<tir::Alloc>()) {
        if (alloc->buffer->scope == tir::Scope::kGlobal) enter(*alloc->buffer);
        s = alloc->body;
      } else if (const auto* seq = s.as<tir::Seq>()) {
        for (size_t i = 0; i + 1 < seq->body.size(); ++i) walk(seq->body[i], times);
        s = seq->body.empty() ? tir::Stmt() : seq->body.back();
      } else {
        return other(s, times);
      }
    }
  }

  void enter(const tir::Buffer& buffer) {
    Placed& placed = pieces_[buffer.id];
    if (buffer.name != kNoName) placed.piece.name = buffer.name;
    placed.piece.bytes = buffer.dtype.bytes();
    for (Expr dim : buffer.shape) placed.piece.bytes *= std::max<int64_t>(0, numbers_.of(dim));
    placed.depth = loops_.size();
    make_visible(buffer, buffer.id, 0);
  }

  void make_visible(const tir::Buffer& buffer, uint32_t piece, int64_t offset) {
    below_[buffer.id] = {piece, offset};
    auto planned = places_.find(buffer.id);
    if (planned == places_.end()) return;
    Placed& placed = pieces_.at(piece);
    placed.piece.pool = planned->second.pool;
    placed.piece.offset = numbers_.of(planned->second.offset) - offset;
    placed.has_place = true;
  }

  void other(tir::Stmt s, double times) {
    if (const auto* invoke = s.as<tir::Invoke>()) return call(*invoke, times);
    touch_all(s);
    const auto* loop = s.as<tir::For>();
    bool repeats = loop != nullptr || s.as<tir::While>() != nullptr;
    if (!repeats) {
      for (tir::Stmt child : tir::children(s)) walk(child, times);
      return;
    }
    if (loop != nullptr) numbers_.set(loop->var, numbers_.of(loop->min));
    double trips = loop == nullptr ? 1 : static_cast<double>(std::max<int64_t>(0, numbers_.of(loop->extent)));
    loops_.push_back({static_cast<uint32_t>(steps.size()), {}});
    for (tir::Stmt child : tir::children(s)) walk(child, times * trips);
    for (uint32_t id : loops_.back().touched) pieces_.at(id).piece.last = now();
    loops_.pop_back();
  }

  void call(const tir::Invoke& invoke, double times) {
    const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
    steps.push_back(invoke.callee);
    for (const tir::Argument& argument : invoke.args)
      if (const auto* buffer = std::get_if<BufferRef>(&argument)) touch(**buffer);
    if (callee == nullptr) return;
    if (callee->is_host()) size_frame(*callee, invoke);
    KernelCost& cost = kernels[invoke.callee];
    cost.name = invoke.callee;
    cost.calls += static_cast<int64_t>(times);
    analysis::Work work = work_of_call(*callee, invoke, numbers_);
    cost.flops += times * work.flops;
    cost.integer_ops += times * work.integer_ops;
    cost.bytes += times * work.bytes;
    cost.weight_bytes += times * work.weight_bytes;
    if (cost.sources.empty())
      for (Location origin : callee->origins) add_source(cost.sources, short_location(origin));
    for (const tir::Argument& argument : invoke.args)
      if (const auto* buffer = std::get_if<BufferRef>(&argument))
        if (auto at = below_.find((*buffer)->id); at != below_.end())
          describe(pieces_.at(at->second.piece).piece, cost);
  }

  /// Says of a tensor where its contents come from, if `kernel` is the first that accesses it.
  static void describe(MemoryPiece& piece, const KernelCost& kernel) {
    if (piece.name.empty()) piece.name = kernel.name;
    if (piece.source.empty()) piece.source = kernel.sources.empty() ? kernel.name : kernel.sources.back();
  }

  static void add_source(std::vector<std::string>& sources, const std::string& place) {
    if (!place.empty() && std::find(sources.begin(), sources.end(), place) == sources.end()) sources.push_back(place);
  }

  /// Sets the size of a called function's frame, which the callee's plan determines.
  void size_frame(const tir::PrimFunc& callee, const tir::Invoke& invoke) {
    const auto* frame = std::get_if<BufferRef>(&invoke.args.at(*callee.host.arena));
    auto at = frame == nullptr ? below_.end() : below_.find((*frame)->id);
    if (at == below_.end()) return;
    pieces_.at(at->second.piece).piece.bytes = inside_call(callee, invoke, numbers_).of(arena_of(callee)->shape[0]);
  }

  void touch_all(tir::Stmt s) {
    if (const auto* store = s.as<tir::Store>()) touch(*store->buffer);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) touch(*load->buffer);
      });
  }

  void touch(const tir::Buffer& buffer) {
    auto at = below_.find(buffer.id);
    if (at == below_.end()) return;
    Placed& placed = pieces_.at(at->second.piece);
    uint32_t begin = now();
    if (placed.depth < loops_.size()) {
      Loop& outermost = loops_[placed.depth];
      begin = std::min(outermost.begin, now());
      outermost.touched.push_back(at->second.piece);
    }
    placed.piece.first = placed.touched ? std::min(placed.piece.first, begin) : begin;
    placed.piece.last = placed.touched ? std::max(placed.piece.last, now()) : now();
    placed.touched = true;
  }

  uint32_t now() const { return steps.empty() ? 0 : static_cast<uint32_t>(steps.size() - 1); }

  const relax::Module& module_;
  Numbers numbers_;
  std::map<uint32_t, Place> places_;
  std::map<uint32_t, Placed> pieces_;  ///< by the id of the allocation's buffer
  std::map<uint32_t, Below> below_;    ///< allocations in scope and views of them
  std::vector<Loop> loops_;
};

/// Whether `next` is written in place of `piece` by the last step that reads `piece`.
bool takes_over(const MemoryPiece& next, const MemoryPiece& piece) {
  return &next != &piece && next.first == piece.last && next.pool == piece.pool && next.offset == piece.offset &&
         next.bytes == piece.bytes;
}

/// Returns the largest sum of bytes of pieces in the arena that are live in the same step.
int64_t largest_sum(const std::vector<MemoryPiece>& pieces, size_t steps) {
  std::vector<int64_t> change(steps + 2);
  for (const MemoryPiece& piece : pieces) {
    if (!piece.pool.empty()) continue;
    bool ends_early =
        std::any_of(pieces.begin(), pieces.end(), [&](const MemoryPiece& next) { return takes_over(next, piece); });
    change[piece.first] += piece.bytes;
    change[piece.last + (ends_early && piece.first < piece.last ? 0 : 1)] -= piece.bytes;
  }
  int64_t now = 0, most = 0;
  for (int64_t step : change) most = std::max(most, now += step);
  return most;
}

/// Returns how many products of bytes an instruction adds to each 32-bit sum.
double products_a_lane(DotProduct kind) {
  switch (kind) {
    case DotProduct::kNone:
      return 1;
    case DotProduct::kPairs:
      return 2;
    case DotProduct::kSameSign:
    case DotProduct::kMixed:
      return 4;
  }
  RELAXC_UNREACHABLE("no such dot product");
}

void estimate_times(std::vector<KernelCost>& kernels, const Target& target) {
  const Limits limits = limits_of(target);
  double total = 0;
  for (KernelCost& kernel : kernels)
    total += kernel.seconds = std::max(limits.arithmetic_seconds(kernel), kernel.bytes / limits.memory);
  for (KernelCost& kernel : kernels) kernel.share = total == 0 ? 0 : kernel.seconds / total;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelCost& a, const KernelCost& b) { return a.seconds > b.seconds; });
}

}  // namespace

UnplannedBodies unplanned_bodies(const relax::Module& module) {
  UnplannedBodies bodies;
  for (const tir::PrimFunc* function : module.prim_funcs())
    if (function->is_host()) bodies[function->name] = function->body;
  return bodies;
}

double Limits::arithmetic_seconds(const KernelCost& cost) const {
  return cost.flops / flops + cost.integer_ops / integer_ops;
}

Limits limits_of(const Target& target, const CoreSpeed& speed) {
  double lanes = std::max(1, target.vector_bits / 32);
  // The peak rate of multiply-adds. The bytes of L2 per second are taken to be the same number.
  double flops = speed.clock * 2 * target.fma_per_cycle * lanes;
  return {flops, flops * products_a_lane(target.dots.of(target.vector_bits)), flops, speed.memory, target.l2_bytes};
}

EntryProfile profile_entry_at(const relax::Module& module, const UnplannedBodies& unplanned,
                              const interface::Entry& entry, const Target& target,
                              const std::vector<int64_t>& symbols) {
  const tir::PrimFunc& host = *module.find_prim_func(entry.call);
  EntryProfile profile;
  profile.name = entry.name;
  Numbers numbers(symbols.empty() ? 1 : *std::max_element(symbols.begin(), symbols.end()));
  size_t k = 0;
  for (const tir::Param& param : host.params)
    if (param.buffer == nullptr) {
      numbers.set(param.var, profile.symbols[entry.symbols.at(k).name] = symbols.at(k));
      ++k;
    }
  profile.arena_bytes = numbers.of(arena_of(host)->shape[0]);
  profile.pools = entry.pools;
  EntryWalk walk(module, host, entry.pools, unplanned.at(entry.call), std::move(numbers));
  profile.steps = std::move(walk.steps);
  profile.pieces = walk.pieces();
  profile.bound_bytes = largest_sum(profile.pieces, profile.steps.size());
  for (auto& [name, cost] : walk.kernels) profile.kernels.push_back(std::move(cost));
  estimate_times(profile.kernels, target);
  return profile;
}

std::vector<EntryProfile> profile_entry(const relax::Module& module, const UnplannedBodies& unplanned,
                                        const interface::Entry& entry, const Target& target) {
  std::vector<EntryProfile> profiles;
  std::set<std::vector<int64_t>> seen;
  for (int64_t size : {1, 16, 128, 512}) {
    std::vector<int64_t> symbols = admissible_sizes(module, entry, size);
    if (seen.insert(symbols).second) profiles.push_back(profile_entry_at(module, unplanned, entry, target, symbols));
  }
  return profiles;
}

std::string short_location(Location location) {
  if (location == nullptr) return {};
  if (const auto* node = std::get_if<NodeOrigin>(location)) return fmt::format("{} ({})", node->node, node->op);
  if (const auto* span = std::get_if<TextSpan>(location)) return fmt::format("line {}", line_column(*span).line);
  return {};
}

}  // namespace relaxc::api
