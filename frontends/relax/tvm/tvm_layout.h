// tvm_layout.h: handles the names of image layouts in TVM.
//
// A layout is read as the permutation to channels first, where relaxc's operators work; the inverse permutes the result
// back. Layouts that pack channels into blocks ("NCHW16c") come from TVM's layout pass: blocks are joined before the
// permutation and split after it.
#pragma once

#include "frontends/relax/tvm/tvm_call.h"

namespace relaxc::frontend {

/// Returns the number of spatial dims by the digit in "nn.conv2d"; 2 if there is none.
size_t spatial_dims(const std::string& name);
/// Returns the permutation from the layout in `param` to the dims of `lead` followed by the spatial ones, as the
/// position of each dim.
Result<TvmCall::Ints> layout(TvmCall& c, std::string_view param, std::string_view lead, const std::string& fallback);
/// Joins the blocks of a tensor of layout `written`: NCHW16c becomes NCHW. Without blocks it stays as it is.
Result<relax::Value*> join_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written);
/// The reverse of join_blocks; fails if the block does not divide the extent.
Result<relax::Value*> split_blocks(TvmCall& c, relax::Value* x, std::string_view param, const std::string& written);
TvmCall::Ints inverse(const TvmCall::Ints& axes);
/// Returns "NCHW" for two spatial dims.
std::string channels_first(const TvmCall& c);

}  // namespace relaxc::frontend
