// variations.h: inputs with extreme numbers where a model expects small ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/relax/interpret.h"

namespace relaxc::onnx_tests {

/// Which inputs are varied: integers with at most this many elements, and floats that the model uses as sizes.
constexpr int64_t kMostVaried = 8;

/// Calls `f` with the inputs of every variation and what was changed: each element of each small integer input set to
/// each extreme, all elements of one at once, and neighbours together so that their product wraps around to what it
/// was. `sizes[i]`: input i, of any dtype, holds numbers that decide sizes.
void for_each_variation(const std::vector<relax::HostTensor>& inputs, const std::vector<bool>& sizes,
                        const std::function<void(const std::vector<relax::HostTensor>&, const std::string&)>& f);

}  // namespace relaxc::onnx_tests
