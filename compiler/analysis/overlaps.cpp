// overlaps.cpp: how far ahead of an operand the result of a kernel must begin.
//
// The problem: while a kernel runs, its operand and its result both take memory, and for most networks two neighbours
// are what the arena must hold. But a kernel that walks through its operand from the first byte to the last no longer
// needs what is behind it. If the result begins somewhat before the operand in memory, its stores follow the loads and
// never overtake them, and the two share most of their bytes: a depthwise convolution of 12,096 bytes to 8,000 needs
// 12,480 and not 20,096.
//
// The method: an operand that begins `distance` bytes after the result is safe if every load is of a byte that begins
// at or behind the end of all stores before it, less that distance. So the loops are run with numbers for their
// variables, in order, and the distance is the largest difference between the end of a store so far and the first byte
// of a load. For a kernel that goes downwards, the result is the one that begins later, and the distance is between the
// end of a load and the first byte that has been stored. Subscripts are sums of loop variables times constants, or such
// a sum within limits, as at the border of an image (anything else may have any value of its dim), so a loop need not
// be run to know the range of its accesses: loops without loops inside, parallel and vectorized ones, and what would
// take too many steps, count as one step that stores before it loads.
//
// Others find the distance by recording all accesses of a run ("diagonal memory optimisation", Blacker, Bridgman and
// Graham, 2020), or by a formula for each operator (TinyEngine's depthwise convolutions in place). The loops as
// scheduled are the only place that knows the order for all operators.
#include "compiler/analysis/overlaps.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;
using tir::BufferRef;
using tir::Stmt;

constexpr int64_t kMostSteps = 1 << 15;     ///< of a kernel: some milliseconds
constexpr int64_t kMostAccesses = 1 << 22;  ///< in all steps: a tenth of a second

/// A loop whose variable has a number, or a range while its iterations count as one step.
struct CountedLoop {
  Expr var;
  int64_t first = 0, last = -1;  ///< all values
  int64_t low = 0, high = 0;     ///< the values at this step
};

/// A subscript times the bytes from one of its values to the next: a sum of loop variables times constants, which is
/// raised to `low` and lowered to `high`.
struct Subscript {
  int64_t bytes = 0;
  int64_t base = 0, low = INT64_MIN, high = INT64_MAX;
  std::vector<std::pair<size_t, int64_t>> steps = {};  ///< of loops
};

/// A load or store of `bytes` bytes of a parameter, which begins at the sum of the subscripts.
struct ByteAccess {
  size_t param = 0;
  bool is_store = false;
  bool anywhere = false;  ///< in the buffer
  int64_t bytes = 0;
  std::vector<Subscript> subscripts = {};
};

/// A statement as the walk needs it: what it loads and then stores, and what runs after that.
struct Node {
  std::optional<size_t> loop;
  bool ordered = true;    ///< whether iterations run one after the other
  bool has_loop = false;  ///< inside of it
  std::vector<ByteAccess> loads, stores;
  std::vector<Node> inner;
};

/// Bytes of a parameter.
struct Bytes {
  int64_t begin = 0, end = 0;
};

/// Reads a kernel's body as nodes.
class Reading {
 public:
  Reading(const tir::PrimFunc& kernel, std::vector<CountedLoop>& loops) : loops_(loops) {
    for (size_t i = 0; i < kernel.params.size(); ++i)
      if (BufferRef buffer = kernel.params[i].buffer; buffer != nullptr) places_[buffer] = {i, {}};
  }

  std::vector<Node> read(Stmt s) {
    std::vector<Node> list;
    // A body that ends in nested scopes is read as a list, so that deep nests do not recurse.
    while (s) {
      if (const auto* seq = s.as<tir::Seq>()) {
        for (size_t i = 0; i + 1 < seq->body.size(); ++i)
          for (Node& node : read(seq->body[i])) list.push_back(std::move(node));
        s = seq->body.empty() ? Stmt() : seq->body.back();
        continue;
      }
      list.push_back(own(s));
      if (const auto* let = s.as<tir::Let>()) {
        values_[let->var] = resolved(let->value);
        s = let->body;
      } else if (const auto* view = s.as<tir::View>()) {
        place(*view);
        s = view->body;
      } else if (const auto* alloc = s.as<tir::Alloc>()) {
        s = alloc->body;
      } else {
        add_children(list.back(), s);
        break;
      }
    }
    return list;
  }

 private:
  struct Place {
    size_t param = 0;
    Expr offset;  ///< in bytes; null: 0
    bool known = true;
  };

  /// Returns what the statement does without those inside of it.
  Node own(Stmt s) {
    Node node;
    for (Expr e : tir::expressions(s)) loads(node, e);
    if (const auto* store = s.as<tir::Store>()) add(node.stores, store->buffer, store->indices, true);
    if (const auto* invoke = s.as<tir::Invoke>()) call(node, *invoke);
    if (const auto* loop = s.as<tir::For>()) enter(node, *loop);
    if (s.as<tir::While>() != nullptr) node.ordered = false, node.loop = endless();
    return node;
  }

  void add_children(Node& node, Stmt s) {
    if (const auto* block = s.as<tir::Block>())
      for (const tir::IterVar& axis : block->iters) values_[axis.var] = resolved(axis.binding);
    for (Stmt child : tir::children(s))
      for (Node& inner : read(child)) {
        node.has_loop = node.has_loop || inner.loop || inner.has_loop;
        node.inner.push_back(std::move(inner));
      }
  }

  Expr resolved(Expr e) const { return e ? arith::substitute(e, values_) : e; }

  void place(const tir::View& view) {
    auto base = view.base == nullptr ? places_.end() : places_.find(view.base);
    if (base == places_.end()) return;
    Place at = base->second;
    const Expr offset = resolved(view.byte_offset);
    at.offset = at.offset ? at.offset + offset : offset;
    at.known = at.known && view.round_up == 0;
    places_[view.buffer] = at;
  }

  void enter(Node& node, const tir::For& loop) {
    const arith::Range first = arith::bounds(resolved(loop.min), facts_);
    const arith::Range count = arith::bounds(resolved(loop.extent), facts_);
    node.loop = loops_.size();
    node.ordered = loop.loop_kind == tir::LoopKind::kSerial || loop.loop_kind == tir::LoopKind::kUnrolled;
    CountedLoop made{loop.var, 0, -1, 0, 0};
    if (first.has_lower() && first.has_upper() && count.has_upper()) {
      made.first = first.lower, made.last = first.upper + count.upper - 1;
      facts_.bound(loop.var, {made.first, std::max(made.first, made.last)});
      numbered_.emplace(loop.var, *node.loop);
    } else {
      node.ordered = false;  // how often it runs is not known
    }
    loops_.push_back(made);
  }

  size_t endless() {
    loops_.push_back({{}, 0, 0, 0, 0});
    return loops_.size() - 1;
  }

  void call(Node& node, const tir::Invoke& invoke) {
    for (const tir::Argument& argument : invoke.args) {
      const auto* buffer = std::get_if<BufferRef>(&argument);
      auto at = buffer == nullptr ? places_.end() : places_.find(*buffer);
      if (at == places_.end()) continue;
      node.loads.push_back({at->second.param, false, true});
      node.stores.push_back({at->second.param, true, true});
    }
  }

  void loads(Node& node, Expr e) {
    if (!e) return;
    arith::for_each_node(e, [&](Expr inner) {
      if (const auto* load = inner.as<arith::Load>()) add(node.loads, load->buffer, load->indices, false);
    });
  }

  void add(std::vector<ByteAccess>& list, BufferRef buffer, const std::vector<Expr>& indices, bool is_store) {
    auto at = places_.find(buffer);
    if (at == places_.end()) return;
    ByteAccess access{at->second.param, is_store, true, buffer->dtype.bytes()};
    if (at->second.known && known_bytes(*buffer)) describe(access, *buffer, indices, at->second);
    list.push_back(std::move(access));
  }

  /// Finds where the access begins. A subscript that is of another form may have any value of its dim.
  void describe(ByteAccess& access, const tir::Buffer& buffer, const std::vector<Expr>& indices, const Place& place) {
    if (place.offset) {
      std::optional<Subscript> offset = subscript_of(place.offset, 1);
      if (!offset) return;
      access.subscripts.push_back(std::move(*offset));
    }
    int64_t bytes = access.bytes;
    for (size_t i = indices.size(); i-- > 0;) {
      const int64_t extent = *buffer.shape[i].constant();
      std::optional<Subscript> subscript = subscript_of(resolved(indices[i]), bytes);
      access.subscripts.push_back(subscript ? std::move(*subscript) : any_of(extent, bytes));
      bytes *= extent;
    }
    access.anywhere = false;
  }

  std::optional<Subscript> subscript_of(Expr e, int64_t bytes) const {
    Subscript found{bytes};
    for (const int64_t* limit = limit_of(e); limit != nullptr; limit = limit_of(e)) {
      const auto& both = *static_cast<const arith::Binary*>(e.node());
      (e->kind == arith::ExprKind::kMax ? found.low : found.high) = std::clamp(*limit, found.low, found.high);
      e = both.a.constant() == nullptr ? both.a : both.b;
    }
    for (arith::Var var : arith::free_vars(e)) {
      auto loop = numbered_.find(var);
      if (loop == numbered_.end()) return {};
      const Expr step = arith::simplify(arith::substitute(e, {{var, var + e.context().index(1)}}) - e);
      if (step.constant() == nullptr) return {};
      found.steps.emplace_back(loop->second, *step.constant());
    }
    const std::optional<int64_t> base = arith::evaluate(e, [](arith::Var) { return int64_t{0}; });
    if (!base) return {};
    found.base = *base;
    return found;
  }

  /// Returns the constant of a minimum or maximum of it and something else; null if `e` is none.
  static const int64_t* limit_of(Expr e) {
    if (e->kind != arith::ExprKind::kMin && e->kind != arith::ExprKind::kMax) return nullptr;
    const auto& both = *static_cast<const arith::Binary*>(e.node());
    return both.a.constant() != nullptr ? both.a.constant() : both.b.constant();
  }

  /// A subscript of any value from 0 up to `extent` (exclusive).
  Subscript any_of(int64_t extent, int64_t bytes) {
    loops_.push_back({{}, 0, extent - 1, 0, extent - 1});
    return {.bytes = bytes, .steps = {{loops_.size() - 1, 1}}};
  }

  std::vector<CountedLoop>& loops_;
  arith::Facts facts_;
  arith::Substitution values_;                   ///< of Lets and axes of blocks
  std::unordered_map<Expr, size_t> numbered_;    ///< loop variables with known ranges
  std::unordered_map<BufferRef, Place> places_;  ///< of buffers in parameters
};

/// Runs a kernel's loops and keeps the distances.
class Run {
 public:
  Run(std::vector<CountedLoop>& loops, size_t result, std::vector<std::optional<int64_t>> sizes)
      : loops_(loops),
        result_(result),
        sizes_(std::move(sizes)),
        before_(sizes_.size()),
        behind_(sizes_.size()),
        is_stored_(sizes_.size()) {}

  void walk(const Node& node, int64_t steps) {
    for (const ByteAccess& load : node.loads) note(load);
    for (const ByteAccess& store : node.stores) note(store);
    if (node.loop) return iterate(node, steps);
    for (const Node& inner : node.inner) walk(inner, steps);
  }

  /// Returns how far before a parameter the result must begin, or with `behind`, after it.
  int64_t distance(size_t param, bool behind) const { return (behind ? behind_ : before_)[param]; }
  bool is_stored(size_t param) const { return is_stored_[param]; }

 private:
  void iterate(const Node& node, int64_t steps) {
    CountedLoop& loop = loops_[*node.loop];
    const int64_t count = loop.last - loop.first + 1;
    if (!node.ordered || !node.has_loop || count > steps) return at_once(node);
    for (int64_t value = loop.first; value <= loop.last; ++value) {
      loop.low = loop.high = value;
      for (const Node& inner : node.inner) walk(inner, steps / count);
    }
  }

  /// Takes all iterations as one step whose stores come before its loads.
  void at_once(const Node& node) {
    spread(node);
    for_each_access(node, [&](const ByteAccess& access) {
      if (access.is_store) note(access);
    });
    for_each_access(node, [&](const ByteAccess& access) {
      if (!access.is_store) note(access);
    });
    for (const ByteAccess& load : node.loads) note(load);  // of a condition that is evaluated before each iteration
  }

  void spread(const Node& node) {
    if (node.loop) loops_[*node.loop].low = loops_[*node.loop].first, loops_[*node.loop].high = loops_[*node.loop].last;
    for (const Node& inner : node.inner) spread(inner);
  }

  template <typename F>
  void for_each_access(const Node& node, const F& f) {
    for (const Node& inner : node.inner) {
      for (const ByteAccess& access : inner.loads) f(access);
      for (const ByteAccess& access : inner.stores) f(access);
      for_each_access(inner, f);
    }
  }

  void note(const ByteAccess& access) {
    if (access.is_store) is_stored_[access.param] = true;
    if (!sizes_[access.param] || access.is_store != (access.param == result_)) return;
    const std::optional<Bytes> bytes = bytes_of(access);
    if (!bytes) return;
    if (access.is_store) {
      stored_ = {std::min(stored_.begin, bytes->begin), std::max(stored_.end, bytes->end)};
    } else if (stored_.end > 0) {
      before_[access.param] = std::max(before_[access.param], stored_.end - bytes->begin);
      behind_[access.param] = std::max(behind_[access.param], bytes->end - stored_.begin);
    }
  }

  /// Returns the bytes that the access may touch at this step; nothing if it is in an iteration that does not run.
  std::optional<Bytes> bytes_of(const ByteAccess& access) const {
    const int64_t size = *sizes_[access.param];
    if (access.anywhere) return Bytes{0, size};
    Bytes found{0, access.bytes};
    for (const Subscript& subscript : access.subscripts) {
      int64_t low = subscript.base, high = subscript.base;
      for (auto [id, step] : subscript.steps) {
        const CountedLoop& loop = loops_[id];
        if (loop.high < loop.low) return {};
        low += step * (step > 0 ? loop.low : loop.high);
        high += step * (step > 0 ? loop.high : loop.low);
      }
      found.begin += subscript.bytes * std::clamp(low, subscript.low, subscript.high);
      found.end += subscript.bytes * std::clamp(high, subscript.low, subscript.high);
    }
    found = {std::max<int64_t>(0, found.begin), std::min(size, found.end)};
    return found.begin < found.end ? std::optional(found) : std::nullopt;
  }

  std::vector<CountedLoop>& loops_;
  size_t result_;
  std::vector<std::optional<int64_t>> sizes_;  ///< of parameters, in bytes
  std::vector<int64_t> before_, behind_;
  std::vector<bool> is_stored_;
  Bytes stored_{INT64_MAX, 0};  ///< of the result so far, and all between
};

int64_t accesses_of(const std::vector<Node>& nodes) {
  int64_t count = 0;
  for (const Node& node : nodes)
    count += static_cast<int64_t>(node.loads.size() + node.stores.size()) + accesses_of(node.inner);
  return count;
}

/// Whether C may treat loads of the one and stores to the other as accesses of the same memory.
bool may_alias(DType a, DType b) {
  return a == b || a.bits == 8 || b.bits == 8;
}

}  // namespace

std::optional<int64_t> known_bytes(const tir::Buffer& buffer) {
  if (buffer.record != nullptr || !buffer.strides.empty() || buffer.dtype.bits < 8) return {};
  int64_t bytes = buffer.dtype.bytes();
  for (Expr dim : buffer.shape) {
    const int64_t* extent = dim.constant();
    if (extent == nullptr || *extent < 0 || __builtin_mul_overflow(bytes, *extent, &bytes)) return {};
  }
  return bytes;
}

bool may_overlap(const tir::PrimFunc& kernel) {
  return kernel.is_private && !kernel.is_host() && !kernel.c_function && kernel.noalias && !kernel.memory.copies;
}

std::vector<tir::Overlap> overlaps_of(const tir::PrimFunc& kernel) {
  std::vector<tir::Overlap> found;
  const std::optional<size_t> result = kernel.result();
  if (!result) return found;
  std::vector<std::optional<int64_t>> sizes(kernel.params.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (BufferRef buffer = kernel.params[i].buffer; buffer != nullptr && buffer->scope == tir::Scope::kGlobal)
      sizes[i] = known_bytes(*buffer);
  if (!sizes[*result]) return found;
  std::vector<CountedLoop> loops;
  Run run(loops, *result, sizes);
  const std::vector<Node> nodes = Reading(kernel, loops).read(kernel.body);
  const int64_t steps = std::min(kMostSteps, kMostAccesses / (1 + accesses_of(nodes)));
  for (const Node& node : nodes) run.walk(node, steps);
  const int64_t made = *sizes[*result];
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == *result || !sizes[i] || run.is_stored(i)) continue;
    if (!may_alias(kernel.params[i].buffer->dtype, kernel.params[*result].buffer->dtype)) continue;
    const int64_t before = run.distance(i, false), behind = run.distance(i, true);
    const int64_t upwards = std::max(made, before + *sizes[i]), downwards = std::max(*sizes[i], behind + made);
    if (std::min(upwards, downwards) == made + *sizes[i]) continue;
    found.push_back(upwards <= downwards ? tir::Overlap{i, before, false} : tir::Overlap{i, behind, true});
  }
  return found;
}

}  // namespace relaxc::analysis
