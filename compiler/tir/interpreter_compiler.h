// interpreter_compiler.h: TIR to flat code: what is shared by statements and control (interpreter_compile.cpp) and by
// scalar expressions (interpreter_compile_expr.cpp).
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/tir/interpreter_code.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir::interpreter {

class Compiler {
 public:
  explicit Compiler(const PrimFunc& function) : function_(function), checked_(function.checks.overflow_code != 0) {}

  Program run();

 private:
  /// A body: function, loop body, branch. `values` are the nodes computed here.
  struct Level {
    std::vector<Instruction> code;
    std::vector<Expr> values;
  };
  struct Known {
    uint32_t reg = 0;
    size_t level = 0;
    bool loads = false;
  };

  uint32_t fresh() { return next_register_++; }
  size_t top() const { return levels_.size() - 1; }

  void add_scalar(Var var, uint32_t reg) {
    program_.scalar_params.push_back(reg);
    program_.scalar_dtypes.push_back(var.dtype());
    known_[var] = {reg, 0, false};
  }

  uint32_t emit(Instruction instruction) { return emit_at(top(), instruction); }
  uint32_t emit_at(size_t level, Instruction instruction) {
    levels_[level].code.push_back(instruction);
    return instruction.dst;
  }

  // Labels: a jump names a label until all code is joined.
  int64_t new_label() {
    label_positions_.push_back(-1);
    return static_cast<int64_t>(label_positions_.size()) - 1;
  }
  void place(int64_t label) { emit({.op = Op::kMove, .dst = kLabel, .extra = label}); }
  void resolve_labels();

  /// Compiles `body` as a level of its own and appends its code.
  template <typename F>
  void nested(F body) {
    end_statement();
    levels_.push_back({});
    body();
    end_statement();
    Level level = std::move(levels_.back());
    levels_.pop_back();
    for (Expr e : level.values) known_.erase(e);
    auto& outer = levels_.back().code;
    outer.insert(outer.end(), level.code.begin(), level.code.end());
  }

  void end_statement();

  void keep(Expr e, Known known);

  // ---- expressions

  uint32_t reg(Expr e);

  static std::unordered_set<Expr> certain_nodes(Expr root);

  void compute(Expr e);

  uint32_t constant(Register value);

  uint32_t op(size_t level, Op code, std::vector<uint32_t> in, DType dtype = {}, int64_t extra = 0);
  uint32_t fit(size_t level, uint32_t reg, DType dtype);

  uint32_t node(Expr e, size_t level, const std::vector<uint32_t>& in);

  uint32_t binary(const arith::Binary& n, size_t level, const std::vector<uint32_t>& in);

  uint32_t cast(DType from, DType to, size_t level, uint32_t in);

  uint32_t call(const arith::Call& n, size_t level, const std::vector<uint32_t>& in);

  uint32_t external(const arith::Extern& n, size_t level, const std::vector<uint32_t>& in);
  uint32_t add_call(size_t level, Op op, CallRecord record);

  uint32_t bitcast(DType from, DType to, size_t level, uint32_t in);

  // ---- memory

  void declare(BufferRef buffer);
  static Expr count_of(const Buffer& buffer);

  uint32_t offset(BufferRef buffer, const std::vector<Expr>& indices);
  uint32_t field_offset(const arith::Load& n);

  uint32_t access(BufferRef buffer, bool store);

  uint32_t load(const arith::Load& n, size_t level);
  static Op load_op(DType dtype);
  static Op store_op(DType dtype);

  // ---- statements

  void statement(Stmt s);

  /// These give the statement that ends the scope that they open; `owned` gets what is to be freed there.
  Stmt enter(const Seq& node);
  Stmt enter(const Let& node);
  Stmt enter(const Alloc& node, std::vector<uint32_t>& owned);
  Stmt enter(const View& node);
  uint32_t rounded_up(uint32_t address, int64_t alignment);

  void bind(Var var, Known known) { keep(var, known); }
  void bind_value(Var var, Expr e);

  void run(const For& node);

  void run(const While& node);

  void run(const Break&) { emit({.op = Op::kJump, .extra = exits_.back().leave}); }
  void run(const Continue&) { emit({.op = Op::kJump, .extra = exits_.back().next}); }

  void run(const If& node);

  void run(const Store& node);

  void run(const Block& node);

  void run_init(const Block& node);

  void run(const Guard& node);
  int64_t overflow_guard();

  void run(const Invoke& node);

  static constexpr uint32_t kLabel = UINT32_MAX;
  const PrimFunc& function_;
  bool checked_;
  const Guard* guard_ = nullptr;               ///< whose condition is being computed
  std::map<const Guard*, int64_t> overflows_;  ///< places in `program_.guards`
  Program program_;
  std::vector<Level> levels_;
  std::unordered_map<Expr, Known> known_;
  std::vector<Expr> with_loads_;
  std::unordered_set<Expr> certain_;  ///< of the expression being compiled
  std::unordered_map<BufferRef, uint32_t> address_, size_, name_;
  std::vector<int64_t> label_positions_;
  struct Exits {
    int64_t leave, next;  ///< labels
  };
  std::vector<Exits> exits_;  ///< of the loops around
  uint32_t next_register_ = 0;
};

}  // namespace relaxc::tir::interpreter
