// one_hot_product.h: a rule of reduce_strength for products that only select rows.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// Replaces a product of one-hot rows and a constant matrix by a lookup of rows of that matrix.
relax::Value* product_of_one_hot(const Site& s);

}  // namespace relaxc
