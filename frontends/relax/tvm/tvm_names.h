// tvm_names.h: short names that all conversions of TVM's operators use.
#pragma once

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend::tvm_names {

using relax::OpName;
using relax::Value;
using Exprs = std::vector<arith::Expr>;
using Ints = TvmCall::Ints;

}  // namespace relaxc::frontend::tvm_names
