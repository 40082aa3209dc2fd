// optimize.cpp: runs LLVM's passes and its code generator.
//
// The problem: LLVM takes most of the time of a compilation, and its default pipeline is made for C++. It inlines
// bottom up, threads jumps and simplifies eight times over, where relaxc emits loops that schedules have tiled,
// unrolled and vectorized already, in functions that are not to be inlined.
//
// The method: a pipeline of our own. It keeps the passes without which one of the measured networks ran slower: one
// simplification before loops and one behind GVN, loop-invariant code motion, full and partial unrolling, and the
// vectorizer, for the scalar loops that no schedule touched. Against LLVM's for -O3, 28 networks compiled in 0.83 of
// the time in the geometric mean (relaxc's own part included) and ran as fast (1.004; Zen 4, one thread). Left out
// without a measurable effect: jump threading, correlated values, reassociation, unswitching, constraint elimination,
// inter-procedural constants, vector combination. Scalar code gains by some of them: on Cortex-M4, VWW takes 29% more
// flash and IC 5% more instructions without. So -Os, -Oz and targets without vectors keep LLVM's pipeline.
//
// Neither has the SLP vectorizer: schedules have chosen the vectors of straight-line code, and on large unrolled bodies
// it takes minutes (yolox-nano: more than one) and finds nothing. No function of a C library counts as known, so that
// no loop turns into a call that a bare-metal program cannot resolve.
//
// The scheduler of machine code and the register allocator take time that grows with the square of a block's length:
// of 20,000 statements in a row, 36 s, and 30 of them there. Functions with such a block are selected and allocated in
// the fast way; IR passes have seen them by then.
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/ConstantMerge.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopIdiomRecognize.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/TailRecursionElimination.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include <algorithm>
#include <vector>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

llvm::OptimizationLevel level_of(OptLevel level) {
  switch (level) {
    case OptLevel::kO0:
      return llvm::OptimizationLevel::O0;
    case OptLevel::kO1:
    case OptLevel::kFast:
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

/// Simplifies what was lowered: locals to values, common subexpressions, branches, peepholes.
void add_simplification(llvm::FunctionPassManager& passes) {
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::TailCallElimPass());
}

void add_invariant_motion(llvm::FunctionPassManager& passes) {
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
}

/// Rotates loops, hoists invariant code, simplifies induction variables, and unrolls short loops fully; then removes
/// what iterations have in common.
void add_loops(llvm::FunctionPassManager& passes, int level) {
  llvm::LICMOptions careful;
  careful.AllowSpeculation = false;
  llvm::LoopPassManager rotation;
  rotation.addPass(llvm::LICMPass(careful));
  rotation.addPass(llvm::LoopRotatePass());
  rotation.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(rotation), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  llvm::LoopPassManager unrolling;
  unrolling.addPass(llvm::LoopIdiomRecognizePass());
  unrolling.addPass(llvm::IndVarSimplifyPass());
  unrolling.addPass(llvm::LoopDeletionPass());
  unrolling.addPass(llvm::LoopFullUnrollPass(level));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(unrolling)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::DSEPass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::InstCombinePass());
}

/// Vectorizes scalar loops, unrolls loops, and makes the forms that only the code generator needs.
void add_vectors(llvm::FunctionPassManager& passes, int level) {
  passes.addPass(llvm::LoopVectorizePass());
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions()
                                           .forwardSwitchCondToPhi(true)
                                           .convertSwitchToLookupTable(true)
                                           .needCanonicalLoops(false)
                                           .hoistCommonInsts(true)
                                           .sinkCommonInsts(true)));
  passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(level)));
  passes.addPass(llvm::InstCombinePass());
  add_invariant_motion(passes);
  passes.addPass(llvm::SimplifyCFGPass());
}

/// The pipeline of -O1 to -O3 and --fast-codegen for loops that are scheduled for vectors.
llvm::ModulePassManager pipeline_for_vectors(OptLevel level) {
  llvm::FunctionPassManager each;
  add_simplification(each);
  if (level == OptLevel::kO1 || level == OptLevel::kFast) {
    add_invariant_motion(each);
    each.addPass(llvm::DSEPass());
    each.addPass(llvm::ADCEPass());
    each.addPass(llvm::SimplifyCFGPass());
  } else {
    add_loops(each, level == OptLevel::kO3 ? 3 : 2);
    add_vectors(each, level == OptLevel::kO3 ? 3 : 2);
  }
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::ConstantMergePass());
  return passes;
}

bool is_check(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::WithOverflowInst>(instruction);
}

/// Returns whether the block has more checked operations than instruction selection can order. A tenth of a second is
/// what it takes for 100 of them, minutes for 1,500: each sets the flags of the processor, which are one register.
bool has_many_checks(const llvm::BasicBlock& block) {
  constexpr auto kMost = 128;
  return std::count_if(block.begin(), block.end(), is_check) > kMost;
}

/// Ends a block behind every sixteenth checked operation, behind all variables on the stack.
void divide(llvm::BasicBlock& whole) {
  constexpr int kChecks = 16;
  llvm::BasicBlock* block = &whole;
  auto at = block->begin();
  for (auto i = block->begin(); i != block->end(); ++i)
    if (llvm::isa<llvm::AllocaInst>(*i)) at = std::next(i);
  for (int checks = 0; at != block->end(); ++at)
    if (is_check(*at) && ++checks == kChecks)
      block = block->splitBasicBlock(std::next(at)), at = block->begin(), checks = 0;
}

void leave_as_it_is(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::OptimizeForSize);
  function.removeFnAttr(llvm::Attribute::MinSize);
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::OptimizeNone);
}

/// Takes functions with a block that is too long out of the optimizing code generator, whose time is not linear there.
/// Blocks of many checks are divided; the optimizing generator would join them again.
void generate_fast(llvm::Module& module, OptLevel level) {
  constexpr size_t kLongestBlock = 30000;
  for (llvm::Function& function : module) {
    bool is_long = false;
    std::vector<llvm::BasicBlock*> hard;
    for (llvm::BasicBlock& block : function) {
      is_long |= level != OptLevel::kO0 && block.size() > kLongestBlock;
      if (has_many_checks(block)) hard.push_back(&block);
    }
    if (is_long || !hard.empty()) leave_as_it_is(function);
    for (llvm::BasicBlock* block : hard) divide(*block);
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

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const Target& target, OptLevel level) {
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  RELAXC_CHECK(!llvm::verifyModule(module, &stream), fault);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = level_of(level).getSpeedupLevel() > 1;
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
  const bool small = level == OptLevel::kOs || level == OptLevel::kOz;
  const llvm::OptimizationLevel standard = level_of(level);
  llvm::ModulePassManager passes = level == OptLevel::kO0             ? builder.buildO0DefaultPipeline(standard)
                                   : small || target.vector_bits == 0 ? builder.buildPerModuleDefaultPipeline(standard)
                                                                      : pipeline_for_vectors(level);
  passes.run(module, modules);
  generate_fast(module, level);
  narrow_masked_stores(module, target);
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
