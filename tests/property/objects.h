// objects.h: a lowered program as a shared library that this process loads.
#pragma once

#include <memory>
#include <string>

#include "compiler/equivalence/outcome.h"
#include "compiler/interface/object.h"
#include "targets/target.h"
#include "tests/onnx/loaded_model.h"

namespace relaxc::property {

/// Emits `object` at LLVM's level `level`, or as C that the compiler of this build compiles, and loads it. Null with
/// `fault` set if any of it fails.
std::unique_ptr<onnx_tests::LoadedModel> load_object(const interface::Object& object, const Target& target,
                                                     const std::string& level, bool by_c, std::string& fault);

/// Runs the entry `function` between canaries, in exactly the arena that it asks for.
equivalence::Outcome run_object(const onnx_tests::LoadedModel& loaded, const std::string& function,
                                const std::vector<equivalence::HostTensor>& inputs);

}  // namespace relaxc::property
