// optimize.cpp: LLVM's own passes.
//
// The order is LLVM's default pipeline without the SLP vectorizer: schedules have already chosen the vectors of
// straight-line code, and on large unrolled bodies it takes minutes (yolox-nano: more than one) and finds nothing. No
// function of a C library counts as known, so that no loop turns into a call that a bare-metal program cannot resolve.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Passes/PassBuilder.h>

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

}  // namespace

void optimize(llvm::Module& module, llvm::TargetMachine& machine, OptLevel level) {
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
  narrow_masked_stores(module);
}

}  // namespace relaxc::codegen_llvm
