// integer_mean.h: sums and means of quantized tensors as sums of stored integers.
#pragma once

#include <map>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Moves the scale of a quantized tensor out of its sums, means and average pools, down to the next quantization.
/// `rewrite` is called for each operator in the order of the program.
class IntegerMeans {
 public:
  /// Returns a value that replaces the operator's result; null if nothing better is known.
  Result<relax::Value*> rewrite(relax::GraphBuilder& b, const relax::Op& op);

 private:
  /// A tensor that is `whole` times `scale`, where `whole` was summed from stored values.
  struct Scaled {
    relax::Value* whole = nullptr;
    double scale = 1;
  };

  Result<relax::Value*> sum_stored(relax::GraphBuilder& b, const relax::Op& op);
  Result<relax::Value*> scaled(relax::GraphBuilder& b, const relax::Op& op, relax::Value* whole, double scale);

  std::map<const relax::Value*, Scaled> scaled_;  // never iterated
};

}  // namespace relaxc
