// tvm_boxes.h: lists of boxes [images, boxes, fields], of which fields are a class, a score and coordinates.
#pragma once

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend {

/// Returns the argument `data`; fails unless boxes are [images, boxes, fields].
Result<relax::Value*> lists_of_boxes(TvmCall& c);
/// Returns one column of boxes [images, boxes, fields] as [images, boxes].
Result<relax::Value*> column_of(TvmCall& c, relax::Value* boxes, int64_t at);
/// Returns which places of lists of `size` are among the first `counts` of their image, [images, size].
Result<relax::Value*> first_of(TvmCall& c, relax::Value* counts, arith::Expr size);

/// Places of a list moved before the others: how many they are in each image, where they were in their order,
/// [images, boxes], and which places they have now.
struct Moved {
  relax::Value *counts, *order, *kept;
};
/// Moves the places that hold before the others.
Result<Moved> move_first(TvmCall& c, relax::Value* holds);
/// Returns boxes[image, order[image, j]], with -1 where `kept` does not hold, if it is given.
Result<relax::Value*> reordered(TvmCall& c, relax::Value* boxes, relax::Value* order, relax::Value* kept);

/// Reads vision.non_max_suppression (tvm_suppression.cpp).
Result<Term> greedy_suppression(TvmCall& c);

}  // namespace relaxc::frontend
