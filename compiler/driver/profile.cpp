// profile.cpp: reading kernels and memory off the lowered program.
//
// Everything is taken from what the backends are given, not from what passes say they did: the arena's pieces are the
// views of the arena that stand around the calls, a kernel's work is counted in its loops. So the numbers are those of
// the object that is written, and no pass has to keep books.
//
// A piece that is touched inside a loop and outside of it lives as long as the loop. What only the run knows (trip
// counts, sizes that data decide) is taken as a typical number.
#include "compiler/driver/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/driver/kernel_work.h"
#include "compiler/tir/visit.h"

namespace relaxc::driver {
namespace {

using arith::Expr;
using tir::BufferRef;

class EntryWalk {
 public:
  EntryWalk(const relax::Module& module, const tir::PrimFunc& host, Numbers numbers)
      : module_(module), numbers_(std::move(numbers)) {
    arena_ = host.params[std::stoul(host.attrs.at("arena"))].buffer;
    walk(host.body, 1);
  }

  int64_t arena_bytes() { return numbers_.of(arena_->shape[0]); }
  std::vector<std::string> steps;
  std::map<std::string, KernelCost> kernels;

  std::vector<MemoryPiece> pieces() const {
    std::vector<MemoryPiece> all;
    for (const auto& [key, piece] : pieces_) all.push_back(piece.piece);
    std::sort(all.begin(), all.end(), [](const MemoryPiece& a, const MemoryPiece& b) {
      return std::tie(a.first, a.offset, a.name) < std::tie(b.first, b.offset, b.name);
    });
    return all;
  }

 private:
  struct Loop {
    uint32_t begin;
    std::set<uint32_t> inside;  ///< buffers touched in it
  };
  struct Placed {
    MemoryPiece piece;
    bool touched = false;
  };

  void walk(tir::Stmt s, double times) {
    while (s) {
      if (const auto* let = s.as<tir::Let>()) {
        numbers_.let(let->var, let->value);
        s = let->body;
      } else if (const auto* view = s.as<tir::View>()) {
        place(*view);
        s = view->body;
      } else if (const auto* alloc = s.as<tir::Alloc>()) {
        s = alloc->body;
      } else if (const auto* seq = s.as<tir::Seq>()) {
        for (tir::Stmt inner : seq->body) walk(inner, times);
        return;
      } else {
        return other(s, times);
      }
    }
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
    loops_.push_back({now(), {}});
    for (tir::Stmt child : tir::children(s)) walk(child, times * trips);
    Loop ended = std::move(loops_.back());
    loops_.pop_back();
    close(ended);
  }

  /// What was touched before the loop, or is touched again behind it, lives through all of its iterations; the second
  /// is noticed when it happens.
  void close(const Loop& loop) {
    for (uint32_t id : loop.inside) {
      MemoryPiece& piece = pieces_.at(id).piece;
      if (piece.first < loop.begin) piece.last = std::max(piece.last, now());
      through_[id] = loop.begin;
      if (!loops_.empty()) loops_.back().inside.insert(id);
    }
  }

  void call(const tir::Invoke& invoke, double times) {
    const tir::PrimFunc* callee = module_.find_prim_func(invoke.callee);
    steps.push_back(invoke.callee);
    for (const tir::Argument& argument : invoke.args)
      if (const auto* buffer = std::get_if<BufferRef>(&argument)) touch(*buffer);
    if (callee == nullptr) return;
    KernelCost& cost = kernels[invoke.callee];
    cost.name = invoke.callee;
    cost.calls += static_cast<int64_t>(times);
    Work work = work_of_call(*callee, invoke, numbers_);
    cost.flops += times * work.flops;
    cost.bytes += times * work.bytes;
    cost.weight_bytes += times * work.weight_bytes;
    if (cost.sources.empty())
      for (Location origin : callee->origins)
        if (std::string text = short_place(origin); !text.empty()) cost.sources.push_back(text);
    for (const tir::Argument& argument : invoke.args)
      if (const auto* buffer = std::get_if<BufferRef>(&argument))
        if (auto piece = pieces_.find((*buffer)->id); piece != pieces_.end() && piece->second.piece.source.empty())
          piece->second.piece.source = cost.sources.empty() ? invoke.callee : cost.sources.back();
  }

  void place(const tir::View& view) {
    if (view.base == arena_) {
      Placed& placed = pieces_[view.buffer->id];
      if (!placed.piece.name.empty()) return;
      int64_t bytes = view.buffer->dtype.bytes();
      for (Expr dim : view.buffer->shape) bytes *= numbers_.of(dim);
      placed.piece = {view.buffer->name, "", numbers_.of(view.byte_offset), bytes, now(), now()};
      if (placed.piece.name.empty()) placed.piece.name = "t";
    } else if (pieces_.count(view.base->id) != 0) {
      below_[view.buffer->id] = view.base->id;
    }
  }

  void touch_all(tir::Stmt s) {
    if (const auto* store = s.as<tir::Store>()) touch(store->buffer);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) touch(load->buffer);
      });
  }

  void touch(BufferRef buffer) {
    uint32_t id = buffer->id;
    for (auto below = below_.find(id); below != below_.end(); below = below_.find(id)) id = below->second;
    auto found = pieces_.find(id);
    if (found == pieces_.end()) return;
    MemoryPiece& piece = found->second.piece;
    if (!found->second.touched) piece.first = now();
    found->second.touched = true;
    if (auto through = through_.find(id); through != through_.end() && loops_.empty())
      piece.first = std::min(piece.first, through->second);
    piece.last = std::max(piece.last, now());
    if (!loops_.empty()) loops_.back().inside.insert(id);
  }

  uint32_t now() const { return steps.empty() ? 0 : static_cast<uint32_t>(steps.size() - 1); }

  const relax::Module& module_;
  Numbers numbers_;
  BufferRef arena_ = nullptr;
  std::map<uint32_t, Placed> pieces_;     ///< by the buffer's id
  std::map<uint32_t, uint32_t> below_;    ///< views of pieces
  std::map<uint32_t, uint32_t> through_;  ///< where the last loop began that touched a piece
  std::vector<Loop> loops_;
};

int64_t largest_sum(const std::vector<MemoryPiece>& pieces, size_t steps) {
  std::vector<int64_t> change(steps + 2);
  for (const MemoryPiece& piece : pieces) {
    change[piece.first] += piece.bytes;
    change[piece.last + 1] -= piece.bytes;
  }
  int64_t now = 0, most = 0;
  for (int64_t step : change) most = std::max(most, now += step);
  return most;
}

void estimate_times(std::vector<KernelCost>& kernels, const Target& target) {
  constexpr double kClock = 2.5e9, kMemory = 1e10;  // a desktop core; only shares are meant to be read
  double flops_a_second = kClock * 4 * std::max(1, target.vector_bits / 32), total = 0;
  for (KernelCost& kernel : kernels)
    total += kernel.seconds = std::max(kernel.flops / flops_a_second, kernel.bytes / kMemory);
  for (KernelCost& kernel : kernels) kernel.share = total == 0 ? 0 : kernel.seconds / total;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelCost& a, const KernelCost& b) { return a.seconds > b.seconds; });
}

/// The admissible value next to `wanted`.
int64_t admissible(const interface::Symbol& symbol, int64_t wanted) {
  int64_t value = std::clamp(wanted, symbol.lower, symbol.upper);
  int64_t up = (value + symbol.multiple_of - 1) / symbol.multiple_of * symbol.multiple_of;
  return up <= symbol.upper ? up : value / symbol.multiple_of * symbol.multiple_of;
}

}  // namespace

std::vector<EntryProfile> profile_entry(const relax::Module& module, const interface::Entry& entry,
                                        const Target& target) {
  const tir::PrimFunc& host = *module.find_prim_func(entry.call);
  std::vector<EntryProfile> profiles;
  std::set<std::map<std::string, int64_t>> seen;
  for (int64_t size : {1, 16, 128, 512}) {
    EntryProfile profile;
    profile.name = entry.name;
    Numbers numbers(size);
    size_t k = 0;
    for (const tir::Param& param : host.params) {
      if (param.buffer != nullptr) continue;
      const interface::Symbol& symbol = entry.symbols.at(k++);
      numbers.set(param.var, profile.symbols[symbol.name] = admissible(symbol, size));
    }
    if (!seen.insert(profile.symbols).second) continue;
    EntryWalk walk(module, host, std::move(numbers));
    profile.arena_bytes = walk.arena_bytes();
    profile.steps = std::move(walk.steps);
    profile.pieces = walk.pieces();
    profile.bound_bytes = largest_sum(profile.pieces, profile.steps.size());
    for (auto& [name, cost] : walk.kernels) profile.kernels.push_back(std::move(cost));
    estimate_times(profile.kernels, target);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

std::string short_place(Location location) {
  if (location == nullptr) return {};
  if (const auto* node = std::get_if<NodeOrigin>(location)) return fmt::format("{} ({})", node->node, node->op);
  if (const auto* span = std::get_if<TextSpan>(location)) return fmt::format("line {}", line_column(*span).line);
  return {};
}

}  // namespace relaxc::driver
