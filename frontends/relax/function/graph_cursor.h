// graph_cursor.h: where the ops of a Relax function go while it is read.
//
// Owns the region and the block that are being filled, and the builder that fills them. A region is entered for the
// lifetime of an Inside, a dataflow block for that of a Dataflow.
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
  /// The builder at the end of the block, with `place` for the location of what it makes.
  relax::GraphBuilder& at(Place place) {
    if (block_ == nullptr) block_ = function_.make_block(region_, false);
    if (!builder_) builder_.emplace(scope_.module, scope_.table, block_, scope_.source.diag());
    builder_->location = scope_.source.at(place);
    return *builder_;
  }

  /// Ops go to `region` while it lives; the block outside is continued after.
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

  /// Ops go to a new dataflow block while it lives, and to a new block after. None is in another.
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
