// stack_effects.cpp: a table of instructions by which LLVM's prologues, epilogues and calls move the stack pointer.
//
// Opcodes are LLVM's private numbers, but their names are public, so the table has names. An instruction that is not in
// it makes the registers that it writes unknown. If that is the stack pointer, the function has no bound: a missing row
// never makes a bound too low. The tests compile for every machine at every level and find missing rows.
#include "compiler/codegen/llvm/stack_effects.h"

#include <llvm/CodeGen/MachineConstantPool.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/IR/Constants.h>

#include <span>

namespace relaxc::codegen_llvm {
namespace {

struct EffectRow {
  const char* name;
  StackEffect effect;
};

constexpr EffectRow kEffectsX86[] = {
    {"PUSH64r", {StackEffect::kPush, 0, 0, 0, 8}},       {"PUSH64i32", {StackEffect::kPush, 0, 0, 0, 8}},
    {"PUSH64i8", {StackEffect::kPush, 0, 0, 0, 8}},      {"PUSH64rmm", {StackEffect::kPush, 0, 0, 0, 8}},
    {"PUSH64rmr", {StackEffect::kPush, 0, 0, 0, 8}},     {"PUSHF64", {StackEffect::kPush, 0, 0, 0, 8}},
    {"POP64r", {StackEffect::kPush, 0, 0, 0, -8}},       {"POP64rmm", {StackEffect::kPush, 0, 0, 0, -8}},
    {"POP64rmr", {StackEffect::kPush, 0, 0, 0, -8}},     {"POPF64", {StackEffect::kPush, 0, 0, 0, -8}},
    {"ADD64ri32", {StackEffect::kAdd, 0, 1, 2, 1}},      {"ADD64ri8", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"SUB64ri32", {StackEffect::kAdd, 0, 1, 2, -1}},     {"SUB64ri8", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"ADD64rr", {StackEffect::kAdd, 0, 1, 2, 1}},        {"SUB64rr", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"AND64ri32", {StackEffect::kAnd, 0, 1, 2, 1}},      {"AND64ri8", {StackEffect::kAnd, 0, 1, 2, 1}},
    {"LEA64r", {StackEffect::kLea, 0, 1, 3, 1}},         {"MOV64rr", {StackEffect::kAnd, 0, 1, 1, 1}},
    {"MOV64ri", {StackEffect::kConstant, 0, 0, 1, 1}},   {"MOV64ri32", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"MOV32ri64", {StackEffect::kConstant, 0, 0, 1, 1}},
};

constexpr EffectRow kEffectsAArch64[] = {
    {"ADDXri", {StackEffect::kAdd, 0, 1, 2, 1}},      {"SUBXri", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"ADDXrx64", {StackEffect::kAdd, 0, 1, 2, 1}},    {"SUBXrx64", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"ANDXri", {StackEffect::kAndField, 0, 1, 2, 1}}, {"MOVZXi", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"MOVKXi", {StackEffect::kInsert, 0, 1, 2, 1}},   {"STPXpre", {StackEffect::kAdd, 0, 3, 4, 8}},
    {"STPDpre", {StackEffect::kAdd, 0, 3, 4, 8}},     {"STPQpre", {StackEffect::kAdd, 0, 3, 4, 16}},
    {"STPWpre", {StackEffect::kAdd, 0, 3, 4, 4}},     {"STRXpre", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"STRDpre", {StackEffect::kAdd, 0, 2, 3, 1}},     {"STRQpre", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"STRWpre", {StackEffect::kAdd, 0, 2, 3, 1}},     {"LDPXpost", {StackEffect::kAdd, 0, 3, 4, 8}},
    {"LDPDpost", {StackEffect::kAdd, 0, 3, 4, 8}},    {"LDPQpost", {StackEffect::kAdd, 0, 3, 4, 16}},
    {"LDPWpost", {StackEffect::kAdd, 0, 3, 4, 4}},    {"LDRXpost", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"LDRDpost", {StackEffect::kAdd, 0, 2, 3, 1}},    {"LDRQpost", {StackEffect::kAdd, 0, 2, 3, 1}},
};

constexpr EffectRow kEffectsArm[] = {
    {"tPUSH", {StackEffect::kPushList, 0, 2, 0, 4}},
    {"tPOP", {StackEffect::kPushList, 0, 2, 0, -4}},
    {"tPOP_RET", {StackEffect::kPushList, 0, 2, 0, -4}},
    {"t2STMDB_UPD", {StackEffect::kPushList, 0, 4, 0, 4}},
    {"t2LDMIA_UPD", {StackEffect::kPushList, 0, 4, 0, -4}},
    {"t2LDMIA_RET", {StackEffect::kPushList, 0, 4, 0, -4}},
    {"STMDB_UPD", {StackEffect::kPushList, 0, 4, 0, 4}},
    {"LDMIA_UPD", {StackEffect::kPushList, 0, 4, 0, -4}},
    {"LDMIA_RET", {StackEffect::kPushList, 0, 4, 0, -4}},
    {"VSTMDDB_UPD", {StackEffect::kPushList, 0, 4, 0, 8}},
    {"VLDMDIA_UPD", {StackEffect::kPushList, 0, 4, 0, -8}},
    {"VSTMSDB_UPD", {StackEffect::kPushList, 0, 4, 0, 4}},
    {"VLDMSIA_UPD", {StackEffect::kPushList, 0, 4, 0, -4}},
    {"tADDspi", {StackEffect::kAdd, 0, 1, 2, 4}},
    {"tSUBspi", {StackEffect::kAdd, 0, 1, 2, -4}},
    {"tADDrSPi", {StackEffect::kAdd, 0, 1, 2, 4}},
    {"tADDhirr", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"tADDspr", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"tADDrSP", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"tADDi8", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"tADDi3", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"tSUBi8", {StackEffect::kAdd, 0, 2, 3, -1}},
    {"tSUBi3", {StackEffect::kAdd, 0, 2, 3, -1}},
    {"tADDrr", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"tSUBrr", {StackEffect::kAdd, 0, 2, 3, -1}},
    {"tMOVr", {StackEffect::kAnd, 0, 1, 1, 1}},
    {"tMOVi8", {StackEffect::kConstant, 0, 0, 2, 1}},
    {"tLDRpci", {StackEffect::kPooled, 0, 0, 1, 1}},
    {"tLSLri", {StackEffect::kLeft, 0, 2, 3, 1}},
    {"tLSRri", {StackEffect::kRight, 0, 2, 3, 1}},
    {"t2LDRpci", {StackEffect::kPooled, 0, 0, 1, 1}},
    {"t2ADDri", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"t2SUBri", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"t2ADDri12", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"t2SUBri12", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"t2ADDspImm", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"t2SUBspImm", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"t2ADDspImm12", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"t2SUBspImm12", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"t2ADDrr", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"t2SUBrr", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"t2BFC", {StackEffect::kAnd, 0, 1, 2, 1}},
    {"t2MOVi", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"t2MOVi16", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"t2MOVTi16", {StackEffect::kInsert, 0, 1, 2, 65536}},
    {"t2STR_PRE", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"t2LDR_POST", {StackEffect::kAdd, 1, 2, 3, 1}},
    {"ADDri", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"SUBri", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"ADDrr", {StackEffect::kAdd, 0, 1, 2, 1}},
    {"SUBrr", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"BFC", {StackEffect::kAnd, 0, 1, 2, 1}},
    {"MOVr", {StackEffect::kAnd, 0, 1, 1, 1}},
    {"MOVi", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"MOVi16", {StackEffect::kConstant, 0, 0, 1, 1}},
    {"MOVTi16", {StackEffect::kInsert, 0, 1, 2, 65536}},
    {"STR_PRE_IMM", {StackEffect::kAdd, 0, 2, 3, 1}},
    {"LDR_POST_IMM", {StackEffect::kAdd, 1, 2, 4, 1}},
};

constexpr EffectRow kEffectsRiscv[] = {
    {"ADDI", {StackEffect::kAdd, 0, 1, 2, 1}},  {"ADDIW", {StackEffect::kAddWord, 0, 1, 2, 1}},
    {"ADD", {StackEffect::kAdd, 0, 1, 2, 1}},   {"SUB", {StackEffect::kAdd, 0, 1, 2, -1}},
    {"ANDI", {StackEffect::kAnd, 0, 1, 2, 1}},  {"LUI", {StackEffect::kConstant, 0, 0, 1, 4096}},
    {"SLLI", {StackEffect::kLeft, 0, 1, 2, 1}}, {"SRLI", {StackEffect::kRight, 0, 1, 2, 1}},
};

std::span<const EffectRow> effect_rows(const llvm::Triple& triple) {
  if (triple.isX86()) return kEffectsX86;
  if (triple.isAArch64()) return kEffectsAArch64;
  if (triple.isARM() || triple.isThumb()) return kEffectsArm;
  if (triple.isRISCV()) return kEffectsRiscv;
  return {};
}

uint64_t sign_extended_word(uint64_t word) {
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(word)));
}

/// Decodes AArch64's form of a 64-bit immediate that is one rotated run of ones.
std::optional<uint64_t> run_of_ones(int64_t form) {
  auto bits = static_cast<uint64_t>(form);
  if ((bits >> 12 & 1) == 0) return std::nullopt;  // a pattern that repeats
  uint64_t turn = bits >> 6 & 63, ones = (bits & 63) + 1;
  uint64_t run = ones == 64 ? ~uint64_t{0} : (uint64_t{1} << ones) - 1;
  return turn == 0 ? run : run >> turn | run << (64 - turn);
}

/// The shift that AArch64's operand after `index` says for operand `index`; 0 if the instruction has none.
unsigned shift_of(const llvm::MachineInstr& instruction, unsigned index) {
  if (index + 1 >= instruction.getNumExplicitOperands() || !instruction.getOperand(index + 1).isImm()) return 0;
  auto by = static_cast<unsigned>(instruction.getOperand(index + 1).getImm());
  return instruction.getOperand(index).isReg() ? by & 7 : by & 63;  // a register's extension is in higher bits
}

}  // namespace

StackEffects::StackEffects(const llvm::Triple& triple, const llvm::TargetInstrInfo& instructions,
                           const llvm::TargetRegisterInfo& registers, llvm::Register stack_pointer)
    : triple_(triple), instructions_(instructions), registers_(registers), stack_pointer_(stack_pointer) {}

const StackEffect& StackEffects::effect(unsigned opcode) {
  auto [found, added] = effects_.try_emplace(opcode);
  if (added)
    for (const EffectRow& row : effect_rows(triple_))
      if (instructions_.getName(opcode) == row.name) found->second = row.effect;
  return found->second;
}

void StackEffects::apply(const llvm::MachineInstr& instruction, KnownRegisters& known) {
  // An epilogue under a condition ends with a return, so that the code after it runs only if the condition is false.
  if (instruction.getFlag(llvm::MachineInstr::FrameDestroy) && instructions_.isPredicated(instruction)) return;
  const StackEffect& does = effect(instruction.getOpcode());
  std::optional<uint64_t> result = does.kind == StackEffect::kNone ? std::nullopt : value(instruction, does, known);
  bool moves = does.kind == StackEffect::kPush || does.kind == StackEffect::kPushList;
  llvm::Register target =
      moves || does.kind == StackEffect::kNone ? stack_pointer_ : instruction.getOperand(does.dst).getReg();
  if (instructions_.isPredicated(instruction)) result = std::nullopt;
  std::erase_if(known, [&](const auto& one) { return instruction.modifiesRegister(one.first, &registers_); });
  if (!result) return;
  bool narrow = !triple_.isArch64Bit();
  known[target] = narrow ? *result & 0xffffffffu : *result;
}

std::optional<uint64_t> StackEffects::operand(const llvm::MachineInstr& instruction, unsigned index, int64_t scale,
                                              const KnownRegisters& known) const {
  const llvm::MachineOperand& given = instruction.getOperand(index);
  if (given.isImm()) return static_cast<uint64_t>(given.getImm() * scale);
  if (!given.isReg()) return std::nullopt;
  auto found = known.find(given.getReg());
  if (found == known.end()) return std::nullopt;
  return scale < 0 ? 0 - found->second : found->second;
}

std::optional<uint64_t> StackEffects::address(const llvm::MachineInstr& instruction, const StackEffect& effect,
                                              const KnownRegisters& known) const {
  std::optional<uint64_t> base = operand(instruction, effect.a, 1, known);
  std::optional<uint64_t> offset = operand(instruction, effect.b + 1u, 1, known);
  const llvm::MachineOperand& index = instruction.getOperand(effect.b);
  if (!base || !offset || !index.isReg()) return std::nullopt;
  if (!index.getReg().isValid()) return *base + *offset;
  std::optional<uint64_t> times = operand(instruction, effect.b, 1, known);
  if (!times) return std::nullopt;
  return *base + *offset + *times * static_cast<uint64_t>(instruction.getOperand(effect.a + 1u).getImm());
}

/// The number that ARM loads from entry `label` of a constant pool; the entries are among the function's instructions.
std::optional<uint64_t> StackEffects::pooled(const llvm::MachineFunction& function, int label) {
  if (pools_of_ != &function) {
    pools_of_ = &function;
    pools_.clear();
    for (const llvm::MachineBasicBlock& block : function)
      for (const llvm::MachineInstr& one : block)
        if (instructions_.getName(one.getOpcode()) == "CONSTPOOL_ENTRY" && one.getOperand(1).isCPI())
          pools_[one.getOperand(0).getImm()] = one.getOperand(1).getIndex();
  }
  auto found = pools_.find(label);
  if (found == pools_.end()) return std::nullopt;
  const auto& pool = function.getConstantPool()->getConstants();
  const llvm::MachineConstantPoolEntry& entry = pool[static_cast<size_t>(found->second)];
  if (entry.isMachineConstantPoolEntry()) return std::nullopt;
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(entry.Val.ConstVal);
  return number == nullptr ? std::nullopt : std::optional(number->getZExtValue());
}

std::optional<uint64_t> StackEffects::value(const llvm::MachineInstr& instruction, const StackEffect& effect,
                                            const KnownRegisters& known) {
  if (effect.kind == StackEffect::kPush || effect.kind == StackEffect::kPushList) {
    auto before = known.find(stack_pointer_);
    if (before == known.end()) return std::nullopt;
    if (effect.kind == StackEffect::kPush) return before->second - static_cast<uint64_t>(effect.scale);
    if (effect.a == 4 && instruction.getOperand(1).getReg() != stack_pointer_) return std::nullopt;
    int64_t count = static_cast<int64_t>(instruction.getNumExplicitOperands()) - effect.a;
    return before->second - static_cast<uint64_t>(count * effect.scale);
  }
  if (effect.kind == StackEffect::kLea) return address(instruction, effect, known);
  if (effect.kind == StackEffect::kPooled) {
    const llvm::MachineOperand& entry = instruction.getOperand(effect.b);
    return entry.isCPI() ? pooled(*instruction.getMF(), entry.getIndex()) : std::nullopt;
  }
  std::optional<uint64_t> b = operand(instruction, effect.b, effect.scale, known);
  if (!b) return std::nullopt;
  if (effect.kind == StackEffect::kConstant) {
    uint64_t number = *b << (triple_.isAArch64() ? shift_of(instruction, effect.b) : 0);
    return triple_.isRISCV() ? sign_extended_word(number) : number;
  }
  std::optional<uint64_t> a = operand(instruction, effect.a, 1, known);
  if (!a) return std::nullopt;
  switch (effect.kind) {
    case StackEffect::kAdd:
      return *a + (*b << (triple_.isAArch64() ? shift_of(instruction, effect.b) : 0));
    case StackEffect::kAddWord:
      return sign_extended_word(*a + *b);
    case StackEffect::kAnd:
      return *a & *b;
    case StackEffect::kAndField: {
      std::optional<uint64_t> mask = run_of_ones(static_cast<int64_t>(*b));
      return mask ? std::optional(*a & *mask) : std::nullopt;
    }
    case StackEffect::kLeft:
      return *a << (*b & 63);
    case StackEffect::kRight:
      return *a >> (*b & 63);
    case StackEffect::kInsert: {
      unsigned shift = triple_.isAArch64() ? shift_of(instruction, effect.b) : 0;
      uint64_t field = uint64_t{0xffff} * (triple_.isAArch64() ? 1 : static_cast<uint64_t>(effect.scale));
      return (*a & ~(field << shift)) | *b << shift;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace relaxc::codegen_llvm
