// tree.h: a kernel that is being scheduled: its statements, what of them is in focus, and what is known beside them.
//
// Statements are immutable, so a copy of a Tree is a free checkpoint. Loops and blocks are named by ids that survive
// rewrites. A Tree is state and nothing else: what may be done to it is in `primitives/`, questions about it are in
// `analysis/`.
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

/// A constant operand that may be packed: as a parameter, or as a primitive wants it in the parameter's place.
struct Operand {
  BufferRef buffer = nullptr;  ///< what nests read
  BufferRef param = nullptr;   ///< what it is made of
  Packing made;                ///< how, except for the panels
};

/// Consecutive statements that were taken out of a tree to be worked on.
struct CutOutStatements {
  Stmt whole;               ///< the tree before; null: nothing was taken out
  std::vector<Stmt> taken;  ///< the statements of `whole` that the result replaces
};

class Tree {
 public:
  /// \param facts         of the kernel's symbols, at every call
  /// \param constants     parameters that may be packed
  /// \param may_allocate  the caller gives the kernel scratch memory
  Tree(Context& context, Stmt root, arith::Facts facts = {}, const std::vector<BufferRef>& constants = {},
       bool may_allocate = true);

  /// What primitives see: the nests in focus, or the section, or the kernel.
  Stmt root() const { return root_; }
  void set_root(Stmt root) { root_ = root; }
  const tir::For& loop(uint32_t id) const;
  const tir::Block& block(uint32_t id) const;
  /// Replaces the loop by what `f` makes of it, after everything inside of it was rebuilt.
  template <typename F>
  void edit_loop(uint32_t id, F f) {
    edit<tir::For>(id, f);
  }
  template <typename F>
  void edit_block(uint32_t id, F f) {
    edit<tir::Block>(id, f);
  }
  /// Every statement by what `f` makes of it, null to drop it.
  template <typename F>
  void edit_statements(F f) {
    tir::Rewriter rewriter;
    rewriter.on_stmt = f;
    root_ = tir::rewrite(context(), root_, rewriter);
  }

  Context& context() const { return *context_; }
  const arith::Facts& facts() const { return *facts_; }
  bool may_allocate() const { return may_allocate_; }
  /// The result may be in the memory of an operand, each element where the same one of the operand was.
  bool may_overwrite_operands() const { return may_overwrite_operands_; }
  void let_overwrite_operands(bool overwrites) { may_overwrite_operands_ = overwrites; }
  /// The steps that made it.
  const Trace& trace() const { return trace_; }
  void note(NamedStep step) { trace_.push_back(std::make_shared<const NamedStep>(std::move(step))); }
  void set_trace(Trace trace) { trace_ = std::move(trace); }

  // ---- constants

  std::vector<Operand>& operands() { return operands_; }
  const std::vector<Operand>& operands() const { return operands_; }
  std::vector<PackedParam>& packed() { return packed_; }
  const std::vector<PackedParam>& packed() const { return packed_; }
  /// Constants that only `nests`, of those in focus, read.
  std::vector<BufferRef> constants_of(const std::vector<Stmt>& nests) const;
  /// The same of all that is in focus.
  std::vector<BufferRef> own_constants() const { return constants_of({root_}); }

  // ---- focus: what is outside is asked two questions only, who else reads a buffer and what it is a view of

  const CutOutStatements& focused() const { return focus_; }
  bool is_whole() const { return !focus_.whole && !section_.whole; }
  /// Steps see these statements of the kernel, which are consecutive in one sequence.
  void take_section(std::vector<Stmt> statements);
  void take_focus(std::vector<Stmt> nests);
  void leave_focus() { restore_cut_out(focus_); }
  void leave_section();
  /// The buffer behind all views.
  BufferRef memory_of(BufferRef buffer) const;
  /// Whether only `nests`, of those in focus, read what is stored to `buffer`: it is memory of the kernel.
  bool is_non_escaping(BufferRef buffer, const std::vector<Stmt>& nests) const;
  /// The same of all that is in focus.
  bool is_non_escaping(BufferRef buffer) const { return is_non_escaping(buffer, {root_}); }
  /// Whether anything but `nests`, of those in focus, reads or writes `buffer`.
  bool is_used_outside(BufferRef buffer, const std::vector<Stmt>& nests) const;
  /// The same of all that is in focus.
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
  using Bases = std::map<BufferRef, BufferRef>;  ///< of views; looked up only
  template <typename T, typename F>
  void for_each_nest(Stmt tree, const std::vector<Stmt>& taken, F f) const;
  Bases bases() const;
  static BufferRef base_of(const Bases& bases, BufferRef buffer);

  Context* context_;
  std::shared_ptr<const arith::Facts> facts_;  ///< of all copies
  bool may_allocate_;
  bool may_overwrite_operands_ = false;
  Stmt root_;
  CutOutStatements section_;               ///< out of the kernel
  CutOutStatements focus_;                 ///< out of the section, or else of the kernel
  std::shared_ptr<NestFacts> nest_facts_;  ///< of all copies, which share nests
  Trace trace_;
  std::vector<Operand> operands_;
  std::vector<PackedParam> packed_;
};

}  // namespace relaxc::schedule
