// function_printer.h: one prim func's text while it is written.
//
// Loops stay loops. A vectorized one runs what is between its inner loops for all lanes (lane_printer.h), as the
// schedule that chose it means it; all others run serially, which gives the same bits. The printer knows statements;
// what they use is computed by the lines of a ValuePrinter.
#pragma once

#include <set>
#include <string>

#include "compiler/codegen/c/call_printer.h"
#include "compiler/codegen/c/function_uses.h"
#include "compiler/codegen/c/lane_printer.h"
#include "compiler/codegen/c/value_printer.h"

namespace relaxc::codegen_c {

/// Inside of a vectorized loop such a loop is printed as copies of its body.
bool is_copied(const tir::For& loop);

class FunctionPrinter {
 public:
  FunctionPrinter(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style,
                  std::set<std::string>& helpers);
  FunctionPrinter(const FunctionPrinter&) = delete;
  FunctionPrinter& operator=(const FunctionPrinter&) = delete;

  std::string prototype();
  std::string run();

  // What a printer of vectorized loops asks for.

  /// One of several statements: what it declares is its own.
  void statement(tir::Stmt s);
  /// All that is between two braces. Scopes that reach to the end need none of their own, however many there are.
  void suite(tir::Stmt s);
  tir::Stmt step(tir::Stmt s);  ///< gives what is still to be printed
  tir::Stmt print_let(const tir::Let& node);
  void print_loop(const tir::For& node);
  void print(const tir::Store& node);
  /// Tells the C compiler of what is declared and that nothing uses.
  void admit_unused(arith::Var var);
  void admit_unused(tir::BufferRef buffer);

 private:
  // function.cpp: what surrounds the statements
  void name_c_function(const tir::CFunction& function);
  std::string head();
  std::string parameters();
  std::string parameter(tir::BufferRef buffer, bool constant, bool alone);

  // statement.cpp
  tir::Stmt print_seq(const tir::Seq& node);
  tir::Stmt print_alloc(const tir::Alloc& node);
  tir::Stmt print_view(const tir::View& node);
  void print_address(const std::string& type, const tir::View& node);
  void print(const tir::For& node);
  void print(const tir::While& node);
  void print(const tir::Break& node);
  void print(const tir::Continue& node);
  void print(const tir::If& node);
  void print(const tir::Block& node);
  void print(const tir::Guard& node);
  void print(const tir::Invoke& node) { calls_.print(node); }
  std::string first_step(const tir::Block& node);
  /// Copies of a loop's body in place of the loop.
  void unroll(const tir::For& node);

  const tir::PrimFunc& function_;
  const FunctionStyle& style_;
  Convention own_;
  FunctionUses uses_;
  Handed handed_;
  Names names_;
  TextLines out_;
  ValuePrinter values_;
  CallPrinter calls_;
  LanePrinter lanes_;
};

}  // namespace relaxc::codegen_c
