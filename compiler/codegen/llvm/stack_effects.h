// stack_effects.h: how instructions change the stack pointer and the registers that it is computed from.
#pragma once

#include <llvm/CodeGen/MachineInstr.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetRegisterInfo.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <optional>
#include <vector>

namespace relaxc::codegen_llvm {

/// What an instruction computes. dst, a, b are operand numbers of llvm::MachineInstr; `scale` multiplies an immediate.
struct StackEffect {
  enum Kind {
    kNone,      ///< no effect that is known here
    kAdd,       ///< dst = a + b * scale; if `b` is an immediate and the next operand too, that one is a shift
    kAddWord,   ///< the same in 32 bits, sign-extended
    kAnd,       ///< dst = a & b
    kAndField,  ///< dst = a & b, where b is AArch64's encoding of a bit mask
    kLeft,      ///< dst = a << b
    kRight,     ///< dst = a >> b
    kConstant,  ///< dst = b * scale; shifted as in kAdd
    kInsert,    ///< dst = a with 16 of its bits replaced by b * scale, shifted as in kAdd
    kPooled,    ///< dst = entry b of the constant pool
    kLea,       ///< dst = a + b * the next operand + the displacement, of x86
    kPush,      ///< decrements the stack pointer by `scale` bytes
    kPushList,  ///< decrements it by `scale` bytes for each register from operand `a` on
  };
  Kind kind = kNone;
  uint8_t dst = 0, a = 0, b = 0;
  int64_t scale = 1;
};

/// Registers whose values are known at one point of a function; the stack pointer is among them if it is known.
using KnownRegisters = std::map<llvm::Register, uint64_t>;

/// Follows the stack pointer through the instructions of one module's functions.
class StackEffects {
 public:
  StackEffects(const llvm::Triple& triple, const llvm::TargetInstrInfo& instructions,
               const llvm::TargetRegisterInfo& registers, llvm::Register stack_pointer);

  /// Updates `known` by the effect of `instruction`, which is not a call. A register that it writes in a way that is
  /// not in the table becomes unknown.
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
  std::map<unsigned, StackEffect> effects_;  ///< effects of opcodes, cached
  const llvm::MachineFunction* pools_of_ = nullptr;
  std::map<int64_t, int> pools_;  ///< the constant that each label of that function stands for
};

}  // namespace relaxc::codegen_llvm
