// small_constants.h: values that a model computes of constants, as constants while importing.
#pragma once

#include <memory>

#include "compiler/relax/builder.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::frontend {

/// Evaluates operators that make few elements of few constants.
class SmallConstants {
 public:
  SmallConstants();
  /// `values`, the results of an op that `builder` has just made, as constants if their operator can be evaluated; else
  /// the same values. The op stays where it is, without users.
  std::vector<relax::Value*> evaluated(relax::GraphBuilder& builder, std::vector<relax::Value*> values);

 private:
  std::unique_ptr<tir::Evaluator> evaluator_;
};

}  // namespace relaxc::frontend
