// graph_cursor.h: the insertion point of a Relax function while it is read.
//
// Has the current region and block, and the builder that appends to the block. An Inside enters a region for its
// lifetime, a Dataflow a dataflow block.
#pragma once

#include <optional>
#include <utility>

#include "compiler/relax/builder.h"
#include "frontends/relax/shared/globals.h"

namespace relaxc::frontend {

class GraphCursor {
 public:
  GraphCursor(ModuleScope& scope, relax::Function& function)
      : scope_(scope), function_(function), region_(&function.body()) {}
  GraphCursor(const GraphCursor&) = delete;

  relax::Region& region() const { return *region_; }
  bool in_dataflow() const { return block_ != nullptr && block_->dataflow; }
  /// Returns the builder at the end of the block; ops that it makes have the location `place`.
  relax::GraphBuilder& at(Place place) {
    if (block_ == nullptr) block_ = function_.make_block(region_, false);
    if (!builder_) builder_.emplace(scope_.module, scope_.table, block_, scope_.source.diag());
    builder_->location = scope_.source.at(place);
    return *builder_;
  }

  /// While it lives, ops go to `region`; afterwards the outer block continues.
  class Inside {
   public:
    Inside(GraphCursor& cursor, relax::Region* region)
        : cursor_(cursor),
          region_(std::exchange(cursor.region_, region)),
          block_(std::exchange(cursor.block_, nullptr)) {
      cursor_.builder_.reset();
    }
    Inside(const Inside&) = delete;
    ~Inside() {
      cursor_.region_ = region_, cursor_.block_ = block_;
      cursor_.builder_.reset();
    }

   private:
    GraphCursor& cursor_;
    relax::Region* region_;
    relax::Block* block_;
  };

  /// While it lives, ops go to a new dataflow block, and afterwards to a new block. Dataflow blocks are not nested.
  class Dataflow {
   public:
    explicit Dataflow(GraphCursor& cursor) : cursor_(cursor) {
      cursor_.block_ = cursor_.function_.make_block(cursor_.region_, true);
      cursor_.builder_.reset();
    }
    Dataflow(const Dataflow&) = delete;
    ~Dataflow() {
      cursor_.block_ = nullptr;
      cursor_.builder_.reset();
    }

   private:
    GraphCursor& cursor_;
  };

 private:
  ModuleScope& scope_;
  relax::Function& function_;
  relax::Region* region_;
  relax::Block* block_ = nullptr;
  std::optional<relax::GraphBuilder> builder_;
};

}  // namespace relaxc::frontend
