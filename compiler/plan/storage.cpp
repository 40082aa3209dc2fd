// storage.cpp: offsets whose sizes are expressions.
//
// Two ways, of which the one that is lower for typical symbols is taken.
//
// By class: sizes that are multiples of one product of symbols (all activations of a network with a dynamic batch are
// multiples of it) pack like numbers, and the packing is scaled by the product. Classes lie one after the other. For a
// static program there is one class, of numbers, and this is plain packing.
//
// By slot: pieces of any size take turns in slots as large as their largest piece, which is a max() where nothing can
// be proved. Slots share between classes, but a slot serves one piece at a time.
//
// Rejected: comparing symbolic offsets inside one packing (what cannot be ordered must be assumed to overlap, and that
// assumption loses more than classes do).
#include "compiler/plan/storage.h"

#include <algorithm>
#include <map>

#include "compiler/plan/packing.h"

namespace relaxc::plan {
namespace {

int64_t round_up(int64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

Expr product(Context& context, const std::vector<Expr>& factors) {
  Expr e = context.index(1);
  for (Expr factor : factors) e = e * factor;
  return e;
}

void multiply(Size& size, Expr e) {
  if (const int64_t* value = e.constant()) {
    size.overflow |= __builtin_mul_overflow(size.coefficient, *value, &size.coefficient);
  } else if (const auto* both = e.as<arith::Mul>()) {
    multiply(size, both->a), multiply(size, both->b);
  } else {
    size.factors.push_back(e);
  }
}

/// A typical value of a symbol: sizes are compared there when they cannot be compared in general.
int64_t typical(const arith::Facts& facts, arith::Var var) {
  constexpr int64_t kLarge = 256;
  arith::Range range = facts.range_of(var);
  int64_t value = range.has_upper() ? std::min(range.upper, kLarge) : kLarge;
  return range.has_lower() ? std::max(value, range.lower) : value;
}

class Assigner {
 public:
  Assigner(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts)
      : context_(context), pieces_(pieces), facts_(facts) {}

  Storage run() {
    Storage classes = by_class();
    bool symbolic = std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& p) { return !p.size.factors.empty(); });
    if (!symbolic) return classes;
    Storage slots = by_slot();
    return weigh(slots.bytes) < weigh(classes.bytes) ? slots : classes;
  }

 private:
  /// The value for typical symbols; expressions that overflow there are the heaviest.
  int64_t weigh(Expr e) const {
    return arith::evaluate(e, [&](arith::Var var) { return typical(facts_, var); }).value_or(INT64_MAX);
  }

  Storage by_class() const {
    std::map<std::vector<uint32_t>, std::vector<size_t>> classes;  // numbers first: their key is empty
    for (size_t i = 0; i < pieces_.size(); ++i) {
      std::vector<uint32_t> key;
      for (Expr factor : pieces_[i].size.factors) key.push_back(factor->id);
      classes[key].push_back(i);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    for (const auto& [key, members] : classes) {
      std::vector<Rectangle> rectangles;
      for (size_t i : members)
        rectangles.push_back({round_up(pieces_[i].size.coefficient), pieces_[i].first, pieces_[i].last});
      Packing packing = pack(rectangles);
      Expr unit = product(context_, pieces_[members[0]].size.factors);
      for (size_t k = 0; k < members.size(); ++k) result.offsets[members[k]] = result.bytes + unit * packing.offsets[k];
      result.bytes = result.bytes + unit * packing.height;
    }
    return result;
  }

  struct Slot {
    Expr bytes;
    std::vector<size_t> members;
  };

  Expr aligned(Expr bytes) const {
    if (arith::divisor(bytes, facts_) % kAlignment == 0) return bytes;
    return arith::ceildiv(bytes, kAlignment) * kAlignment;
  }

  Expr larger(Expr a, Expr b) const {
    if (arith::prove_le(a, b, facts_)) return b;
    if (arith::prove_le(b, a, facts_)) return a;
    return arith::simplify(arith::max(a, b), facts_);  // drops what the new piece dominates
  }

  Storage by_slot() const {
    std::vector<Expr> sizes;
    std::vector<size_t> order;
    for (const Piece& piece : pieces_) {
      order.push_back(order.size());
      sizes.push_back(aligned(to_expr(context_, piece.size)));
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weigh(sizes[a]) > weigh(sizes[b]); });
    std::vector<Slot> slots;
    for (size_t id : order) {
      auto free = [&](const Slot& slot) {
        return std::none_of(slot.members.begin(), slot.members.end(),
                            [&](size_t other) { return pieces_[id].meets(pieces_[other]); });
      };
      // Largest first means that any free slot is large enough for typical symbols; the smallest of them wastes least.
      auto best = slots.end();
      for (auto slot = slots.begin(); slot != slots.end(); ++slot)
        if (free(*slot) && (best == slots.end() || weigh(slot->bytes) < weigh(best->bytes))) best = slot;
      if (best == slots.end()) best = slots.insert(slots.end(), Slot{sizes[id], {}});
      best->bytes = larger(best->bytes, sizes[id]);
      best->members.push_back(id);
    }
    Storage result{std::vector<Expr>(pieces_.size()), context_.index(0)};
    for (const Slot& slot : slots) {
      for (size_t id : slot.members) result.offsets[id] = result.bytes;
      result.bytes = result.bytes + slot.bytes;
    }
    return result;
  }

  Context& context_;
  const std::vector<Piece>& pieces_;
  const arith::Facts& facts_;
};

}  // namespace

Size size_of(Context& context, const std::vector<Expr>& dims, int64_t element_bytes) {
  Size size;
  multiply(size, context.index(element_bytes));
  for (Expr dim : dims) multiply(size, dim);
  std::sort(size.factors.begin(), size.factors.end(), [](Expr a, Expr b) { return a->id < b->id; });
  return size;
}

Expr to_expr(Context& context, const Size& size) {
  return product(context, size.factors) * size.coefficient;
}

Storage assign_storage(Context& context, const std::vector<Piece>& pieces, const arith::Facts& facts) {
  return Assigner(context, pieces, facts).run();
}

std::optional<int64_t> live_bytes(Context& context, const std::vector<Piece>& pieces,
                                  const std::function<int64_t(arith::Var)>& value_of) {
  int64_t most = 0;
  for (const Piece& at : pieces) {
    int64_t sum = 0;
    for (const Piece& other : pieces) {
      if (at.first < other.first || other.last < at.first) continue;
      std::optional<int64_t> bytes = arith::evaluate(to_expr(context, other.size), value_of);
      if (!bytes || __builtin_add_overflow(sum, *bytes, &sum)) return {};
    }
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace relaxc::plan
