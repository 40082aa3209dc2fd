// tvm_layout.h: layouts of images as TVM names them.
//
// A layout is read as the permutation that brings it to channels first, where relaxc's operators work; the result goes
// back by the inverse one. Layouts that pack channels into blocks ("NCHW16c") come of TVM's layout pass: their blocks
// are joined before the permutation and split after it.
#pragma once

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend {

/// Spatial dims by the digit in "nn.conv2d"; 2 where there is none.
size_t spatial_dims(const std::string& name);
/// The permutation that brings dims laid out as `param` says into the order of `lead` and then space: where each of
/// them is.
Result<TvmCall::Ints> layout(TvmCall& c, std::string_view param, std::string_view lead, const std::string& fallback);
/// A tensor laid out as `written` says with its blocks joined: NCHW16c becomes NCHW. Without blocks it stays as it is.
Result<relax::Value*> join_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written);
/// The reverse of join_blocks; an extent that the block does not divide is an error.
Result<relax::Value*> split_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written);
TvmCall::Ints inverse(const TvmCall::Ints& axes);
/// "NCHW" for two spatial dims.
std::string channels_first(const TvmCall& c);

}  // namespace relaxc::frontend
