// optimize.cpp: LLVM's own passes, and its code generator.
//
// The problem: LLVM takes most of the time of a compilation, and its default pipeline is made for C++. It inlines
// bottom up, threads jumps and simplifies eight times over, where relaxc emits loops that schedules have tiled,
// unrolled and vectorized already, in functions that are not to be inlined.
//
// The method: a pipeline of our own, as text in the form that `opt -passes=` reads. It keeps the passes without which
// one of the measured networks ran slower: one simplification before loops and one behind GVN, loop-invariant code
// motion, full and partial unrolling, and the vectorizer, for the scalar loops that no schedule touched. Against
// `default<O3>`, 28 networks compile in 0.83 of the time in the geometric mean (relaxc's own part included; 0.64 to
// 0.97) and run as fast (1.004; Zen 4, one thread). Left out without a measurable effect: jump threading, correlated
// values, reassociation, unswitching, constraint elimination, inter-procedural constants, vector combination. Scalar
// code gains by some of them: on Cortex-M4, VWW takes 29% more flash and IC 5% more instructions without. So -Os, -Oz
// and targets without vectors keep LLVM's pipeline.
//
// Neither has the SLP vectorizer: schedules have chosen the vectors of straight-line code, and on large unrolled bodies
// it takes minutes (yolox-nano: more than one) and finds nothing. No function of a C library counts as known, so that
// no loop turns into a call that a bare-metal program cannot resolve.
//
// The scheduler of machine code and the register allocator take time that grows with the square of a block's length:
// of 20,000 statements in a row, 36 s, and 30 of them there. Functions with such a block are selected and allocated in
// the fast way; IR passes have seen them by then.
#include <fmt/format.h>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

/// Simplifies what was lowered: locals to values, common subexpressions, branches, peepholes.
constexpr std::string_view kSimplify =
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg<switch-range-to-icmp;speculate-blocks;simplify-cond-branch>,"
    "instcombine<no-verify-fixpoint>,tailcallelim,";

/// Loops in rotated form, without what does not change in them, over simple variables, fully unrolled where they are
/// short.
constexpr std::string_view kLoops =
    "loop-mssa(licm<no-allowspeculation>,loop-rotate<header-duplication>,licm<allowspeculation>),"
    "simplifycfg<switch-range-to-icmp>,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,gvn,dse,adce,instcombine<no-verify-fixpoint>,";

/// The forms that only the code generator needs; `instcombine` behind unrolling finds what iterations have in common.
constexpr std::string_view kFinish = "instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),simplifycfg";
constexpr std::string_view kMerge =
    "simplifycfg<forward-switch-cond;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>,";

/// The pipeline of a level, as `opt -passes=` reads it. `vectors`: whether the target has any.
std::string pipeline_text(OptLevel level, bool vectors) {
  if (!vectors && level != OptLevel::kOs && level != OptLevel::kOz)
    return fmt::format("default<O{}>", static_cast<int>(level));
  switch (level) {
    case OptLevel::kO0:
      return "default<O0>";
    case OptLevel::kO1:
      return fmt::format("always-inline,function({}loop-mssa(licm<allowspeculation>),dse,adce,simplifycfg),globaldce",
                         kSimplify);
    case OptLevel::kO2:
    case OptLevel::kO3:
      return fmt::format("always-inline,function({}{}loop-vectorize,{}loop-unroll<{}>,{}),globaldce,constmerge",
                         kSimplify, kLoops, kMerge, level == OptLevel::kO3 ? "O3" : "O2", kFinish);
    case OptLevel::kOs:
      return "default<Os>";
    case OptLevel::kOz:
      return "default<Oz>";
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

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const Target& target, OptLevel level) {
  std::string fault;
  llvm::raw_string_ostream stream(fault);
  RELAXC_CHECK(!llvm::verifyModule(module, &stream), fault);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
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
  llvm::ModulePassManager passes;
  std::string text = pipeline_text(level, target.vector_bits != 0);
  if (llvm::Error refused = builder.parsePassPipeline(passes, text))
    RELAXC_CHECK(false, fmt::format("LLVM refuses '{}': {}", text, llvm::toString(std::move(refused))));
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
