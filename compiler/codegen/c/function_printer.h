// function_printer.h: one prim func's text while it is written.
//
// Loops stay loops. A vectorized one runs what is between its inner loops for all lanes (lane_printer.h), as the
// schedule that chose it means it; all others run serially, which gives the same bits.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c/expression.h"
#include "compiler/codegen/c/function.h"
#include "compiler/codegen/c/lane_printer.h"
#include "compiler/codegen/c/vector_expression.h"
#include "compiler/tir/index_widths.h"

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

 private:
  friend class LanePrinter;

  // function.cpp: what surrounds the statements
  void name_c_function(const tir::CFunction& function);
  void signature();
  std::set<tir::BufferRef> written_buffers() const;
  std::set<tir::BufferRef> changed_buffers() const;
  /// Tells the C compiler of what is declared and that nothing uses.
  void admit_unused(arith::Var var);
  void admit_unused(tir::BufferRef buffer);

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += std::string(static_cast<size_t>(indent_) * 2, ' ') + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }
  void open(const std::string& head);
  void close();
  /// Temporaries of a statement live in a scope of their own, if there are any.
  template <typename F>
  void scoped(const std::vector<std::string>& declarations, F print) {
    if (!declarations.empty()) open("{");
    for (const std::string& declaration : declarations) line("{}", declaration);
    print();
    expressions_.end_statement();
    if (!declarations.empty()) close();
  }
  /// The text of `e`; its temporaries stay visible to what follows in the enclosing scope.
  std::string hoisted(arith::Expr e);
  /// The same, under a name of its own if `bad` says whether it is right: it is computed before that is asked.
  std::string computed(arith::Expr e);
  /// `computed_by`: the guard whose condition has just been printed.
  void check_overflow(const tir::Guard* computed_by = nullptr);

  // statement.cpp
  /// One of several statements: what it declares is its own.
  void statement(tir::Stmt s);
  /// All that is between two braces. Scopes that reach to the end need none of their own, however many there are.
  void suite(tir::Stmt s);
  tir::Stmt step(tir::Stmt s);  ///< gives what is still to be printed
  tir::Stmt print_seq(const tir::Seq& node);
  tir::Stmt print_let(const tir::Let& node);
  tir::Stmt print_alloc(const tir::Alloc& node);
  tir::Stmt print_view(const tir::View& node);
  void print_address(const std::string& type, const tir::View& node);
  void print(const tir::For& node);
  void print_loop(const tir::For& node);
  std::string counter_type(const tir::For& node);
  void print(const tir::While& node);
  void print(const tir::Break& node);
  void print(const tir::Continue& node);
  void print(const tir::If& node);
  void print(const tir::Store& node);
  void print(const tir::Block& node);
  void print(const tir::Guard& node);
  std::string first_step(const tir::Block& node);

  // invoke.cpp: calls
  void print(const tir::Invoke& node);
  void trace(int32_t node, bool begin);
  void poll(int32_t node);
  std::string handle_argument(tir::BufferRef buffer, int32_t node, std::vector<std::string>& results);
  std::string failed(const std::string& status, int32_t node);
  std::string tensor_record(tir::BufferRef buffer);

  /// Copies of a loop's body in place of the loop.
  void unroll(const tir::For& node);

  const tir::PrimFunc& function_;
  const Conventions& conventions_;
  FunctionStyle style_;
  Convention own_;
  std::optional<tir::IndexRanges> ranges_;  ///< of a function whose index arithmetic is checked
  std::optional<tir::IndexWidths> widths_;  ///< of a function that keeps indices in 32 bits
  bool checks_ = false;                     ///< something sets `bad`
  Names names_;
  Expressions expressions_;
  std::set<uint32_t> used_vars_;     ///< by id
  std::set<uint32_t> rebound_vars_;  ///< by several lets, not all of which need be used
  std::set<tir::BufferRef> used_buffers_;
  std::set<tir::BufferRef> renamed_buffers_;           ///< by several views or allocations, likewise
  std::string context_ = "context", error_ = "error";  ///< what calls get
  std::string out_;
  int indent_ = 0;
  LanePrinter lanes_{*this};
};

}  // namespace relaxc::codegen_c
