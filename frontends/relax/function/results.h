// results.h: the declared results of a function, and the values of its `return`.
#pragma once

#include <utility>
#include <vector>

#include "compiler/relax/graph.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

class Results {
 public:
  Results(const ast::Stmt& definition, SourceText& source) : definition_(definition), source_(source) {}
  Results(const Results&) = delete;

  /// Sets the results by the function's annotation; R.Object declares nothing.
  void declare(relax::Info info);
  bool are_declared() const { return has_declared_; }
  const std::vector<relax::Info>& declared() const { return declared_; }
  /// Returns the declared results, which a use of the function in its own body needs; reports if there are none.
  Result<std::vector<relax::Info>> needed(Place place) const;

  /// Says whether the next statement is the last of its suite, after which nothing is computed.
  void at_end(bool last) { at_end_ = last; }
  /// Whether a 'return' is allowed here.
  bool may_return() const { return into_ != nullptr && at_end_; }
  /// Whether the current suite has had a 'return'.
  bool returned() const { return returned_; }
  bool nothing_may_follow() const { return returned_ && into_ != nullptr; }
  void give(std::vector<relax::Value*> values);
  void give_nothing() { returned_ = true; }

  /// While it lives, 'return' appends its values to `into`; null: it is not allowed.
  class Into {
   public:
    Into(Results& results, std::vector<relax::Value*>* into)
        : results_(results),
          into_(std::exchange(results.into_, into)),
          returned_(std::exchange(results.returned_, false)) {}
    Into(const Into&) = delete;
    ~Into() { results_.into_ = into_, results_.returned_ = returned_; }

   private:
    Results& results_;
    std::vector<relax::Value*>* into_;
    bool returned_;
  };

 private:
  const ast::Stmt& definition_;
  SourceText& source_;
  std::vector<relax::Info> declared_;
  bool has_declared_ = false;
  bool at_end_ = true;
  bool returned_ = false;
  std::vector<relax::Value*>* into_ = nullptr;
};

}  // namespace relaxc::frontend
