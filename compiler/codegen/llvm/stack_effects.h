// stack_effects.h: what instructions do to the stack pointer and to the registers that it is computed from.
#pragma once

#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <optional>
#include <vector>

namespace relaxc::codegen_llvm {

/// What an instruction computes. Numbers are operands of llvm::MachineInstr; `scale` multiplies an immediate.
struct StackEffect {
  enum Kind {
    kNone,      ///< nothing that is known here
    kAdd,       ///< dst = a + b * scale; an immediate `b` that another immediate follows is shifted by that one
    kAddWord,   ///< the same in 32 bits, extended by their sign
    kAnd,       ///< dst = a & b
    kAndField,  ///< dst = a & b, where b is AArch64's form of a run of ones
    kLeft,      ///< dst = a << b
    kRight,     ///< dst = a >> b
    kConstant,  ///< dst = b * scale; shifted as kAdd
    kInsert,    ///< dst = a with the 16 bits b * scale in place of its own, shifted as kAdd
    kPooled,    ///< dst = the constant of the pool's entry b
    kLea,       ///< dst = a + b * the operand behind + the displacement, of x86
    kPush,      ///< the stack pointer goes down by `scale` bytes
    kPushList,  ///< by `scale` bytes for each register from operand `a` on
  };
  Kind kind = kNone;
  uint8_t dst = 0, a = 0, b = 0;
  int64_t scale = 1;
};

/// Registers whose value is known in one place of a function; the stack pointer is one of them while it is.
using KnownRegisters = std::map<llvm::Register, uint64_t>;

/// Follows the stack pointer through the instructions of one module's functions.
class StackEffects {
 public:
  StackEffects(const llvm::Triple& triple, const llvm::TargetInstrInfo& instructions,
               const llvm::TargetRegisterInfo& registers, llvm::Register stack_pointer);

  /// Does to `known` what `instruction` does, which is not a call; what it does to a register in a way that is not
  /// listed makes that unknown.
  void apply(const llvm::MachineInstr& instruction, KnownRegisters& known);

 private:
  const StackEffect& effect(unsigned opcode);
  std::optional<uint64_t> value(const llvm::MachineInstr& instruction, const StackEffect& effect,
                                const KnownRegisters& known);
  std::optional<uint64_t> pooled(const llvm::MachineFunction& function, int label);
  std::optional<uint64_t> operand(const llvm::MachineInstr& instruction, unsigned index, int64_t scale,
                                  const KnownRegisters& known) const;
  std::optional<uint64_t> address(const llvm::MachineInstr& instruction, const StackEffect& effect,
                                  const KnownRegisters& known) const;

  const llvm::Triple& triple_;
  const llvm::TargetInstrInfo& instructions_;
  const llvm::TargetRegisterInfo& registers_;
  llvm::Register stack_pointer_;
  std::map<unsigned, StackEffect> effects_;  ///< of opcodes that were met
  const llvm::MachineFunction* pools_of_ = nullptr;
  std::map<int64_t, int> pools_;  ///< of that function: which constant a label stands for
};

}  // namespace relaxc::codegen_llvm
