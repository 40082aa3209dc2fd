// query_cpu_features.cpp: emits rlx_cpu_features as code of the object.
//
// An object for a CPU that not every machine has must be able to refuse without the runtime, since a program that only
// makes typed calls need not link it. The queries are those of runtime-lite/core/cpu_features.c, except two that have
// only one answer on an x86-64 that gets here: a CPU whose operating system uses XSAVE has leaf 13, so leaf 7 as well,
// and "long mode" itself is in leaf 0x80000001. On a virtual machine each query costs some microseconds.
#include "compiler/codegen/llvm/query_cpu_features.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

#include "compiler/support/check.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::Value;

constexpr uint64_t kKnown = uint64_t{1} << 63;

/// A feature: the bits of one answer that must all be set, and the bit of RLX_CPU_* that stands for them.
struct Sign {
  uint32_t mask;
  uint64_t bit;
};

constexpr uint32_t kSse42 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;  // leaf 1, c
constexpr uint32_t kSavesAvx = 1u << 27 | 1u << 28;                                         // leaf 1, c: OSXSAVE, AVX
constexpr uint32_t kFma = 1u << 12, kMovbe = 1u << 22, kF16c = 1u << 29;                    // leaf 1, c
constexpr uint32_t kAvx2 = 1u << 5, kBmi = 1u << 3 | 1u << 8;                               // leaf 7, b
constexpr uint32_t kAvx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;          // leaf 7, b
constexpr uint32_t kAvx512Vnni = 1u << 11;                                                  // leaf 7, c
constexpr uint32_t kAvxVnni = 1u << 4;                                                      // leaf 7.1, a
constexpr uint32_t kLzcnt = 1u << 5;                                                        // leaf 0x80000001, c
constexpr uint32_t kAvxStates = 0x6, kAvx512States = 0xe6;                                  // XCR0

class X86Question {
 public:
  explicit X86Question(llvm::Function& function) : function_(function), b_(function.getContext()) {}

  void write() {
    auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, &function_); };
    auto *begin = block("entry"), *states = block("states"), *vectors = block("vectors"), *second = block("second"),
         *rest = block("rest"), *done = block("done");
    b_.SetInsertPoint(begin);
    Value* c1 = part(cpuid(1, 0), 2);
    Value* least = b_.CreateOr(b_.getInt64(kKnown), bit_if(has(c1, kSse42), 0));
    b_.CreateCondBr(has(c1, kSavesAvx), states, done);

    b_.SetInsertPoint(states);
    Value* saved = xcr0();
    b_.CreateCondBr(has(saved, kAvxStates), vectors, done);

    b_.SetInsertPoint(vectors);
    Value *seven = cpuid(7, 0), *b7 = part(seven, 1);
    b_.CreateCondBr(b_.CreateICmpNE(part(seven, 0), b_.getInt32(0)), second, rest);
    b_.SetInsertPoint(second);
    Value* vnni = bit_if(has(part(cpuid(7, 1), 0), kAvxVnni), 6);
    b_.CreateBr(rest);

    b_.SetInsertPoint(rest);
    llvm::PHINode* features = b_.CreatePHI(b_.getInt64Ty(), 2);
    features->addIncoming(b_.getInt64(0), vectors);
    features->addIncoming(vnni, second);
    Value* lzcnt = has(part(cpuid(0x80000001u, 0), 2), kLzcnt);
    Value* avx512 = b_.CreateAnd(has(saved, kAvx512States), has(b7, kAvx512));
    Value* all = b_.CreateOr(least, features);
    for (Value* more : {bit_if(has(b7, kAvx2), 1), bit_if(has(c1, kFma), 2), bit_if(has(c1, kF16c), 3),
                        bit_if(avx512, 4), bit_if(b_.CreateAnd(avx512, has(part(seven, 2), kAvx512Vnni)), 5),
                        bit_if(b_.CreateAnd(b_.CreateAnd(has(b7, kBmi), has(c1, kMovbe)), lzcnt), 7)})
      all = b_.CreateOr(all, more);
    b_.CreateBr(done);

    b_.SetInsertPoint(done);
    llvm::PHINode* answer = b_.CreatePHI(b_.getInt64Ty(), 3);
    answer->addIncoming(least, begin);
    answer->addIncoming(least, states);
    answer->addIncoming(all, rest);
    b_.CreateRet(answer);
  }

 private:
  /// Emits CPUID and returns eax, ebx, ecx and edx.
  Value* cpuid(uint32_t leaf, uint32_t subleaf) {
    llvm::Type* word = b_.getInt32Ty();
    auto* words = llvm::StructType::get(b_.getContext(), {word, word, word, word});
    auto* type = llvm::FunctionType::get(words, {word, word}, false);
    auto* ask =
        llvm::InlineAsm::get(type, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", true);
    return b_.CreateCall(ask, {b_.getInt32(leaf), b_.getInt32(subleaf)});
  }
  /// Returns XCR0: the register states that the operating system saves.
  Value* xcr0() {
    llvm::Type* word = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), {word, word}), {word}, false);
    auto* ask = llvm::InlineAsm::get(type, "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}", true);
    return part(b_.CreateCall(ask, {b_.getInt32(0)}), 0);
  }
  Value* part(Value* words, unsigned index) { return b_.CreateExtractValue(words, index); }
  Value* has(Value* word, uint32_t mask) {
    return b_.CreateICmpEQ(b_.CreateAnd(word, b_.getInt32(mask)), b_.getInt32(mask));
  }
  Value* bit_if(Value* holds, unsigned bit) {
    return b_.CreateShl(b_.CreateZExt(holds, b_.getInt64Ty()), b_.getInt64(bit));
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
};

constexpr uint64_t kNeon = 1u << 16, kDotprod = 1u << 17, kI8mm = 1u << 18, kFp16 = 1u << 19, kSve = 1u << 20;

/// Asks the Linux kernel for the features of an ARM (AT_HWCAP, AT_HWCAP2), if there is a C library with getauxval.
void query_linux(llvm::Function& function) {
  static constexpr Sign kFirst[] = {{1u << 20, kDotprod}, {1u << 22, kSve}, {1u << 9 | 1u << 10, kFp16}};
  static constexpr Sign kSecond[] = {{1u << 13, kI8mm}};
  llvm::LLVMContext& context = function.getContext();
  llvm::IRBuilder<> b(context);
  auto* type = llvm::FunctionType::get(b.getInt64Ty(), {b.getInt64Ty()}, false);
  auto* getauxval =
      llvm::cast<llvm::Function>(function.getParent()->getOrInsertFunction("getauxval", type).getCallee());
  getauxval->setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  getauxval->setDoesNotThrow();
  auto* begin = llvm::BasicBlock::Create(context, "entry", &function);
  auto* ask = llvm::BasicBlock::Create(context, "ask", &function);
  auto* done = llvm::BasicBlock::Create(context, "done", &function);
  b.SetInsertPoint(begin);
  Value* least = b.getInt64(kKnown | kNeon);
  b.CreateCondBr(b.CreateIsNull(getauxval), done, ask);
  b.SetInsertPoint(ask);
  Value* all = least;
  auto add = [&](uint64_t vector, llvm::ArrayRef<Sign> signs) {
    Value* word = b.CreateCall(getauxval, {b.getInt64(vector)});
    for (const Sign& sign : signs) {
      Value* holds = b.CreateICmpEQ(b.CreateAnd(word, b.getInt64(sign.mask)), b.getInt64(sign.mask));
      all = b.CreateOr(all, b.CreateSelect(holds, b.getInt64(sign.bit), b.getInt64(0)));
    }
  };
  add(16, kFirst);
  add(26, kSecond);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  llvm::PHINode* answer = b.CreatePHI(b.getInt64Ty(), 2);
  answer->addIncoming(least, begin);
  answer->addIncoming(all, ask);
  b.CreateRet(answer);
}

}  // namespace

void query_cpu_features(llvm::Function& function) {
  const llvm::Triple& triple = function.getParent()->getTargetTriple();
  if (triple.getArch() == llvm::Triple::x86_64) return X86Question(function).write();
  RELAXC_CHECK(triple.isAArch64(), "no question to a CPU of " + triple.str());
  if (triple.isOSLinux()) return query_linux(function);
  uint64_t all = kKnown | kNeon | (triple.isOSDarwin() ? kDotprod | kFp16 : 0);  // those of the M1 and later
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  b.CreateRet(b.getInt64(all));
}

}  // namespace relaxc::codegen_llvm
