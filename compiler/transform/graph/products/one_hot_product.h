// one_hot_product.h: a rule of reduce_strength about products that only choose rows.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// A product of rows that are one-hot and a constant matrix is rows of that matrix.
relax::Value* product_of_one_hot(const Site& s);

}  // namespace relaxc
