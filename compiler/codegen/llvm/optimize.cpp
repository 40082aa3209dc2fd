// optimize.cpp: LLVM's own passes, and its code generator.
//
// The order is LLVM's default pipeline without the SLP vectorizer: schedules have already chosen the vectors of
// straight-line code, and on large unrolled bodies it takes minutes (yolox-nano: more than one) and finds nothing. No
// function of a C library counts as known, so that no loop turns into a call that a bare-metal program cannot resolve.
//
// The scheduler of machine code and the register allocator take time that grows with the square of a block's length:
// of 20,000 statements in a row, 36 s, and 30 of them there. Functions with such a block are selected and allocated in
// the fast way; IR passes have seen them by then.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

llvm::OptimizationLevel level_of(OptLevel level) {
  switch (level) {
    case OptLevel::kO0:
      return llvm::OptimizationLevel::O0;
    case OptLevel::kO1:
      return llvm::OptimizationLevel::O1;
    case OptLevel::kO2:
      return llvm::OptimizationLevel::O2;
    case OptLevel::kO3:
      return llvm::OptimizationLevel::O3;
    case OptLevel::kOs:
      return llvm::OptimizationLevel::Os;
    case OptLevel::kOz:
      return llvm::OptimizationLevel::Oz;
  }
  RELAXC_UNREACHABLE("no such level");
}

/// Marks functions whose longest run of code is beyond what the slow code generator takes in linear time.
void generate_fast(llvm::Module& module) {
  constexpr size_t kLongestBlock = 30000;
  for (llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function) {
      if (block.size() <= kLongestBlock) continue;
      function.removeFnAttr(llvm::Attribute::OptimizeForSize);
      function.removeFnAttr(llvm::Attribute::MinSize);
      function.removeFnAttr(llvm::Attribute::AlwaysInline);
      function.addFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::OptimizeNone);
      break;
    }
}

}  // namespace

std::unique_ptr<llvm::Module> make_module(const std::string& name, llvm::LLVMContext& context,
                                          const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  if (machine.isPositionIndependent()) module->setPICLevel(llvm::PICLevel::BigPIC);
  return module;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, OptLevel level) {
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  RELAXC_CHECK(!llvm::verifyModule(module, &stream), fault);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level != OptLevel::kO0 && level != OptLevel::kO1;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  for (llvm::LibFunc function : {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    library.setAvailable(function);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::OptimizationLevel pipeline = level_of(level);
  llvm::ModulePassManager passes = level == OptLevel::kO0 ? builder.buildO0DefaultPipeline(pipeline)
                                                          : builder.buildPerModuleDefaultPipeline(pipeline);
  passes.run(module, modules);
  if (level != OptLevel::kO0) generate_fast(module);
  narrow_masked_stores(module);
}

void generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::raw_pwrite_stream& out,
              llvm::CodeGenFileType type, MachineFrames* frames) {
  llvm::legacy::PassManager passes;
  MachineFrames unread;
  FrameReading reading(passes, frames == nullptr ? unread : *frames);
  bool unsupported = machine.addPassesToEmitFile(reading, out, nullptr, type);
  RELAXC_CHECK(!unsupported, "LLVM cannot write this kind of file for " + machine.getTargetTriple().str());
  passes.run(module);
}

}  // namespace relaxc::codegen_llvm
