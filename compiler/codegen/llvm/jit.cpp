// jit.cpp: an Evaluator that compiles.
//
// Each prim func becomes one module with its callees and one entry of a fixed signature, `int32_t (void* const*
// buffers, const int64_t* scalars, rlx_error* error)`, so that one function type calls them all. Memory that a program
// allocates belongs to the run and is freed with it.
#include "compiler/codegen/llvm/jit.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>
#include <cstdlib>
#include <list>

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/codegen/llvm/lower.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/interface/dlpack.h"
#include "compiler/tir/print.h"
#include "compiler/tir/runtime_functions.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {
namespace {

/// The C records that compiled code writes, with the layout of relax_rt.h.
struct ErrorRecord {
  int32_t code = 0, tensor = -1, axis = -1, symbol = -1, node = -1;
  int64_t expected = 0, actual = 0;
};
struct TensorRecord {
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t dtype_code, dtype_bits;
  uint16_t dtype_lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

/// What functions that compiled code calls need to know of the current run; a thread has one run at a time.
struct Run {
  const tir::CallExternal* external = nullptr;
  std::vector<void*> memory;
  ~Run() {
    for (void* block : memory) std::free(block);
  }
};
thread_local Run* current_run = nullptr;

void* jit_alloc(int64_t bytes) {
  size_t rounded = (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + 63) / 64 * 64;
  void* memory = std::aligned_alloc(64, rounded);
  RELAXC_CHECK(memory != nullptr, "no memory for an evaluation");
  current_run->memory.push_back(memory);
  return memory;
}

DType dtype_of(const TensorRecord& tensor) {
  for (TypeCode code : {TypeCode::kInt, TypeCode::kUInt, TypeCode::kFloat, TypeCode::kBFloat, TypeCode::kBool})
    if (DType dtype{code, tensor.dtype_bits}; interface::dlpack_type(dtype).code == tensor.dtype_code) return dtype;
  RELAXC_UNREACHABLE("an external call with a tensor of another dtype");
}

int32_t jit_external(const char* name, TensorRecord* const* args, int64_t count) {
  std::vector<tir::ExternalArg> list;
  for (int64_t i = 0; i < count; ++i) {
    const TensorRecord& record = *args[i];
    tir::ExternalArg arg;
    if (record.ndim < 0) {
      arg.scalar = static_cast<int64_t>(record.byte_offset);
      arg.dtype = dtype_of(record);
    } else {
      arg.data = record.data;
      arg.dtype = dtype_of(record);
      if (record.ndim > 0) arg.shape.assign(record.shape, record.shape + record.ndim);
    }
    list.push_back(std::move(arg));
  }
  RELAXC_CHECK(*current_run->external, std::string("no one defines the external function ") + name);
  return (*current_run->external)(name, list);
}

llvm::orc::SymbolMap runtime_symbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap map;
  auto add = [&](const std::string& name, auto* function) {
    map[jit.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  };
  using F = tir::RuntimeFunction;
  auto add_runtime = [&](F function, auto* own) { add(tir::runtime_name(function), own); };
  add("relaxc_jit_alloc", &jit_alloc);
  add("relaxc_jit_external", &jit_external);
  add_runtime(F::kFmod, static_cast<double (*)(double, double)>(&std::fmod));
  add_runtime(F::kFmodf, static_cast<float (*)(float, float)>(&std::fmod));
  add_runtime(F::kFma, static_cast<double (*)(double, double, double)>(&std::fma));
  add_runtime(F::kFmaf, static_cast<float (*)(float, float, float)>(&std::fma));
  add_runtime(F::kReduceAngles, &arith::reduce_angles);
  add_runtime(F::kSqrt, static_cast<double (*)(double)>(&std::sqrt));
  add_runtime(F::kSqrtf, static_cast<float (*)(float)>(&std::sqrt));
  add("memcpy", &memcpy);
  add("memmove", &memmove);
  add("memset", &memset);
  return map;
}

template <typename T>
T checked(llvm::Expected<T> result) {
  if (!result) RELAXC_UNREACHABLE(llvm::toString(result.takeError()));
  return std::move(*result);
}
void checked(llvm::Error error) {
  if (error) RELAXC_UNREACHABLE(llvm::toString(std::move(error)));
}

using Entry = int32_t (*)(void* const* buffers, const int64_t* scalars, ErrorRecord* error);

class Jit : public tir::Evaluator {
 public:
  Jit(const Target& target, tir::FindFunction find, tir::CallExternal external)
      : target_(target),
        find_(std::move(find)),
        external_(std::move(external)),
        machine_(make_machine(target, OptLevel::kO2)) {
    llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(target.triple)};
    builder.setCPU(target.cpu).setRelocationModel(llvm::Reloc::PIC_);
    builder.addFeatures(llvm::SubtargetFeatures(target.features).getFeatures());
    builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    jit_ = checked(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create());
    checked(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(runtime_symbols(*jit_))));
  }

  tir::RunStatus run(const tir::PrimFunc& function, std::span<void* const> buffers,
                     std::span<const int64_t> scalars) override {
    Entry entry = compiled(function);
    Run run;
    run.external = &external_;
    Run* outer = std::exchange(current_run, &run);
    ErrorRecord error;
    int32_t code = entry(buffers.data(), scalars.data(), &error);
    current_run = outer;
    if (code == 0) return {};
    return {code, error.tensor, error.axis, error.symbol, error.node, error.expected, error.actual};
  }

 private:
  /// Returns compiled code, cached by the function's text, since a later module may reuse an earlier one's addresses.
  Entry compiled(const tir::PrimFunc& function) {
    auto [it, fresh] = entries_.try_emplace(text_of(function), nullptr);
    if (fresh) it->second = compile(function);
    return it->second;
  }

  std::string text_of(const tir::PrimFunc& function) const {
    std::string text = tir::to_string(function) + (function.noalias ? "noalias" : "");
    for (const tir::Param& param : function.params)
      if (param.buffer != nullptr) text += " " + std::to_string(param.buffer->alignment);
    for (const auto& [name, value] : function.attrs) text += " " + name + "=" + value;
    tir::for_each_stmt(function.body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      const tir::PrimFunc* callee = invoke != nullptr && !invoke->external && find_ ? find_(invoke->callee) : nullptr;
      if (callee != nullptr) text += text_of(*callee);
    });
    return text;
  }

  Entry compile(const tir::PrimFunc& function) {
    std::string name = "relaxc_entry_" + std::to_string(entries_.size());
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>(name, *context);
    module->setTargetTriple(machine_->getTargetTriple());
    module->setDataLayout(machine_->createDataLayout());
    LoweringOptions options;
    options.capabilities = capabilities_of(target_, *machine_);
    options.cpu = target_.cpu, options.features = target_.features, options.vector_bits = target_.vector_bits;
    options.in_process = true;
    ModuleLowering lowering(*module, options);
    std::list<tir::PrimFunc> expanded;  // signatures point at them
    add(lowering, function, expanded);
    make_entry(lowering, *lowering.find(function.name), name);
    optimize(*module, *machine_, target_, OptLevel::kO2);
    checked(jit_->addIRModule({std::move(module), std::move(context)}));
    return checked(jit_->lookup(name)).toPtr<Entry>();
  }

  /// Adds `function` after its callees, with exp and the like expanded to the arithmetic that an object has.
  void add(ModuleLowering& lowering, const tir::PrimFunc& function, std::list<tir::PrimFunc>& expanded) {
    if (lowering.find(function.name) != nullptr) return;
    tir::for_each_stmt(function.body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke == nullptr || invoke->external) return;
      const tir::PrimFunc* callee = find_ ? find_(invoke->callee) : nullptr;
      RELAXC_CHECK(callee != nullptr, "a call of " + invoke->callee + ", which does not exist");
      add(lowering, *callee, expanded);
    });
    expanded.push_back(function);
    if (arith::Context* context = context_of(function.body); context != nullptr) {
      tir::Rewriter rewriter;
      rewriter.on_expr = [](arith::Expr e) { return arith::expand_all_math(e); };
      expanded.back().body = tir::rewrite(*context, function.body, rewriter);
    }
    lowering.add(expanded.back(), "f." + function.name);
  }

  /// The context of the expressions in `body`; null if it has none.
  static arith::Context* context_of(tir::Stmt body) {
    arith::Context* found = nullptr;
    tir::for_each_stmt(body, [&](tir::Stmt s) {
      for (arith::Expr e : tir::expressions(s)) found = &e.context();
    });
    return found;
  }

  void make_entry(ModuleLowering& lowering, const Signature& signature, const std::string& name) {
    llvm::IRBuilder<> b(lowering.module().getContext());
    llvm::Type* pointer = b.getPtrTy();
    auto* type = llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer}, false);
    auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, lowering.module());
    b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", entry));
    Numeric numeric(b, lowering.options().capabilities);
    std::vector<llvm::Value*> args;
    if (signature.needs_context) args.push_back(llvm::ConstantPointerNull::get(b.getPtrTy()));
    unsigned buffers = 0, scalars = 0;
    auto next_scalar = [&] {
      return b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), entry->getArg(1), scalars++));
    };
    for (const tir::Param& param : signature.source->params) {
      if (param.buffer != nullptr) {
        args.push_back(b.CreateLoad(pointer, b.CreateConstGEP1_64(pointer, entry->getArg(0), buffers++)));
        continue;
      }
      DType dtype = param.var.dtype();
      llvm::Value* given = next_scalar();
      llvm::Value* value = dtype.is_float() ? numeric.cast(DType::f(64), dtype, b.CreateBitCast(given, b.getDoubleTy()))
                                            : numeric.cast(DType::i(64), dtype, given);
      args.push_back(numeric.to_memory(dtype, value));
    }
    for (size_t i = 0; i < signature.source->symbols.size(); ++i) args.push_back(next_scalar());
    if (signature.may_fail) args.push_back(entry->getArg(2));
    llvm::Value* status = b.CreateCall(signature.function, args);
    b.CreateRet(signature.may_fail ? status : b.getInt32(0));
  }

  Target target_;
  tir::FindFunction find_;
  tir::CallExternal external_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

std::unique_ptr<tir::Evaluator> make_jit(const Target& target, tir::FindFunction find, tir::CallExternal external) {
  return std::make_unique<Jit>(target, std::move(find), std::move(external));
}

}  // namespace relaxc::codegen_llvm
