// builder.h: makes TIR; used by operators and passes.
//
// Nodes are made in the Context's arena. Functions for loops take lambdas that receive the loop variables, so that a
// definition reads like its formula.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

using Indices = std::vector<Expr>;

class Builder {
 public:
  explicit Builder(Context& context) : context_(context) {}
  Context& context() const { return context_; }

  BufferRef buffer(std::string name, DType dtype, std::vector<Expr> shape, Scope scope = Scope::kGlobal,
                   uint32_t alignment = 0);
  /// Makes an array of `count` structs.
  BufferRef records(std::string name, const Record& record, Expr count);
  /// Returns a load of a field of the struct at index `at`.
  Expr field(BufferRef records, Expr at, std::string_view name);
  Expr field(BufferRef records, std::string_view name) { return field(records, index(0), name); }
  /// Returns the address of an array of structs, as an index; 0 is C's null pointer.
  Expr address(BufferRef records) { return context_.load(records, DType::index(), {}); }

  Stmt seq(
      std::vector<Stmt> body);  ///< flattens nested sequences and drops nulls; a single statement is returned as it is
  Stmt loop(std::string name, Expr extent, const std::function<Stmt(Var)>& body, LoopKind kind = LoopKind::kSerial);
  Stmt loop(Var var, Expr min, Expr extent, Stmt body, LoopKind kind = LoopKind::kSerial);
  Stmt loop_while(Expr condition, Stmt body);
  Stmt leave_loop();
  Stmt next_iteration();
  Stmt branch(Expr condition, Stmt then_body, Stmt else_body = {});
  Stmt let(Var var, Expr value, Stmt body);
  Stmt let(std::string name, Expr value, const std::function<Stmt(Var)>& body);
  Stmt alloc(BufferRef buffer, Stmt body);
  Stmt view(BufferRef buffer, BufferRef base, Expr byte_offset, Stmt body, uint32_t round_up = 0);
  Stmt store(BufferRef buffer, Indices indices, Expr value);
  Stmt block(Block block);  ///< gives the block an id if it has none
  Stmt guard(Guard guard);
  Stmt invoke(Invoke invoke);

  /// Makes a loop nest over `shape` around one spatial block: `out[i...] = value(i...)`.
  Stmt compute(BufferRef out, const std::function<Expr(const Indices&)>& value, std::string name = {});
  /// Makes a loop nest over `out`'s shape and `reduce_extents` around one block: out[i] = init; out[i] =
  /// combine(out[i], i, r).
  Stmt reduce(BufferRef out, const std::vector<Expr>& reduce_extents, Expr init,
              const std::function<Expr(Expr accumulator, const Indices& i, const Indices& r)>& combine,
              std::string name = {});
  /// Makes a loop nest over `extents` without a block, for opaque definitions; `body` receives the loop variables.
  Stmt nest(const std::vector<Expr>& extents, const std::function<Stmt(const Indices&)>& body);

  Expr load(BufferRef buffer, Indices indices) { return (*buffer)(context_, std::move(indices)); }
  Expr index(int64_t value) { return context_.index(value); }

 private:
  template <typename T>
  Stmt make(T node) {
    return Stmt(context_.arena().make<T>(std::move(node)));
  }
  Context& context_;
};

/// Sets PrimFunc::symbols from the parameters' shapes.
void collect_symbols(PrimFunc& function);

}  // namespace relaxc::tir
