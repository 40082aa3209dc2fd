// builder_scope.h: a builder that takes the place of another one for a while.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc::relax {

/// While it lives, `current` points to a builder that appends to `block`, at the location of the one before.
class BuilderScope {
 public:
  BuilderScope(GraphBuilder*& current, Module& module, const OpTable& ops, Block* block, Diagnostics& diag)
      : current_(current), outer_(current), builder_(module, ops, block, diag) {
    builder_.location = outer_->location;
    current_ = &builder_;
  }
  ~BuilderScope() { current_ = outer_; }
  BuilderScope(const BuilderScope&) = delete;
  BuilderScope& operator=(const BuilderScope&) = delete;

 private:
  GraphBuilder*& current_;
  GraphBuilder* const outer_;
  GraphBuilder builder_;
};

}  // namespace relaxc::relax
