// function_printer.h: prints the text of one prim func.
//
// Loops stay loops. A vectorized loop runs each statement between its inner loops for all lanes (lane_printer.h), as
// the schedule intends; all other loops run serially, which gives the same bits. This class prints statements; a
// ValuePrinter prints the lines that compute their operands.
#pragma once

#include <set>
#include <string>

#include "compiler/codegen/c/call_printer.h"
#include "compiler/codegen/c/function_uses.h"
#include "compiler/codegen/c/lane_printer.h"
#include "compiler/codegen/c/value_printer.h"

namespace relaxc::codegen_c {

/// Whether the loop, inside of a vectorized one, is printed as copies of its body.
bool is_copied(const tir::For& loop);

class FunctionPrinter {
 public:
  FunctionPrinter(const tir::PrimFunc& function, const Conventions& conventions, const FunctionStyle& style,
                  std::set<std::string>& helpers);
  FunctionPrinter(const FunctionPrinter&) = delete;
  FunctionPrinter& operator=(const FunctionPrinter&) = delete;

  std::string prototype();
  std::string run();

  // Called by LanePrinter:

  /// Prints one of several statements, in a scope of its own if it declares anything.
  void statement(tir::Stmt s);
  /// Prints the statements between two braces. Declarations that reach to the end of the suite open no further scope.
  void suite(tir::Stmt s);
  tir::Stmt step(tir::Stmt s);  ///< prints the outermost node; returns the statement that is left
  tir::Stmt print_let(const tir::Let& node);
  void print_loop(const tir::For& node);
  void print(const tir::Store& node);
  /// Keeps the C compiler from warning about a variable or buffer that is declared and not used.
  void admit_unused(arith::Var var);
  void admit_unused(tir::BufferRef buffer);

 private:
  // function.cpp: the function's head and parameters
  void name_c_function(const tir::CFunction& function);
  std::string head();
  std::vector<std::string> contract();
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
  /// Prints copies of a loop's body instead of the loop.
  void unroll(const tir::For& node);

  const tir::PrimFunc& function_;
  const FunctionStyle& style_;
  const Conventions& conventions_;
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
