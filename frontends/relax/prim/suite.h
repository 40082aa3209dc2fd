// suite.h: the statements of a suite while it is read.
//
// Python's statements are flat where TIR's nest: a buffer or a scalar holds for the rest of its suite. A suite is
// therefore read into pieces, one an opening, and folded from its end, so that a suite of a thousand openings does not
// recurse while it is read.
#pragma once

#include <functional>

#include "compiler/tir/builder.h"
#include "frontends/relax/prim/names.h"

namespace relaxc::frontend {

/// What is open in a function.
struct Open {
  size_t scopes = 0;  ///< openings in all suites around
  size_t suites = 0;
  bool tail = true;  ///< what is read is the last that the function does
};

/// Names that a suite binds are known, and what it opens counts, while it lives.
class Suite {
 public:
  /// What an opening makes of all that follows it.
  using Wrap = std::function<tir::Stmt(tir::Stmt)>;

  Suite(PrimNames& names, tir::Builder& builder, Open& open);
  Suite(const Suite&) = delete;
  ~Suite();

  void add(tir::Stmt stmt) { pieces_.back().stmts.push_back(stmt); }
  /// Opens a scope, which reaches to the end of the suite. `first` begins it; `view`: the view that it opens.
  void open(Wrap wrap, std::vector<tir::Stmt> first = {}, tir::BufferRef view = nullptr);
  /// Reports an opening that is one too many: walks over TIR go along scopes that reach to the end of a suite, they do
  /// not recurse into them.
  Status check_room(SourceText& source, Place place) const;
  /// Whether the suite itself has opened `view`, which is still open.
  bool has_open(tir::BufferRef view) const { return find(view) < pieces_.size(); }
  /// Ends the scope of `view` and those inside of it. Scopes that were opened since and hold nothing yet are not
  /// inside: they begin what comes next.
  void end(tir::BufferRef view);
  /// A statement that is beside this suite and sees the views that it has opened.
  tir::Stmt with_views(tir::Stmt stmt) const;
  /// All statements as one; once.
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
