// parts.cpp: divides functions into modules, and compiles these on threads.
//
// Kernels do not depend on each other, and LLVM takes nearly all of the time of a compilation. So once a module is
// full, the following kernels go into another one, with a context of its own, which any thread may compile. The code
// alone decides where a module ends, so the object does not depend on the number of threads. Small programs are one
// module and do not come here.
//
// Lowering is serialized, since expressions live in one context; it is short compared to LLVM's work. A thread lowers a
// part when it is ready to compile it, and frees it once its object is written, so there are never more parts in memory
// than threads.
#include "compiler/codegen/llvm/parts.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/llvm/stack_bound.h"

namespace relaxc::codegen_llvm {

bool is_full(const llvm::Module& module) {
  constexpr unsigned kInstructions = 4000;  // before optimization: some kernels with their tiles
  return module.getInstructionCount() >= kInstructions;
}

struct Parts::Part {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  std::vector<llvm::Function*> functions;  ///< those of this part, which the first module calls
  CompiledPart* result = nullptr;
};

Parts::~Parts() {
  std::lock_guard lock(turn_);
  lowered_ = functions_.size();  // threads start no further parts
}

void Parts::start(int32_t threads) {
  for (int32_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

const std::deque<CompiledPart>& Parts::finish() {
  work();
  threads_.clear();
  if (failure_) std::rethrow_exception(failure_);
  return compiled_;
}

void Parts::work() {
  try {
    while (!stop_ || !stop_()) {
      std::unique_ptr<Part> part = next();
      if (part == nullptr) break;
      compile(*part);
    }
  } catch (...) {
    std::lock_guard lock(turn_);
    failure_ = std::current_exception();
    lowered_ = functions_.size();
  }
}

std::unique_ptr<Parts::Part> Parts::next() {
  std::lock_guard lock(turn_);
  return lowered_ == functions_.size() ? nullptr : lower_next();
}

std::unique_ptr<Parts::Part> Parts::lower_next() {
  auto part = std::make_unique<Part>();
  part->machine = make_machine(target_, level_);
  part->module = make_module(name_, part->context, *part->machine);
  const LoweringOptions* options = functions_[lowered_].options;
  ModuleLowering lowering(*part->module, *options);
  while (lowered_ < functions_.size() && functions_[lowered_].options == options && !is_full(*part->module)) {
    const PartFunction& one = functions_[lowered_++];
    llvm::Function* function = lowering.add(*one.function, one.symbol).function;
    ModuleLowering::show_to_parts(*function);
    part->functions.push_back(function);
  }
  part->result = &compiled_.emplace_back();
  if (tell_) tell_(lowered_, functions_.size());
  return part;
}

void Parts::compile(Part& part) const {
  optimize(*part.module, *part.machine, target_, level_);
  MachineFrames machine;
  llvm::raw_svector_ostream out(part.result->object);
  generate(*part.module, *part.machine, out, llvm::CodeGenFileType::ObjectFile, &machine);
  StackFrames frames(*part.module, std::move(machine));
  for (llvm::Function* function : part.functions)
    part.result->stack.emplace_back(function->getName().str(), frames.chain(*function));
}

}  // namespace relaxc::codegen_llvm
