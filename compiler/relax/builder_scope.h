// builder_scope.h: replaces the current builder for a scope.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc::relax {

/// While it lives, `current` is a builder that appends to `block`, with the location of the builder before.
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
