// prim_func.h: the tree of a @T.prim_func to TIR.
//
// prim_func.cpp has the signature, buffers and names; prim_stmt.cpp the statements; prim_block.cpp blocks and loops.
#pragma once

#include <functional>

#include "compiler/arith/simplify.h"
#include "compiler/tir/builder.h"
#include "frontends/relax/scalar.h"
#include "frontends/relax/scope.h"

namespace relaxc::frontend {

/// What a name stands for inside a prim func.
struct PrimName {
  enum Kind : uint8_t { kPoison, kScalar, kBuffer, kHandle };
  Kind kind = kPoison;
  arith::Expr scalar;
  tir::BufferRef buffer = nullptr;
  size_t param = 0;      ///< kHandle: which parameter
  bool unbound = false;  ///< a symbol that no buffer's shape has bound yet
};

class PrimFuncReader : ScalarReader {
 public:
  PrimFuncReader(arith::Context& context, SourceText& source, ast::Tree& tree)
      : ScalarReader(context, source), tree_(tree), builder_(context) {}

  Result<tir::PrimFunc> run(const ast::Stmt& definition);

 private:
  using Body = std::vector<const ast::Stmt*>;
  /// Statements in order; an allocation or binding opens a piece that holds all that follows it.
  struct Piece {
    std::function<tir::Stmt(tir::Stmt)> wrap;
    std::vector<tir::Stmt> stmts;
    tir::BufferRef view = nullptr;  ///< the view that it opens
  };
  using Suite = std::vector<Piece>;

  // Signature.
  Status decorators(const ast::Stmt& definition);
  Status parameter(const ast::Parameter& parameter);
  Status type_parameters(const ast::Stmt& definition);
  Status function_attributes(const ast::Expr& call);
  Status attribute(const ast::Expr& key, const ast::Expr& value);
  Status finish_signature(const ast::Stmt& definition);

  // Buffers and names.
  Result<tir::BufferRef> buffer_annotation(const ast::Expr& annotation, const std::string& name);
  /// T.match_buffer, T.alloc_buffer and kin: `first` is the position of the shape among the arguments.
  Result<tir::BufferRef> buffer(const ast::Expr& call, size_t first, const std::string& name);
  Result<std::vector<arith::Expr>> shape(const ast::Expr& e);
  Result<arith::Expr> dim(const ast::Expr& e);
  Result<tir::Scope> storage(const ast::Expr& call);
  Result<tir::BufferRef> find_buffer(const ast::Expr& e);
  Result<std::vector<arith::Expr>> subscripts(tir::BufferRef buffer, const ast::Expr& e);
  Result<Scalar> name(const ast::Expr& e) override;
  Result<Scalar> subscript(const ast::Expr& e) override;
  Failure unbound(const ast::Expr& e);
  void bind(const std::string& name, PrimName value, Place place) { names_.bind(name, std::move(value), place); }
  void poison(const ast::Expr* target);

  // Statements.
  Result<tir::Stmt> suite(const Body& body);
  Status statement(const ast::Stmt& stmt, Suite& out);
  /// Ends pieces until `left` are left.
  void close(Suite& pieces, size_t left);
  void reopen(Suite& pieces, size_t left);
  Status assignment(const ast::Stmt& stmt, Suite& out);
  Status declare(const std::string& callee, const ast::Stmt& stmt, Suite& out, bool& done);
  Status open_buffer(const std::string& callee, const ast::Stmt& stmt, Suite& out);
  Result<std::pair<tir::BufferRef, arith::Expr>> memory_of(const ast::Expr& data, const ast::Keyword* byte_offset);
  Status match_buffer(const ast::Stmt& stmt);
  Status declare_symbols(const ast::Stmt& stmt, bool& done);
  void declare_symbol(const std::string& name, Place place);
  Status store(const ast::Expr& target, const ast::Expr& value, const std::string& op, Suite& out);
  Status let(const ast::Stmt& stmt, Suite& out);
  Status expression(const ast::Stmt& stmt, Suite& out);
  Status loop(const ast::Expr& iterator, const ast::Expr& target, const Body& body, Suite& out);
  Result<tir::Stmt> nest(const ast::Expr& iterator, const ast::Expr& target, const Body& body);
  Status with(const ast::Stmt& stmt, Suite& out);
  Status guard(const ast::Expr& call, Suite& out);
  Status invoke(const ast::Expr& call, Suite& out);

  // Blocks.
  Status block(const ast::Stmt& stmt, const ast::Expr& head, Suite& out);
  Status axes(const std::string& callee, const ast::Stmt& stmt);
  Status remap(const ast::Stmt& stmt, const std::vector<const ast::Expr*>& targets);
  Status add_axis(tir::IterKind kind, arith::Expr min, arith::Expr extent, arith::Expr binding,
                  const ast::Expr& target);
  Status block_clause(const std::string& callee, const ast::Expr& call, bool& done);
  Status regions(const ast::Expr& call, std::vector<tir::BufferRegion>& out);

  ast::Tree& tree_;
  tir::Builder builder_;
  Scope<PrimName> names_;
  tir::PrimFunc function_;
  std::vector<std::pair<std::string, Place>> symbols_;  ///< declared ones
  std::vector<std::pair<std::string, Place>> param_names_;
  tir::Block* block_ = nullptr;                  ///< the block whose clauses are being read
  std::map<uint32_t, tir::Span> loop_ranges_;    ///< of each loop variable, by its id
  std::map<std::string, tir::BufferRef> views_;  ///< the latest view of each name
  size_t open_scopes_ = 0;
  size_t loop_depth_ = 0;
  bool pattern_ = false;  ///< unknown names in shapes become symbols
};

/// The targets of an assignment or loop: one name, or the names of a tuple.
std::vector<const ast::Expr*> targets_of(const ast::Expr& target);

}  // namespace relaxc::frontend
