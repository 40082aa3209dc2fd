// hostile_call.h: one call of a compiled model from memory between guard pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/typed_call.h"
#include "compiler/relax/interpret.h"
#include "runtime-lite/include/relax_rt.h"

namespace relaxc::onnx_tests {

/// What the typed call of an entry takes, in order.
struct TypedEntry {
  int32_t (*run)(rlx_context*, const void*) = nullptr;
  std::vector<interface::CallField> fields;
};

/// What a call came to.
struct Answer {
  int32_t status = RLX_OK;
  std::string fault;                         ///< a promise that was broken; empty: none
  std::vector<relax::HostTensor> outputs;    ///< of a call that succeeded
  std::vector<std::vector<int64_t>> shapes;  ///< of the outputs, as far as they are known before the call
  bool sized = false;                        ///< `shapes` and the arena could be asked, and are small
};

/// Calls `function` with the generic call. Inputs are read only; each output has `capacities[i]` elements. A status
/// below 32 must leave outputs and arena untouched, success must give dims that are not negative and elements that fit.
Answer call_generic(const rlx_function& function, const std::vector<relax::HostTensor>& inputs,
                    const std::vector<int64_t>& capacities);

/// The same through the typed call. Outputs are as large as `generic` says, or as `capacities` if it says nothing: then
/// the call must fail.
Answer call_typed(const rlx_function& function, const TypedEntry& entry, const std::vector<relax::HostTensor>& inputs,
                  const std::vector<int64_t>& capacities, const Answer& generic);

}  // namespace relaxc::onnx_tests
