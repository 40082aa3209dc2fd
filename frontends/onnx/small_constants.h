// small_constants.h: evaluates, during import, small values that a model computes from constants.
#pragma once

#include <memory>

#include "compiler/relax/builder.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::frontend {

/// Evaluates operators with few elements, whose operands are small constants.
class SmallConstants {
 public:
  SmallConstants();
  /// Returns `values`, the results of an op that `builder` has just made, as constants if the op can be evaluated; else
  /// the same values. The op stays, without users.
  std::vector<relax::Value*> evaluated(relax::GraphBuilder& builder, std::vector<relax::Value*> values);

 private:
  std::unique_ptr<tir::Evaluator> evaluator_;
};

}  // namespace relaxc::frontend
