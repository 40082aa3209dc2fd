// machine_frames.cpp: finds the depth of the stack pointer at each call.
//
// LLVM's own figure (DiagnosticInfoStackSize) counts the objects in a frame. It omits the return address of x86, the
// red zone of a leaf, the padding of a prologue that aligns the stack to a vector, and arguments that are pushed around
// a call. So this pass follows the stack pointer through the final instructions, once for each place that it may have
// before the call, since alignment depends on it.
#include "compiler/codegen/llvm/machine_frames.h"

#include <llvm/CodeGen/MachineFrameInfo.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/TargetFrameLowering.h>
#include <llvm/CodeGen/TargetLowering.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <set>

#include "compiler/codegen/llvm/stack_effects.h"

namespace relaxc::codegen_llvm {
namespace {

constexpr uint64_t kTop = uint64_t{1} << 30;  ///< an address for the caller's stack pointer

/// The symbol that a call names; empty for a call through a register.
std::string callee_of(const llvm::MachineInstr& call) {
  for (const llvm::MachineOperand& operand : call.operands()) {
    if (operand.isSymbol()) return operand.getSymbolName();
    if (operand.isGlobal()) return operand.getGlobal()->getName().str();
  }
  return "";
}

/// Follows the stack pointer through one function, for one place of the caller's stack pointer.
class FrameWalk {
 public:
  FrameWalk(const llvm::MachineFunction& function, StackEffects& effects, llvm::Register stack_pointer, uint64_t place)
      : function_(function), effects_(effects), stack_pointer_(stack_pointer), top_(kTop + place) {
    pushed_by_call_ = function.getTarget().getTargetTriple().isX86() ? 8 : 0;
  }

  FrameAtPlace run() {
    enter(function_.front(), {{stack_pointer_, top_ - pushed_by_call_}});
    while (!waiting_.empty() && out_.known) {
      const llvm::MachineBasicBlock* block = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      follow(*block);
    }
    use_below_pointer();
    // By name, so that the order of blocks in memory decides nothing.
    std::sort(out_.calls.begin(), out_.calls.end(),
              [](const auto& a, const auto& b) { return std::tie(a.callee, a.depth) < std::tie(b.callee, b.depth); });
    return std::move(out_);
  }

 private:
  struct ByNumber {
    bool operator()(const llvm::MachineBasicBlock* a, const llvm::MachineBasicBlock* b) const {
      return a->getNumber() < b->getNumber();
    }
  };

  /// Adds a path that reaches the block with the values `known`. A register is known there if all paths agree.
  void enter(const llvm::MachineBasicBlock& block, const KnownRegisters& known) {
    auto [found, first] = begins_.try_emplace(&block, known);
    size_t before = found->second.size();
    if (!first)
      std::erase_if(found->second, [&](const auto& one) {
        auto other = known.find(one.first);
        return other == known.end() || other->second != one.second;
      });
    if (first || found->second.size() != before) waiting_.insert(&block);
  }

  void follow(const llvm::MachineBasicBlock& block) {
    KnownRegisters known = begins_.at(&block);
    for (const llvm::MachineInstr& instruction : block) {
      if (instruction.isMetaInstruction()) continue;
      if (instruction.isCall())
        call(instruction, known);
      else
        effects_.apply(instruction, known);
      auto pointer = known.find(stack_pointer_);
      bool returns = instruction.isReturn() && !instruction.isCall();
      if (pointer == known.end() || (returns && !returned(instruction, pointer->second))) {
        out_.known = false;
        return;
      }
      out_.deepest = std::max(out_.deepest, top_ - pointer->second);
    }
    for (const llvm::MachineBasicBlock* next : block.successors()) enter(*next, known);
  }

  /// Whether a return leaves the stack as the caller expects it; yes if it is predicated, since that was not followed.
  bool returned(const llvm::MachineInstr& instruction, uint64_t pointer) const {
    return pointer == top_ - pushed_by_call_ || function_.getSubtarget().getInstrInfo()->isPredicated(instruction);
  }

  void call(const llvm::MachineInstr& instruction, KnownRegisters& known) {
    auto pointer = known.find(stack_pointer_);
    if (pointer == known.end()) return;
    uint64_t depth = top_ - pointer->second, at = pointer->second;
    if (instruction.isReturn()) depth -= pushed_by_call_;  // a tail call: the return address is the caller's
    std::string callee = callee_of(instruction);
    bool same = std::any_of(out_.calls.begin(), out_.calls.end(),
                            [&](const auto& one) { return one.depth == depth && one.callee == callee; });
    if (!same) out_.calls.push_back({callee, depth});
    const llvm::TargetRegisterInfo* registers = function_.getSubtarget().getRegisterInfo();
    std::erase_if(known, [&](const auto& one) { return instruction.modifiesRegister(one.first, registers); });
    known[stack_pointer_] = at;  // callees of our conventions restore it
  }

  /// Counts the red zone: x86's leaf functions keep objects below the stack pointer, unless they realign it.
  void use_below_pointer() {
    if (pushed_by_call_ == 0 || function_.getSubtarget().getRegisterInfo()->hasStackRealignment(function_)) return;
    const llvm::MachineFrameInfo& frame = function_.getFrameInfo();
    for (int i = frame.getObjectIndexBegin(); i < frame.getObjectIndexEnd(); ++i)
      if (!frame.isDeadObjectIndex(i) && frame.getObjectOffset(i) < 0)
        out_.deepest = std::max(out_.deepest, static_cast<uint64_t>(-frame.getObjectOffset(i)));
  }

  const llvm::MachineFunction& function_;
  StackEffects& effects_;
  llvm::Register stack_pointer_;
  uint64_t top_, pushed_by_call_ = 0;
  std::map<const llvm::MachineBasicBlock*, KnownRegisters> begins_;
  std::set<const llvm::MachineBasicBlock*, ByNumber> waiting_;
  FrameAtPlace out_;
};

class FrameReader : public llvm::MachineFunctionPass {
 public:
  static char ID;
  explicit FrameReader(MachineFrames& frames) : llvm::MachineFunctionPass(ID), frames_(frames) {}

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    const llvm::TargetSubtargetInfo& machine = function.getSubtarget();
    llvm::Register pointer = machine.getTargetLowering()->getStackPointerRegisterToSaveRestore();
    StackEffects effects(function.getTarget().getTargetTriple(), *machine.getInstrInfo(), *machine.getRegisterInfo(),
                         pointer);
    frames_.alignment = machine.getFrameLowering()->getStackAlign().value();
    MachineFrame& frame = frames_.functions[function.getName().str()];
    bool aligns = machine.getRegisterInfo()->hasStackRealignment(function);
    bool understood = pointer.isValid() && frames_.alignment >= kLeastAlignment &&
                      function.getFrameInfo().getMaxAlign().value() <= kLargestAlignment;
    for (size_t i = 0; i < kPlaces; ++i) {
      if (!understood)
        frame.places[i].known = false;
      else if (i == 0 || aligns)
        frame.places[i] = FrameWalk(function, effects, pointer, i * frames_.alignment % kLargestAlignment).run();
      else
        frame.places[i] = frame.places[0];
    }
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }
  llvm::StringRef getPassName() const override { return "read the frames"; }

 private:
  MachineFrames& frames_;
};

char FrameReader::ID = 0;

}  // namespace

void FrameReading::add(llvm::Pass* pass) {
  if (pass->getPassName().contains("Assembly Printer")) passes_.add(new FrameReader(frames_));
  passes_.add(pass);
}

}  // namespace relaxc::codegen_llvm
