// machine.h: LLVM's TargetMachine of a Target, and the passes that run for it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "compiler/codegen/llvm/lower.h"
#include "compiler/codegen/llvm/machine_frames.h"
#include "targets/target.h"

namespace relaxc::codegen_llvm {

/// How much LLVM optimizes. kFast: the passes of kO1, then the instruction selection and register allocation of kO0.
enum class OptLevel { kO0, kO1, kO2, kO3, kOs, kOz, kFast };

/// Returns LLVM's machine for a Target of resolve_target: position-independent code if there is an operating system,
/// one section for each function and table, strict floating point.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target, OptLevel level);

/// Returns what the CPU of the Target does by instructions.
Capabilities capabilities_of(const Target& target, const llvm::TargetMachine& machine);

/// Returns an empty module for the machine.
std::unique_ptr<llvm::Module> make_module(const std::string& name, llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine);

/// Verifies the module and runs the level's pipeline of LLVM passes. Only memcpy, memmove and memset are known library
/// functions.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, const Target& target, OptLevel level);

/// Replaces masked stores: with one active lane by a store of that element, and with a prefix of active lanes by stores
/// of parts of the vector if those take fewer cycles (masked_store_cycles). `optimize` runs it last.
void narrow_masked_stores(llvm::Module& module, const Target& target);

/// Selects instructions, allocates registers and writes an object or assembly. `frames` receives the stack frame of
/// every function; may be null.
void generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out,
              llvm::CodeGenFileType type, MachineFrames* frames = nullptr);

}  // namespace relaxc::codegen_llvm
