// tvm_layout.h: layouts of images as TVM names them.
//
// A layout is read as the permutation that brings it to channels first, where relaxc's operators work; the result goes
// back by the inverse one. Layouts that pack channels into blocks come of TVM's layout pass and are refused.
#pragma once

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend {

/// Spatial dims by the digit in "nn.conv2d"; 2 where there is none.
size_t spatial_dims(const std::string& name);
/// The permutation that brings dims laid out as `param` says into the order of `lead` and then space: where each of
/// them lies.
Result<TvmCall::Ints> layout(TvmCall& c, std::string_view param, std::string_view lead, const std::string& fallback);
TvmCall::Ints inverse(const TvmCall::Ints& axes);
/// "NCHW" for two spatial dims.
std::string channels_first(const TvmCall& c);

}  // namespace relaxc::frontend
