// names.h: what names stand for in a prim func.
//
// Owns the scopes of the function and the symbols that it declares.
#pragma once

#include "compiler/support/result.h"
#include "compiler/tir/builder.h"
#include "frontends/relax/shared/save_and_restore.h"
#include "frontends/relax/shared/scope.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

struct PrimName {
  enum Kind : uint8_t { kPoison, kScalar, kBuffer, kHandle };
  Kind kind = kPoison;
  arith::Expr scalar;
  tir::BufferRef buffer = nullptr;
  size_t param = 0;       ///< kHandle: which parameter
  bool unbound = false;   ///< a symbol that no buffer's shape has bound yet
  size_t bound_in = 0;    ///< a scalar with a value: how many suites are open around its assignment
  size_t loop_level = 0;  ///< a loop variable: 1 + how many blocks with axes surround its loop
};

class PrimNames {
 public:
  using Binding = Scope<PrimName>::Binding;
  struct Symbol {
    std::string name;
    Place place;
  };

  PrimNames(arith::Context& context, SourceText& source) : context_(context), source_(source) {}
  PrimNames(const PrimNames&) = delete;

  /// Null for a name that stands for nothing.
  Binding* find(std::string_view name) { return scopes_.find(name); }
  /// The buffer of that name; reports anything else.
  Result<tir::BufferRef> find_buffer(const ast::Expr& e);
  /// The buffer of `A.shape`, of `*A.shape` and of `A.dtype` (`what` is the name behind the dot); null for all else.
  tir::BufferRef described(const ast::Expr& e, std::string_view what);

  void bind(const std::string& name, PrimName value, Place place) { scopes_.bind(name, std::move(value), place); }
  /// For all of the function.
  void bind_outermost(const std::string& name, PrimName value, Place place) {
    scopes_.bind_outermost(name, std::move(value), place);
  }
  void bind_buffer(const ast::Expr& target, tir::BufferRef buffer) {
    bind(target.text, {PrimName::kBuffer, {}, buffer}, target.place);
  }
  /// Makes the targets of a refused statement known as failures.
  void poison(const ast::Expr* target);
  /// A symbol that a shape gives its value.
  void declare_symbol(const std::string& name, Place place);
  const std::vector<Symbol>& symbols() const { return symbols_; }
  bool is_symbol(const std::string& name) const;
  /// Reports a name that stands for nothing.
  Failure unbound(const ast::Expr& e);

  /// Unknown names in shapes are symbols while it lives.
  class Declaring : SaveAndRestore<bool> {
   public:
    explicit Declaring(PrimNames& names) : SaveAndRestore(names.declaring_, true) {}
  };
  bool declaring() const { return declaring_; }

  /// Names have a frame of their own while it lives.
  class Inner : Scope<PrimName>::Inner {
   public:
    explicit Inner(PrimNames& names) : Scope<PrimName>::Inner(names.scopes_) {}
  };

 private:
  arith::Context& context_;
  SourceText& source_;
  Scope<PrimName> scopes_;
  std::vector<Symbol> symbols_;
  bool declaring_ = false;
};

}  // namespace relaxc::frontend
