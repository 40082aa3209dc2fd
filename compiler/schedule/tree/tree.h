// tree.h: a kernel while it is scheduled: its statements, the part in focus, its constants and its trace.
//
// Statements are immutable, so a copy of a Tree is a free checkpoint. Loops and blocks are named by ids that survive
// rewrites. A Tree is state and nothing else: `primitives/` change it, `analysis/` queries it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/arith/simplify.h"
#include "compiler/schedule/packing.h"
#include "compiler/schedule/tree/legal.h"
#include "compiler/schedule/tree/named_step.h"
#include "compiler/tir/builder.h"
#include "compiler/tir/visit.h"

namespace relaxc::schedule {

using arith::Context;
using arith::Expr;
using arith::Var;
using tir::BufferRef;
using tir::Stmt;

/// A constant operand that may be packed: a parameter, or what a primitive has put in the parameter's place.
struct Operand {
  BufferRef buffer = nullptr;  ///< the buffer that nests read
  BufferRef param = nullptr;   ///< the parameter that it replaces
  Packing made;                ///< how it is made of the parameter, without panels
};

/// Consecutive statements of a tree to which steps are restricted.
struct CutOutStatements {
  Stmt whole;               ///< the tree that contains them; null if steps are not restricted
  std::vector<Stmt> taken;  ///< the statements of `whole` that the result replaces
};

class Tree {
 public:
  /// \param facts         facts about the kernel's symbols that hold at every call
  /// \param constants     parameters that may be packed
  /// \param may_allocate  the caller provides scratch memory
  Tree(Context& context, Stmt root, arith::Facts facts = {}, const std::vector<BufferRef>& constants = {},
       bool may_allocate = true);

  /// The statements that primitives see: the nests in focus, else the section, else the kernel.
  Stmt root() const { return root_; }
  void set_root(Stmt root) { root_ = root; }
  const tir::For& loop(uint32_t id) const;
  const tir::Block& block(uint32_t id) const;
  /// Replaces the loop by the result of `f`, which gets it with a rebuilt body.
  template <typename F>
  void edit_loop(uint32_t id, F f) {
    edit<tir::For>(id, f);
  }
  template <typename F>
  void edit_block(uint32_t id, F f) {
    edit<tir::Block>(id, f);
  }
  /// Replaces every statement by the result of `f`; null removes it.
  template <typename F>
  void edit_statements(F f) {
    tir::Rewriter rewriter;
    rewriter.on_stmt = f;
    root_ = tir::rewrite(context(), root_, rewriter);
  }

  Context& context() const { return *context_; }
  const arith::Facts& facts() const { return *facts_; }
  bool may_allocate() const { return may_allocate_; }
  /// Whether the result may be in the memory of an operand, each element in the place of the operand's same element.
  bool may_overwrite_operands() const { return may_overwrite_operands_; }
  void let_overwrite_operands(bool overwrites) { may_overwrite_operands_ = overwrites; }
  /// The steps that were applied so far.
  const Trace& trace() const { return trace_; }
  void note(NamedStep step) { trace_.push_back(std::make_shared<const NamedStep>(std::move(step))); }
  void set_trace(Trace trace) { trace_ = std::move(trace); }

  // ---- constants

  std::vector<Operand>& operands() { return operands_; }
  const std::vector<Operand>& operands() const { return operands_; }
  std::vector<PackedParam>& packed() { return packed_; }
  const std::vector<PackedParam>& packed() const { return packed_; }
  /// The constants that no statement but `nests`, which are in focus, reads.
  std::vector<BufferRef> constants_of(const std::vector<Stmt>& nests) const;
  /// The same for all statements in focus.
  std::vector<BufferRef> own_constants() const { return constants_of({root_}); }

  // ---- focus: outside of it, only other uses of a buffer and the base of a view are looked up

  const CutOutStatements& focused() const { return focus_; }
  bool is_whole() const { return !focus_.whole && !section_.whole; }
  /// Restricts steps to these statements of the kernel, which must be consecutive in one sequence.
  void take_section(std::vector<Stmt> statements);
  void take_focus(std::vector<Stmt> nests);
  void leave_focus() { restore_cut_out(focus_); }
  void leave_section();
  /// The buffer that `buffer` is a view of, through all views.
  BufferRef memory_of(BufferRef buffer) const;
  /// Whether `buffer` is allocated in the kernel and no statement but `nests`, which are in focus, reads it.
  bool is_non_escaping(BufferRef buffer, const std::vector<Stmt>& nests) const;
  /// The same for all statements in focus.
  bool is_non_escaping(BufferRef buffer) const { return is_non_escaping(buffer, {root_}); }
  /// Whether a statement other than `nests`, which are in focus, reads or writes `buffer`.
  bool is_used_outside(BufferRef buffer, const std::vector<Stmt>& nests) const;
  /// The same for all statements in focus.
  bool is_used_elsewhere(BufferRef buffer) const { return is_used_outside(buffer, {root_}); }

 private:
  template <typename T, typename F>
  void edit(uint32_t id, F f) {
    bool found = false;
    edit_statements([&](Stmt s) {
      const auto* node = s.as<T>();
      if (node == nullptr || node->id != id) return s;
      found = true;
      return f(*node);
    });
    RELAXC_CHECK(found, "a schedule names a loop or block that does not exist");
  }
  void restore_cut_out(CutOutStatements& cutout);
  std::vector<Stmt> trees() const;

  class NestFacts;
  using Bases = std::map<BufferRef, BufferRef>;  ///< of views; never iterated
  template <typename T, typename F>
  void for_each_nest(Stmt tree, const std::vector<Stmt>& taken, F f) const;
  Bases bases() const;
  static BufferRef base_of(const Bases& bases, BufferRef buffer);

  Context* context_;
  std::shared_ptr<const arith::Facts> facts_;  ///< shared by all copies
  bool may_allocate_;
  bool may_overwrite_operands_ = false;
  Stmt root_;
  CutOutStatements section_;               ///< of the kernel
  CutOutStatements focus_;                 ///< of the section, else of the kernel
  std::shared_ptr<NestFacts> nest_facts_;  ///< shared by all copies, whose nests are shared as well
  Trace trace_;
  std::vector<Operand> operands_;
  std::vector<PackedParam> packed_;
};

}  // namespace relaxc::schedule
