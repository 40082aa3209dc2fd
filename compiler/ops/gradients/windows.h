// windows.h: the gradients of convolutions and pools.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

Values conv(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values conv_transpose(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// The first of equal maxima gets all.
Values max_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values avg_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values lp_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results);
Values lrn(relax::GraphBuilder& b, const Op& op, ByResults by_results);

}  // namespace relaxc::ops::derivatives
