// interpreter_compiler.h: compiles statements of TIR to flat code.
#pragma once

#include <vector>

#include "compiler/tir/interpreter_values.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir::interpreter {

/// The code of a run in which a view is not inside of its base's memory, which only an invalid program does. It is no
/// value of rlx_status.
constexpr int32_t kOutsideMemory = -3;

class Compiler {
 public:
  Compiler(const PrimFunc& function, const CodeOptions& options)
      : function_(function),
        options_(options),
        guards_(function, code_),
        values_(function, code_, guards_, options.math_calls) {}

  Program run();

 private:
  void add_scalar(Var var, uint32_t reg);

  /// Compiles `body` as a nested body and appends its code.
  template <typename F>
  void nested(F body) {
    values_.end_statement();
    code_.begin_body();
    values_.begin_body();
    body();
    values_.end_statement();
    values_.end_body();
    code_.end_body();
  }

  void statement(Stmt s);

  /// Each returns the last statement of the scope that it opens; `owned` receives memory that is freed at the end.
  Stmt enter(const Seq& node);
  Stmt enter(const Let& node);
  Stmt enter(const Alloc& node, std::vector<uint32_t>& owned);
  Stmt enter(const View& node);
  void require_inside(const View& node);
  uint32_t rounded_up(uint32_t address, int64_t alignment);
  void run(const For& node);
  void run(const While& node);
  void run(const Break&) { code_.emit({.op = Op::kJump, .extra = exits_.back().leave}); }
  void run(const Continue&) { code_.emit({.op = Op::kJump, .extra = exits_.back().next}); }
  void run(const If& node);
  void run(const Store& node);
  void run(const Block& node);
  void run_init(const Block& node);
  void run(const Guard& node);
  void run(const Invoke& node);

  const PrimFunc& function_;
  const CodeOptions options_;
  Program program_;
  Assembler code_;
  GuardTable guards_;
  ValueCompiler values_;
  struct Exits {
    int64_t leave, next;  ///< labels
  };
  std::vector<Exits> exits_;  ///< of the loops around, outermost first
};

}  // namespace relaxc::tir::interpreter
