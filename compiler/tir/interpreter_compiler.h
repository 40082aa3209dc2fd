// interpreter_compiler.h: TIR to flat code: what is shared by statements and control (interpreter_compile.cpp) and by
// scalar expressions (interpreter_compile_expr.cpp).
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/tir/interpreter_assembler.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir::interpreter {

/// Instructions that read and write an element.
Op load_op(DType dtype);
Op store_op(DType dtype);

class Compiler {
 public:
  explicit Compiler(const PrimFunc& function) : function_(function), checked_(function.checks.overflow_code != 0) {}

  Program run();

 private:
  struct Known {
    uint32_t reg = 0;
    size_t level = 0;
    bool loads = false;
  };

  void add_scalar(Var var, uint32_t reg) {
    program_.scalar_params.push_back(reg);
    program_.scalar_dtypes.push_back(var.dtype());
    known_[var] = {reg, 0, false};
  }

  /// Compiles `body` as a body of its own (a level) and appends its code.
  template <typename F>
  void nested(F body) {
    end_statement();
    code_.begin_body();
    values_.emplace_back();
    body();
    end_statement();
    for (Expr e : values_.back()) known_.erase(e);
    values_.pop_back();
    code_.end_body();
  }

  void end_statement();
  void keep(Expr e, Known known);

  // ---- expressions

  uint32_t reg(Expr e);
  void compute(Expr e);
  uint32_t constant(Register value);
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
  uint32_t offset(BufferRef buffer, const std::vector<Expr>& indices);
  uint32_t field_offset(const arith::Load& n);
  uint32_t access(BufferRef buffer);
  uint32_t load(const arith::Load& n, size_t level);

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
  void run(const Break&) { code_.emit({.op = Op::kJump, .extra = exits_.back().leave}); }
  void run(const Continue&) { code_.emit({.op = Op::kJump, .extra = exits_.back().next}); }
  void run(const If& node);
  void run(const Store& node);
  void run(const Block& node);
  void run_init(const Block& node);
  void run(const Guard& node);
  int64_t overflow_guard();
  void run(const Invoke& node);

  const PrimFunc& function_;
  bool checked_;
  const Guard* guard_ = nullptr;               ///< whose condition is being computed
  std::map<const Guard*, int64_t> overflows_;  ///< places in `program_.guards`
  Program program_;
  Assembler code_;
  std::vector<std::vector<Expr>> values_ =
      std::vector<std::vector<Expr>>(1);  ///< of each body around: what is computed in it
  std::unordered_map<Expr, Known> known_;
  std::vector<Expr> with_loads_;
  std::unordered_set<Expr> certain_;  ///< of the expression being compiled
  std::unordered_map<BufferRef, uint32_t> address_, size_, name_;
  struct Exits {
    int64_t leave, next;  ///< labels
  };
  std::vector<Exits> exits_;  ///< of the loops around
};

}  // namespace relaxc::tir::interpreter
