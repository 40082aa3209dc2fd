// frame.cpp: plans the memory of a host function, and replaces its allocations by views.
#include "compiler/plan/frame.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/plan/donors.h"
#include "compiler/plan/lifetime.h"
#include "compiler/plan/pools.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc::plan {
namespace {

using tir::BufferRef;
using tir::Stmt;

/// Drops Allocs and Views, records where their buffers are, and puts views around the statements that use these.
class Placing {
 public:
  Placing(Context& context, const Frame& frame, BufferRef old_arena, BufferRef arena)
      : build_(context), old_arena_(old_arena), arena_(arena) {
    for (const Placement& placement : frame.placements)
      places_[placement.buffer] = {placement.donor != nullptr ? placement.donor : arena, placement.offset,
                                   static_cast<uint32_t>(placement.lines ? kAlignment : 0)};
  }

  Stmt run(Stmt s) {
    std::vector<Stmt> list;
    std::vector<Open> open;
    while (s) {
      if (const auto* alloc = s.as<tir::Alloc>()) {
        if (alloc->buffer->scope != tir::Scope::kGlobal) open.push_back({s, std::exchange(list, {}), {}});
        s = alloc->body;
      } else if (const auto* let = s.as<tir::Let>()) {
        open.push_back({s, std::exchange(list, {}), see(s)});
        s = let->body;
      } else if (const auto* view = s.as<tir::View>()) {
        Place below = place_of(view->base);
        if (below.round_up != 0)
          places_[view->buffer] = {view->base, view->byte_offset};
        else
          places_[view->buffer] = {below.base, below.offset + view->byte_offset};
        s = view->body;
      } else if (const auto* seq = s.as<tir::Seq>()) {
        for (size_t i = 0; i + 1 < seq->body.size(); ++i) list.push_back(run(seq->body[i]));
        s = seq->body.empty() ? Stmt() : seq->body.back();
      } else {
        std::vector<BufferRef> used = see(s);
        list.push_back(in_views(used, with_children(s)));
        break;
      }
    }
    Stmt made = build_.seq(std::move(list));
    for (; !open.empty(); open.pop_back()) {
      Open& scope = open.back();
      const auto* let = scope.head.as<tir::Let>();
      made = let != nullptr ? in_views(scope.used, build_.let(let->var, let->value, made))
                            : build_.alloc(scope.head.as<tir::Alloc>()->buffer, made);
      scope.before.push_back(made);
      made = build_.seq(std::move(scope.before));
    }
    return made;
  }

 private:
  struct Place {
    BufferRef base = nullptr;  ///< a parameter, or a buffer that has its own place, rounded up
    Expr offset;
    uint32_t round_up = 0;
  };
  /// A scope that extends to the end of its suite.
  struct Open {
    Stmt head;
    std::vector<Stmt> before;     ///< the statements of this suite before the scope
    std::vector<BufferRef> used;  ///< the buffers that get views around it
  };

  Place place_of(BufferRef buffer) const {
    if (buffer == old_arena_) return {arena_, build_.context().index(0), 0};
    auto it = places_.find(buffer);
    return it == places_.end() ? Place{buffer, build_.context().index(0), 0} : it->second;
  }

  /// Returns the buffers named by the statement that no view around it defines, and marks them as defined.
  std::vector<BufferRef> see(Stmt s) {
    std::vector<BufferRef> used;
    auto show = [&](BufferRef buffer) {
      if (place_of(buffer).base != buffer && visible_.insert(buffer).second) used.push_back(buffer);
    };
    for (BufferRef buffer : buffers_of(s)) {
      show(place_of(buffer).base);
      show(buffer);
    }
    return used;
  }

  Stmt in_views(const std::vector<BufferRef>& used, Stmt inner) {
    for (auto buffer = used.rbegin(); buffer != used.rend(); ++buffer) {
      visible_.erase(*buffer);
      Place place = place_of(*buffer);
      inner = build_.view(*buffer, place.base, place.offset, inner, place.round_up);
    }
    return inner;
  }

  Stmt with_children(Stmt s) {
    if (const auto* branch = s.as<tir::If>()) {
      // In this order whichever compiler builds relaxc: C++ leaves open which argument of a call is evaluated first.
      const Stmt otherwise = branch->else_body ? run(branch->else_body) : Stmt();
      return build_.branch(branch->condition, run(branch->then_body), otherwise);
    }
    if (const auto* loop = s.as<tir::While>()) return build_.loop_while(loop->condition, run(loop->body));
    if (const auto* loop = s.as<tir::For>()) {
      tir::For copy = *loop;
      copy.body = run(loop->body);
      return Stmt(build_.context().arena().make<tir::For>(std::move(copy)));
    }
    RELAXC_CHECK(s.as<tir::Block>() == nullptr, "a block in a host function");
    return s;
  }

  /// Returns the buffers that the statement itself names, in order of first occurrence.
  static std::vector<BufferRef> buffers_of(Stmt s) {
    std::vector<BufferRef> used;
    auto add = [&](BufferRef buffer) {
      if (std::find(used.begin(), used.end(), buffer) == used.end()) used.push_back(buffer);
    };
    if (const auto* store = s.as<tir::Store>()) add(store->buffer);
    if (const auto* invoke = s.as<tir::Invoke>())
      for (const tir::Argument& argument : invoke->args)
        if (const auto* buffer = std::get_if<BufferRef>(&argument)) add(*buffer);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) add(load->buffer);
      });
    return used;
  }

  tir::Builder build_;
  BufferRef old_arena_, arena_;
  std::map<BufferRef, Place> places_;  // looked up only
  std::set<BufferRef> visible_;        // buffers with views around the current statement; looked up only
};

}  // namespace

namespace {

/// Returns the pieces with successors merged into what they take over; `piece_of` maps each lifetime to its piece.
std::vector<Piece> joined(const std::vector<Piece>& pieces, const std::vector<Lifetime>& lives,
                          std::vector<size_t>& piece_of) {
  std::map<BufferRef, size_t> index;
  for (size_t i = 0; i < lives.size(); ++i) index[lives[i].buffer] = i;
  std::vector<size_t> root(lives.size());
  for (size_t i = 0; i < lives.size(); ++i) {
    size_t first = i;
    while (lives[first].successor_of != nullptr) first = index.at(lives[first].successor_of);
    root[i] = first;
  }
  std::vector<Piece> result;
  std::map<size_t, size_t> place;
  piece_of.clear();
  for (size_t i = 0; i < lives.size(); ++i) {
    auto [at, fresh] = place.emplace(root[i], result.size());
    if (fresh) result.push_back(pieces[i]);
    Piece& piece = result[at->second];
    if (pieces[i].first < piece.first)
      piece.over = pieces[i].over, piece.distance = pieces[i].distance, piece.behind = pieces[i].behind;
    if (pieces[i].last > piece.last) piece.ends_as = pieces[i].ends_as;
    piece.first = std::min(piece.first, pieces[i].first), piece.last = std::max(piece.last, pieces[i].last);
    piece.alignment = std::max(piece.alignment, pieces[i].alignment);
    piece_of.push_back(at->second);
  }
  return result;
}

/// The memory that each piece is in: a pool, a donor or the arena.
struct PieceMemories {
  std::vector<BufferRef> donors;  ///< the pool or donor of each piece; null: the arena
  std::vector<bool> lines;        ///< whether each piece starts at a cache line
  Storage storage;                ///< the arena's size; offsets are relative to each piece's memory
  std::vector<int64_t> pool_bytes;
};

/// Assigns pieces to pools, to donors and to the arena.
class Assignment {
 public:
  Assignment(Context& context, const std::vector<BufferRef>& donors, const std::vector<Donor>& donated,
             const Pools& pools, const arith::Facts& facts)
      : context_(context), donors_(donors), donated_(donated), pools_(pools), facts_(facts), known_(context, facts) {}

  /// \param traffic  bytes moved to and from each piece
  PieceMemories run(const std::vector<Piece>& pieces, const std::vector<double>& traffic) {
    Pooled pooled = assign_pools(context_, pieces, traffic, pools_.bytes, facts_);
    std::vector<Piece> rest;
    for (size_t i = 0; i < pieces.size(); ++i)
      if (pooled.pools[i] < 0) rest.push_back(pieces[i]);
    DonatedStorage others = assign_with_donors(context_, rest, donated_, facts_, known_);
    PieceMemories places{{}, {}, {{}, others.storage.bytes, others.storage.weight}, std::move(pooled.bytes)};
    for (size_t i = 0, next = 0; i < pieces.size(); ++i) {
      places.lines.push_back(pooled.pools[i] < 0 && others.lines[next]);
      if (pooled.pools[i] >= 0) {
        places.donors.push_back(pools_.buffers.at(static_cast<size_t>(pooled.pools[i])));
        places.storage.offsets.push_back(context_.index(pooled.offsets[i]));
        continue;
      }
      int donor = others.donors[next];
      places.donors.push_back(donor < 0 ? nullptr : donors_[static_cast<size_t>(donor)]);
      places.storage.offsets.push_back(others.storage.offsets[next++]);
    }
    return places;
  }

 private:
  Context& context_;
  const std::vector<BufferRef>& donors_;
  const std::vector<Donor>& donated_;
  const Pools& pools_;
  const arith::Facts& facts_;
  Comparisons known_;
};

/// Returns the bytes moved to and from each piece; lifetime `i` is a part of piece `piece_of[i]`.
std::vector<double> traffic_of(const std::vector<Lifetime>& lives, const std::vector<size_t>& piece_of,
                               const Pools& pools) {
  std::vector<double> traffic(piece_of.size());
  for (size_t i = 0; i < lives.size(); ++i)
    if (auto moved = pools.traffic.find(lives[i].buffer); moved != pools.traffic.end())
      traffic[piece_of[i]] += moved->second;
  return traffic;
}

/// Returns the symbols that guards equate with something, and with what, so that equal sizes share memory.
arith::Substitution equal_symbols(const arith::Facts& facts) {
  arith::Substitution known;
  for (Expr assumed : facts.assumptions()) {
    if (assumed->kind != arith::ExprKind::kEq) continue;
    const auto& sides = *static_cast<const arith::Binary*>(assumed.node());
    for (auto [symbol, value] : {std::pair(sides.b, sides.a), std::pair(sides.a, sides.b)}) {
      if (symbol.as<arith::VarNode>() == nullptr || known.count(symbol) != 0) continue;
      Expr in_others = arith::substitute(value, known);
      std::vector<arith::Var> vars = arith::free_vars(in_others);
      if (std::find(vars.begin(), vars.end(), symbol) != vars.end()) continue;
      for (auto& [other, what] : known) what = arith::substitute(what, {{symbol, in_others}});
      known.emplace(symbol, in_others);
      break;
    }
  }
  return known;
}

/// Computes the sizes of buffers in bytes, with symbols that are known to be equal replaced by one.
class BufferSizes {
 public:
  BufferSizes(Context& context, const arith::Facts& facts) : context_(context), equal_(equal_symbols(facts)) {}

  Size of(BufferRef buffer) const {
    std::vector<Expr> shape = buffer->shape;
    for (Expr& dim : shape) dim = arith::substitute(dim, equal_);
    return size_of(context_, shape, buffer->dtype.bytes());
  }

 private:
  Context& context_;
  const arith::Substitution equal_;
};

/// Returns a piece of memory for each buffer. Fails (overflow) if all of them together do not fit 64 bits.
Result<std::vector<Piece>> pieces_of(const std::vector<Lifetime>& lives, const BufferSizes& sizes, Location location,
                                     Diagnostics& diag) {
  constexpr int64_t kMost = INT64_MAX - kAlignment;
  std::vector<Piece> pieces;
  int64_t sum = 0;
  for (const Lifetime& life : lives) {
    Size size = sizes.of(life.buffer);
    bool overflow =
        size.overflow || size.coefficient > kMost || __builtin_add_overflow(sum, size.coefficient + kAlignment, &sum);
    if (overflow)
      return diag.error(location, Kind::overflow, "the memory of '{}' does not fit 64 bits", life.buffer->name);
    pieces.push_back({size, life.first, life.last, std::min(life.alignment, kAlignment)});
  }
  std::map<BufferRef, int> numbers;
  for (size_t i = 0; i < lives.size(); ++i) numbers[lives[i].buffer] = pieces[i].ends_as = static_cast<int>(i);
  for (size_t i = 0; i < lives.size(); ++i) {
    auto over = numbers.find(lives[i].over);
    if (over == numbers.end()) continue;
    pieces[i].over = over->second, pieces[i].distance = lives[i].distance, pieces[i].behind = lives[i].behind;
  }
  return pieces;
}

/// Records which calls have a result that is partly in the memory of an operand.
void find_overlapping(const std::vector<Lifetime>& lives, Frame& frame) {
  std::map<BufferRef, const Placement*> placements;
  for (const Placement& placement : frame.placements) placements[placement.buffer] = &placement;
  const auto bytes = [](const Placement& p) { return p.piece.size.factors.empty() ? p.piece.size.coefficient : 0; };
  for (const Lifetime& life : lives) {
    if (life.over == nullptr) continue;
    const Placement &made = *placements.at(life.buffer), &old = *placements.at(life.over);
    const int64_t *its = made.offset.constant(), *others = old.offset.constant();
    if (made.donor != nullptr || old.donor != nullptr || its == nullptr || others == nullptr) continue;
    if (*its >= *others + bytes(old) || *others >= *its + bytes(made)) continue;
    frame.overlapping[life.over_by].insert(life.sharing.begin(), life.sharing.end());
  }
}

}  // namespace

Result<Frame> plan_frame(Context& context, Stmt body, const arith::Facts& facts, Location location, Diagnostics& diag,
                         const Calls& calls, const std::vector<BufferRef>& donors, const Pools& pools) {
  std::vector<uint32_t> donors_until;
  std::vector<Lifetime> lives = lifetimes(body, calls, facts, donors, &donors_until);
  const BufferSizes sizes(context, facts);
  std::vector<Donor> donated;
  for (size_t i = 0; i < donors.size(); ++i)
    donated.push_back({sizes.of(donors[i]), donors_until[i], donors[i]->dtype.bytes()});
  RELAXC_TRY(std::vector<Piece> pieces, pieces_of(lives, sizes, location, diag));
  Frame frame;
  for (size_t i = 0; i < lives.size(); ++i) frame.placements.push_back({lives[i].buffer, pieces[i], {}});
  Assignment assignment(context, donors, donated, pools, facts);
  std::vector<size_t> piece_of(pieces.size()), joined_piece_of;
  std::iota(piece_of.begin(), piece_of.end(), size_t{0});
  PieceMemories chosen = assignment.run(pieces, traffic_of(lives, piece_of, pools));
  std::vector<Piece> fewer = joined(pieces, lives, joined_piece_of);
  if (fewer.size() < pieces.size()) {
    PieceMemories tighter = assignment.run(fewer, traffic_of(lives, joined_piece_of, pools));
    if (tighter.storage.weight <= chosen.storage.weight) {
      chosen = std::move(tighter);
      piece_of = std::move(joined_piece_of);
      for (const Lifetime& life : lives)
        if (life.successor_of != nullptr) frame.in_place.insert(life.by);
    }
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    frame.placements[i].offset = chosen.storage.offsets[piece_of[i]];
    frame.placements[i].donor = chosen.donors[piece_of[i]];
    frame.placements[i].lines = chosen.lines[piece_of[i]];
  }
  frame.bytes = chosen.storage.bytes ? chosen.storage.bytes : context.index(0);
  frame.pool_bytes = std::move(chosen.pool_bytes);
  find_overlapping(lives, frame);
  return frame;
}

Stmt place_in_arena(Context& context, Stmt body, const Frame& frame, BufferRef old_arena, BufferRef arena) {
  return Placing(context, frame, old_arena, arena).run(body);
}

}  // namespace relaxc::plan
