// hoist_scratch.cpp: makes temporaries of kernels parameters, so that one plan places all memory.
//
// A kernel that stores an intermediate allocates it in its body. No object allocates, and a kernel does not know the
// arena; so its caller reserves the memory and passes it like a result that is not read. A few bytes of known size stay
// in the kernel as local memory (registers, or the stack).
//
// An allocation inside a parallel loop belongs to one iteration: memory is reserved for every iteration, so that no two
// tasks share any, whatever their number.
//
// Temporaries of different parts of a kernel (whole blocks of rows, then the remaining rows) are not needed at one
// time, which the caller cannot see. So they share a parameter if one is proved to be at least as large as the other.
// Temporaries needed at one time stay apart: compiled loops rely on parameters that do not overlap.
//
// Scratch that only a loop over a symbol uses (the images of a batch) is not needed if the symbol is 0. Its size is 0
// then, since planning compares sizes for all values of the symbols: such scratch fits where one image fits.
//
// A prim func that the outside may call has temporaries of up to 64 KiB in its frame. Where it needs more, or sizes are
// not constant, they are scratch like a private one's, and lower_functions makes the function that takes them from the
// arena.
#include <algorithm>
#include <map>

#include "compiler/plan/lifetime.h"
#include "compiler/plan/storage.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

constexpr int64_t kLocalBytes = 256;  ///< largest stack allocation of a private kernel, in bytes: a few cache lines
using plan::kAlignment;
constexpr int64_t kPublicBytes = 1 << 16;  ///< the same for a public prim func, in bytes

class Hoist {
 public:
  Hoist(tir::PrimFunc& kernel, arith::Context& scalars) : kernel_(kernel), scalars_(scalars) {}

  Changed run() {
    for (arith::Var symbol : kernel_.symbols) facts_.bound(symbol, arith::Range::at_least(0));
    find_parallel(kernel_.body);
    find_loops(kernel_.body, nullptr);
    tir::for_each_stmt(kernel_.body, [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc != nullptr && alloc->buffer->scope == tir::Scope::kGlobal) choose(*alloc->buffer, alloc->buffer);
    });
    if (local_.empty() && temporaries_.empty()) return Changed::kNo;
    take_turns();
    rewrite();
    add_parameters();
    return Changed::kYes;
  }

 private:
  void choose(const tir::Buffer& buffer, BufferRef ref) {
    const int64_t* bytes = tir::byte_size(scalars_, buffer).constant();
    int64_t most = kernel_.is_private ? kLocalBytes : kPublicBytes;
    if (bytes != nullptr && *bytes <= most) {
      tir::Buffer local = buffer;
      local.scope = tir::Scope::kLocal;
      if (*bytes == 0)  // one dim is 0, so the others may be: a local needs constant dims
        for (Expr& dim : local.shape)
          if (dim.constant() == nullptr) dim = scalars_.index(0);
      local_[ref] = scalars_.arena().make<tir::Buffer>(std::move(local));
      return;
    }
    Temporary temporary{ref, tir::byte_size(scalars_, buffer), {}, nullptr, {ref, 0, UINT32_MAX}};
    if (auto task = tasks_.find(ref); task != tasks_.end()) {
      Expr bytes_of_one = arith::ceildiv(temporary.bytes, kAlignment) * kAlignment;
      temporary.bytes = bytes_of_one * task->second->extent;
      temporary.loop = task->second;
      temporary.offset = (task->second->var - task->second->min) * bytes_of_one;
    }
    for (arith::Var var : arith::free_vars(temporary.bytes))
      RELAXC_CHECK(is_given(var), "scratch '" + buffer.name + "' of " + kernel_.name + " depends on a loop");
    temporaries_.push_back(temporary);
  }

  /// An allocation that becomes memory of the caller.
  struct Temporary {
    BufferRef buffer = nullptr;
    Expr bytes;                      ///< in bytes; in a parallel loop, the sum over its iterations
    Expr offset;                     ///< byte offset of an iteration's part; null outside of parallel loops
    const tir::For* loop = nullptr;  ///< the parallel loop around it
    plan::Lifetime life;

    /// Returns whether both may hold data at one time: iterations of a parallel loop run in any order.
    bool meets(const Temporary& other) const {
      if (loop != nullptr && loop == other.loop) return true;
      return life.first <= other.life.last && other.life.first <= life.last;
    }
  };

  /// A scratch parameter and the allocations that share its memory at different times, the largest first.
  struct Room {
    std::vector<const Temporary*> members;
    BufferRef parameter = nullptr;
  };

  void take_turns() {
    std::map<BufferRef, plan::Lifetime> lives;
    for (const plan::Lifetime& life : plan::lifetimes(kernel_.body)) lives[life.buffer] = life;
    std::vector<const Temporary*> largest_first;
    for (Temporary& temporary : temporaries_) {
      if (auto life = lives.find(temporary.buffer); life != lives.end()) temporary.life = life->second;
      largest_first.push_back(&temporary);
    }
    auto typical = [&](const Temporary* temporary) {
      auto value_of = [&](arith::Var var) { return plan::typical(facts_, var); };
      return arith::evaluate(temporary->bytes, value_of).value_or(INT64_MAX);
    };
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](const Temporary* a, const Temporary* b) { return typical(a) > typical(b); });
    for (const Temporary* temporary : largest_first) {
      auto room = std::find_if(rooms_.begin(), rooms_.end(), [&](const Room& candidate) {
        return std::none_of(candidate.members.begin(), candidate.members.end(),
                            [&](const Temporary* member) { return member->meets(*temporary); }) &&
               arith::prove_le(temporary->bytes, candidate.members[0]->bytes, facts_);
      });
      if (room == rooms_.end()) room = rooms_.insert(rooms_.end(), Room{});
      room->members.push_back(temporary);
    }
    for (Room& room : rooms_) room.parameter = parameter_of(room);
  }

  /// Returns the iterations of the loops that need the memory of `room`; null if a member is not in one loop alone.
  Expr iterations(const Room& room) const {
    std::vector<Expr> extents;
    for (const Temporary* member : room.members) {
      auto loop = loops_.find(member->buffer);
      if (loop == loops_.end() || loop->second == nullptr) return {};
      Expr extent = loop->second->extent;
      if (std::find(extents.begin(), extents.end(), extent) == extents.end()) extents.push_back(extent);
    }
    Expr sum = extents[0];
    for (size_t i = 1; i < extents.size(); ++i) sum = sum + extents[i];
    return sum;
  }

  /// Returns the buffer of the only member, or a buffer of bytes of which each member becomes a view.
  BufferRef parameter_of(const Room& room) {
    const Temporary& largest = *room.members[0];
    Expr runs = largest.bytes.constant() != nullptr ? iterations(room) : Expr();
    if (room.members.size() == 1 && largest.loop == nullptr && !runs) return largest.buffer;
    Expr bytes = runs ? arith::min(runs, scalars_.index(1)) * largest.bytes : largest.bytes;
    uint32_t alignment = 0;
    for (const Temporary* member : room.members) {
      auto natural = static_cast<uint32_t>(member->buffer->dtype.bytes());
      alignment = std::max({alignment, natural, member->buffer->alignment});
      if (member->loop != nullptr) alignment = kAlignment;
    }
    std::string name = largest.buffer->name + (largest.loop != nullptr ? "_tasks" : "_room");
    return tir::Builder(scalars_).buffer(name, DType::u(8), {bytes}, tir::Scope::kGlobal, alignment);
  }

  /// Records which parallel loop each allocation is in.
  void find_parallel(Stmt body) {
    tir::for_each_stmt(body, [&](Stmt s) {
      const auto* loop = s.as<tir::For>();
      if (loop == nullptr || loop->loop_kind != tir::LoopKind::kParallel) return;
      tir::for_each_stmt(loop->body, [&](Stmt inner) {
        if (const auto* alloc = inner.as<tir::Alloc>()) tasks_.emplace(alloc->buffer, loop);
      });
    });
  }

  /// Records for each allocation the one loop over symbols that is around all its uses, if there is one.
  void find_loops(Stmt s, const tir::For* around) {
    while (s) {
      note_uses(s, around);
      Stmt rest;  // the body of a scope, which extends to the end of its suite
      if (const auto* alloc = s.as<tir::Alloc>()) rest = alloc->body;
      if (const auto* let = s.as<tir::Let>()) rest = let->body;
      if (const auto* view = s.as<tir::View>()) {
        seen_in_[view->buffer] = allocation_of(view->base);
        rest = view->body;
      }
      if (const auto* loop = s.as<tir::For>(); loop != nullptr && around == nullptr && is_over_symbols(loop->extent))
        around = loop;
      if (!rest)
        for (Stmt child : tir::children(s)) find_loops(child, around);
      s = rest;
    }
  }

  void note_uses(Stmt s, const tir::For* around) {
    auto note = [&](BufferRef buffer) {
      auto [first, fresh] = loops_.emplace(allocation_of(buffer), around);
      if (!fresh && first->second != around) first->second = nullptr;
    };
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) note(load->buffer);
      });
    if (const auto* store = s.as<tir::Store>()) note(store->buffer);
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) note(*buffer);
  }

  BufferRef allocation_of(BufferRef buffer) const {
    auto view = seen_in_.find(buffer);
    return view == seen_in_.end() ? buffer : view->second;
  }

  bool is_over_symbols(Expr extent) const {
    std::vector<arith::Var> vars = arith::free_vars(extent);
    return !vars.empty() && std::all_of(vars.begin(), vars.end(), [&](arith::Var var) { return is_given(var); }) &&
           arith::prove_le(scalars_.index(0), extent, facts_);
  }

  bool is_given(arith::Var var) const {
    bool param = std::any_of(kernel_.params.begin(), kernel_.params.end(),
                             [&](const tir::Param& p) { return p.buffer == nullptr && p.var == var; });
    return param || std::find(kernel_.symbols.begin(), kernel_.symbols.end(), var) != kernel_.symbols.end();
  }

  void rewrite() {
    tir::Rewriter rewriter;
    rewriter.on_buffer = [&](BufferRef b) { return local_.count(b) != 0 ? local_.at(b) : b; };
    rewriter.on_stmt = [&](Stmt s) {
      const auto* alloc = s.as<tir::Alloc>();
      if (alloc == nullptr) return s;
      for (const Room& room : rooms_)
        for (const Temporary* member : room.members) {
          if (member->buffer != alloc->buffer) continue;
          if (member->buffer == room.parameter) return alloc->body;
          Expr offset = member->offset ? member->offset : scalars_.index(0);
          return tir::Builder(scalars_).view(member->buffer, room.parameter, offset, alloc->body);
        }
      return s;
    };
    kernel_.body = tir::rewrite(scalars_, kernel_.body, rewriter);
  }

  /// Inserts the scratch parameters after the other buffers and before the scalars.
  void add_parameters() {
    if (rooms_.empty()) return;
    auto after = std::find_if(kernel_.params.rbegin(), kernel_.params.rend(),
                              [](const tir::Param& p) { return p.buffer != nullptr; });
    std::vector<tir::Param> scratch;
    for (const Room& room : rooms_) scratch.push_back({room.parameter, {}});
    kernel_.params.insert(after.base(), scratch.begin(), scratch.end());
    kernel_.memory.scratch = rooms_.size();
  }

  tir::PrimFunc& kernel_;
  arith::Context& scalars_;
  std::map<BufferRef, BufferRef> local_;        // the local buffer that replaces an allocation; looked up only
  arith::Facts facts_;                          ///< the facts that dims are not negative
  std::map<BufferRef, const tir::For*> tasks_;  // the parallel loop around an allocation; looked up only
  std::map<BufferRef, const tir::For*> loops_;  // the loop over symbols around its uses; looked up only
  std::map<BufferRef, BufferRef> seen_in_;      // the allocation that a view belongs to; looked up only
  std::vector<Temporary> temporaries_;
  std::vector<Room> rooms_;
};

}  // namespace

Result<Changed> hoist_scratch(relax::Module& module, PassContext&) {
  Changed changed = Changed::kNo;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    changed |= Hoist(*kernel, module.context()).run();
  }
  return changed;
}

}  // namespace relaxc
