// suite.h: collects the statements of a suite and nests them.
//
// Python's statements are flat where TIR's are nested: a buffer or a scalar is valid for the rest of its suite. So a
// suite is read into pieces, one for each opening, and nested from its end; a suite of a thousand openings needs no
// recursion.
#pragma once

#include <functional>

#include "compiler/tir/builder.h"
#include "frontends/relax/prim/names.h"

namespace relaxc::frontend {

/// The nesting at the current point of a function.
struct Open {
  size_t scopes = 0;  ///< openings in all enclosing suites
  size_t suites = 0;
  bool tail = true;  ///< whether nothing of the function follows the current statement
};

/// The scope of a suite: while it lives, its names are known and its openings count.
class Suite {
 public:
  /// Encloses all statements that follow an opening.
  using Wrap = std::function<tir::Stmt(tir::Stmt)>;

  Suite(PrimNames& names, tir::Builder& builder, Open& open);
  Suite(const Suite&) = delete;
  ~Suite();

  void add(tir::Stmt stmt) { pieces_.back().stmts.push_back(stmt); }
  /// Opens a scope up to the end of the suite. `first` are its first statements; `view` is the view that it opens.
  void open(Wrap wrap, std::vector<tir::Stmt> first = {}, tir::BufferRef view = nullptr);
  /// Reports an opening beyond a limit, which can be high, since walks over TIR iterate along scopes that reach to the
  /// end of a suite and do not recurse into them.
  Status check_room(SourceText& source, Place place) const;
  /// Returns whether this suite has opened `view`, which is still open.
  bool has_open(tir::BufferRef view) const { return find(view) < pieces_.size(); }
  /// Ends the scope of `view` and those inside of it. Later scopes without statements are kept: they begin the
  /// following statements.
  void end(tir::BufferRef view);
  /// Returns a statement that is outside of this suite, inside of the views of the suite that it uses.
  tir::Stmt with_views(tir::Stmt stmt) const;
  /// Returns all statements as one; may be called once.
  tir::Stmt finish();

 private:
  struct Piece {
    Wrap wrap;
    std::vector<tir::Stmt> stmts;
    tir::BufferRef view = nullptr;
  };

  size_t find(tir::BufferRef view) const;
  void close(size_t left);

  tir::Builder& builder_;
  Open& open_;
  PrimNames::Inner names_;
  std::vector<Piece> pieces_;
};

}  // namespace relaxc::frontend
