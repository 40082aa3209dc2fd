// machine.h: LLVM's machine of a Target, and the passes that run for it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "compiler/codegen/llvm/lower.h"
#include "compiler/codegen/llvm/machine_frames.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// How much work LLVM does. kFast: the passes of kO1, then the instruction selection and register allocation of kO0.
enum class OptLevel { kO0, kO1, kO2, kO3, kOs, kOz, kFast };

/// Position-independent where there is an operating system, own section for each function and table, strict floating
/// point. The Target comes from resolve_target.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target, OptLevel level);

/// What the CPU of the Target does by itself.
Capabilities capabilities_of(const Target& target, const llvm::TargetMachine& machine);

/// A module for the machine, without any code.
std::unique_ptr<llvm::Module> make_module(const std::string& name, llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine);

/// Verifies the module and runs the level's pipeline of LLVM's passes for the target. Only memcpy, memmove and memset
/// count as known library functions.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const Target& target, OptLevel level);

/// Stores the element itself where the mask of a masked store leaves one lane, and parts of the vector where the mask
/// is of the first lanes and the machine is slow at such stores; `optimize` ends with it.
void narrow_masked_stores(llvm::Module& module, const llvm::TargetMachine& machine);

/// Selects instructions, allocates registers and writes an object or a text of assembly. `frames`: gets the frame of
/// every function; may be null.
void generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out,
              llvm::CodeGenFileType type, MachineFrames* frames = nullptr);

}  // namespace relaxc::codegen_llvm
