// names.h: the names of a prim func and their meanings.
//
// Has the scopes of the function and the symbols that it declares.
#pragma once

#include <set>

#include "compiler/support/result.h"
#include "compiler/tir/builder.h"
#include "frontends/relax/shared/globals.h"
#include "frontends/relax/shared/save_and_restore.h"
#include "frontends/relax/shared/scope.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

struct PrimName {
  enum Kind : uint8_t { kPoison, kScalar, kBuffer, kHandle, kLoops, kLanes };
  Kind kind = kPoison;
  arith::Expr scalar;
  tir::BufferRef buffer = nullptr;      ///< kBuffer, kLanes: whose elements are the lanes of a value
  size_t param = 0;                     ///< kHandle: index of the parameter
  bool unbound = false;                 ///< a symbol that no buffer's shape has bound yet
  bool without_memory = false;          ///< a buffer that no T.realize has given memory yet
  size_t bound_in = 0;                  ///< of a scalar with a value: number of suites around its assignment
  size_t loop_level = 0;                ///< of loop variables: 1 + number of blocks with axes around the loop
  std::vector<arith::Expr> loops = {};  ///< kLoops: the variables of several loops that have one name
};

class PrimNames {
 public:
  using Binding = Scope<PrimName>::Binding;
  struct Symbol {
    std::string name;
    Place place;
  };

  explicit PrimNames(ModuleScope& scope)
      : context_(scope.module.context()), source_(scope.source), bound_(scope.bound) {}
  PrimNames(const PrimNames&) = delete;

  /// Returns null for an unknown name.
  Binding* find(std::string_view name) { return scopes_.find(name); }
  /// Returns the buffer of that name; reports anything else.
  Result<tir::BufferRef> find_buffer(const ast::Expr& e);
  /// Returns the buffer of `A.data`, or of the name of allocated memory; null for anything else. Lowered code counts
  /// the elements of such a pointer from the first one, whatever its dims.
  tir::BufferRef pointed_to(const ast::Expr& e);
  /// Says that a buffer is what T.allocate gave, which TVM before 0.10 uses as a pointer.
  void note_allocated(tir::BufferRef buffer) { allocated_.insert(buffer); }
  /// Returns A for `A.shape`, `*A.shape` and `A.dtype` (`what` is the name after the dot); null for other expressions.
  tir::BufferRef described(const ast::Expr& e, std::string_view what);

  void bind(const std::string& name, PrimName value, Place place);
  /// Binds a name for the whole function.
  void bind_outermost(const std::string& name, PrimName value, Place place);
  void bind_buffer(const ast::Expr& target, tir::BufferRef buffer) {
    bind(target.text, {PrimName::kBuffer, {}, buffer}, target.place);
  }
  /// Marks the targets of an invalid statement as failed, so that their uses are not reported.
  void poison(const ast::Expr* target);
  /// Declares a symbol that a shape binds.
  void declare_symbol(const std::string& name, Place place);
  /// Says that a variable is an int64 in the text, where others are int32.
  void note_long(arith::Expr variable) { long_.insert(variable.node()); }
  /// Whether an index is an int64 in the text: it has such a variable.
  bool is_long(arith::Expr e) const;
  /// Whether the text of an extent says int64: by T.int64 or by a variable that is one.
  bool says_long(const ast::Expr& e);
  const std::vector<Symbol>& symbols() const { return symbols_; }
  bool is_symbol(const std::string& name) const;
  /// Reports an unknown name.
  Failure unbound(const ast::Expr& e);

  /// While it lives, unknown names in shapes become symbols.
  class Declaring : SaveAndRestore<bool> {
   public:
    explicit Declaring(PrimNames& names) : SaveAndRestore(names.declaring_, true) {}
  };
  bool declaring() const { return declaring_; }

  /// Opens a frame of names while it lives.
  class Inner : Scope<PrimName>::Inner {
   public:
    explicit Inner(PrimNames& names) : Scope<PrimName>::Inner(names.scopes_) {}
  };

 private:
  /// Tells the observer of the file, if there is one.
  void tell(const std::string& name, const PrimName& value, Place place) const;

  arith::Context& context_;
  SourceText& source_;
  const TellBinding& bound_;
  Scope<PrimName> scopes_;
  std::vector<Symbol> symbols_;
  std::set<tir::BufferRef> allocated_;
  std::set<const arith::Node*> long_;
  bool declaring_ = false;
};

}  // namespace relaxc::frontend
