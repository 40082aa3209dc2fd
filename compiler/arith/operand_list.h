// operand_list.h: the operands of a node and the visited nodes of a walk, without heap allocation if they are
// few; internal to arith. Most expressions have at most a dozen nodes, and planning walks over them thousands of
// times.
#pragma once

#include <vector>

#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// The result of operands(e) without a copy. Valid as long as `e`.
class OperandList {
 public:
  explicit OperandList(Expr e) {
    visit(
        e, [](const IntImm&) {}, [](const FloatImm&) {}, [](const VarNode&) {}, [&](const Binary& n) { few(n.a, n.b); },
        [&](const Not& n) { few(n.a); }, [&](const Select& n) { few(n.condition, n.then_value, n.else_value); },
        [&](const Cast& n) { few(n.value); }, [&](const Load& n) { all(n.indices); },
        [&](const Call& n) { all(n.args); }, [&](const Extern& n) { all(n.args); });
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Expr* begin() const { return many_ != nullptr ? many_ : few_; }
  const Expr* end() const { return begin() + size_; }
  Expr operator[](size_t i) const { return begin()[i]; }

 private:
  template <typename... Es>
  void few(Es... operands) {
    ((few_[size_++] = operands), ...);
  }
  void all(const std::vector<Expr>& list) { many_ = list.data(), size_ = list.size(); }

  Expr few_[3];
  const Expr* many_ = nullptr;
  size_t size_ = 0;
};

/// A set of nodes in an open-addressing table that allocates memory only if it grows past a few dozen.
class VisitedNodes {
 public:
  /// Adds `e`; returns whether it is new.
  bool insert(Expr e) {
    Expr* place = slot(e);
    if (*place) return false;
    *place = e;
    if (++count_ * 2 > size()) grow();
    return true;
  }

 private:
  static constexpr size_t kFew = 64;

  size_t size() const { return many_.empty() ? kFew : many_.size(); }  // a power of 2
  /// Returns the slot that contains `e`, or the empty slot for it.
  Expr* slot(Expr e) {
    Expr* table = many_.empty() ? few_ : many_.data();
    size_t mask = size() - 1, at = e->id & mask;  // ids are given in sequence
    while (table[at] && !(table[at] == e)) at = (at + 1) & mask;
    return table + at;
  }
  void grow() {
    std::vector<Expr> bigger(size() * 4);
    Expr* table = many_.empty() ? few_ : many_.data();
    std::vector<Expr> old(table, table + size());
    many_.swap(bigger);
    for (Expr e : old)
      if (e) *slot(e) = e;
  }

  Expr few_[kFew];
  size_t count_ = 0;
  std::vector<Expr> many_;  ///< empty while the nodes are in few_
};

}  // namespace relaxc::arith
