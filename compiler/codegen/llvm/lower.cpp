// lower.cpp: declares prim funcs as LLVM functions before their bodies are lowered.
#include "compiler/codegen/llvm/lower.h"

#include "compiler/codegen/llvm/lower/function.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {
namespace {

/// Sets in `signature` whether the function may fail and whether it needs a context, as callers must know.
void inspect(const ModuleLowering& module, const tir::PrimFunc& function, Signature& signature) {
  signature.may_fail = function.checks.overflow_code != 0;
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    if (s.as<tir::Guard>() != nullptr) signature.may_fail = true;
    const auto* loop = s.as<tir::For>();
    bool parallel = loop != nullptr && loop->loop_kind == tir::LoopKind::kParallel && module.options().task_slots > 1;
    signature.needs_context |= parallel;
    const auto* invoke = s.as<tir::Invoke>();
    if (invoke == nullptr || invoke->plain) return;
    bool hooked = module.options().hooks.at(invoke->trace_node);
    signature.may_fail |= hooked && module.options().hooks.poll;
    signature.needs_context |= hooked;
    const Signature* callee = invoke->external ? nullptr : module.find(invoke->callee);
    signature.may_fail |= callee == nullptr || callee->may_fail;
    signature.needs_context |= callee == nullptr || callee->needs_context;
  });
}

llvm::Type* scalar_parameter(llvm::IRBuilder<>& builder, DType dtype) {
  return Numeric(builder, {}).memory_type(dtype);
}

}  // namespace

const Signature* ModuleLowering::find(const std::string& name) const {
  auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : &it->second;
}

llvm::StructType* ModuleLowering::record(const tir::Record& described) {
  llvm::LLVMContext& context = module_.getContext();
  std::string name(described.name);
  if (auto* known = llvm::StructType::getTypeByName(context, name)) return known;
  std::vector<llvm::Type*> types;
  for (const tir::Field& field : described.fields) {
    unsigned bytes = tir::size_of(field.kind, 0);
    types.push_back(bytes == 0 ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
                               : llvm::IntegerType::get(context, bytes * 8));
  }
  return llvm::StructType::create(context, types, name);
}

void ModuleLowering::set_attributes(llvm::Function& function) const {
  function.setDoesNotThrow();
  function.setDSOLocal(true);
  if (options_.small) function.addFnAttr(llvm::Attribute::OptimizeForSize);
  if (!options_.cpu.empty()) function.addFnAttr("target-cpu", options_.cpu);
  if (!options_.features.empty()) function.addFnAttr("target-features", options_.features);
  if (options_.vector_bits != 0) {
    function.addFnAttr("prefer-vector-width", std::to_string(options_.vector_bits));
    function.addFnAttr("min-legal-vector-width", std::to_string(options_.vector_bits));
  }
}

llvm::Function* ModuleLowering::fail(bool called_by_c) {
  llvm::Function*& fail = called_by_c ? fail_of_c_ : fail_;
  if (fail == nullptr) fail = make_fail();
  return fail;
}

/// Makes an internal function that is called when something failed, and returns a status.
llvm::Function* ModuleLowering::make_cold(const std::string& symbol, const std::vector<llvm::Type*>& parameters) {
  llvm::Type* status = llvm::Type::getInt32Ty(module_.getContext());
  llvm::Function* function = llvm::Function::Create(llvm::FunctionType::get(status, parameters, false),
                                                    llvm::GlobalValue::InternalLinkage, symbol, module_);
  set_attributes(*function);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  return function;
}

/// Makes the function that a failing guard calls. Size functions have thousands of guards: inlined, each is 3 blocks.
llvm::Function* ModuleLowering::make_fail() {
  llvm::LLVMContext& context = module_.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type *code = b.getInt32Ty(), *word = b.getInt64Ty();
  llvm::Function* fail = make_cold("relaxc.fail", {b.getPtrTy(), code, word, word, word, word});
  llvm::Argument *error = fail->getArg(0), *ids = fail->getArg(2), *places = fail->getArg(3);
  llvm::BasicBlock *entry = llvm::BasicBlock::Create(context, "entry", fail),
                   *write = llvm::BasicBlock::Create(context, "record", fail),
                   *done = llvm::BasicBlock::Create(context, "recorded", fail);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateIsNull(error), done, write);
  b.SetInsertPoint(write);
  auto set = [&](std::string_view name, llvm::Value* value) {
    using interface::Record;
    b.CreateStore(value,
                  b.CreateStructGEP(record(Record::kError), error, interface::field_index(Record::kError, name)));
  };
  auto low = [&](llvm::Value* pair) { return b.CreateTrunc(pair, code); };
  auto high = [&](llvm::Value* pair) { return b.CreateTrunc(b.CreateLShr(pair, 32), code); };
  set("code", fail->getArg(1)), set("tensor", low(ids)), set("axis", high(ids));
  set("symbol", low(places)), set("node", high(places));
  set("expected", fail->getArg(4)), set("actual", fail->getArg(5));
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(fail->getArg(1));
  return fail;
}

/// Finishes the module. Failure functions with one or two callers, as in static models, are inlined: that is less code.
void ModuleLowering::finish() {
  for (llvm::Function* function : {fail_of_c_, name_failure_})
    if (function != nullptr && !function->hasNUsesOrMore(3)) {
      function->removeFnAttr(llvm::Attribute::NoInline);
      function->addFnAttr(llvm::Attribute::AlwaysInline);
    }
  if (lines_ != nullptr) lines_->finish();
}

/// Returns the function that names the failing node in the error record. Inlined, 1,000 calls would have 3,000 blocks.
llvm::Function* ModuleLowering::name_failure() {
  if (name_failure_ != nullptr) return name_failure_;
  llvm::LLVMContext& context = module_.getContext();
  llvm::IRBuilder<> b(context);
  name_failure_ = make_cold("relaxc.name_failure", {b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()});
  llvm::Argument *error = name_failure_->getArg(0), *node = name_failure_->getArg(1),
                 *status = name_failure_->getArg(2);
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, name_failure_); };
  llvm::BasicBlock *entry = block("entry"), *look = block("look"), *write = block("name"), *done = block("named");
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateIsNull(error), done, look);
  b.SetInsertPoint(look);
  llvm::Value* place = b.CreateStructGEP(record(interface::Record::kError), error,
                                         interface::field_index(interface::Record::kError, "node"));
  b.CreateCondBr(b.CreateICmpSLT(b.CreateLoad(b.getInt32Ty(), place), b.getInt32(0)), write, done);
  b.SetInsertPoint(write);
  b.CreateStore(node, place);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(status);
  return name_failure_;
}

void ModuleLowering::declare(const tir::PrimFunc& function, const std::string& symbol) {
  Signature signature{.source = &function, .function = nullptr, .may_fail = true, .needs_context = true};
  make_function(signature, symbol);
  functions_.emplace(function.name, signature);
}

void ModuleLowering::declare_elsewhere(const tir::PrimFunc& function, const std::string& symbol) {
  Signature signature;
  signature.source = &function;
  inspect(*this, function, signature);
  make_function(signature, symbol);
  show_to_parts(*signature.function);
  functions_.emplace(function.name, signature);
}

void ModuleLowering::show_to_parts(llvm::Function& function) {
  function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  function.setVisibility(llvm::GlobalValue::HiddenVisibility);
}

const Signature& ModuleLowering::add(const tir::PrimFunc& function, const std::string& symbol) {
  auto declared = functions_.find(function.name);
  if (declared == functions_.end()) {
    Signature signature;
    signature.source = &function;
    inspect(*this, function, signature);
    make_function(signature, symbol);
    declared = functions_.emplace(function.name, signature).first;
  }
  RELAXC_CHECK(declared->second.function->isDeclaration(), "two prim funcs named " + function.name);
  FunctionLowering(*this, declared->second).run();
  if (lines_ != nullptr) describe(declared->second);
  return declared->second;
}

llvm::Function* ModuleLowering::add_c_function(const tir::PrimFunc& function, const std::string& symbol,
                                               const ObjectAddresses& data) {
  Signature signature;
  signature.source = &function;
  signature.may_fail = true;
  make_function(signature, symbol);
  FunctionLowering(*this, signature, &data).run();
  return signature.function;
}

/// Gives line tables to the function and to the functions of its parallel loops, which are at the module's end.
void ModuleLowering::describe(const Signature& signature) {
  lines_->describe(*signature.function, *signature.source);
  for (auto made = module_.rbegin(); made != module_.rend() && made->getSubprogram() == nullptr; ++made)
    if (!made->isDeclaration()) lines_->describe(*made, *signature.source);
}

void ModuleLowering::make_function(Signature& signature, const std::string& symbol) {
  const tir::PrimFunc& function = *signature.source;
  llvm::LLVMContext& context = module_.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  std::vector<llvm::Type*> types;
  if (signature.needs_context) types.push_back(pointer);
  for (const tir::Param& param : function.params)
    types.push_back(param.buffer != nullptr ? pointer : scalar_parameter(builder, param.var.dtype()));
  for (size_t i = 0; i < function.symbols.size(); ++i) types.push_back(builder.getInt64Ty());
  const bool called_by_c = function.c_function.has_value();
  if (signature.may_fail && !called_by_c) types.push_back(pointer);
  llvm::Type* result = signature.may_fail ? static_cast<llvm::Type*>(builder.getInt32Ty()) : builder.getVoidTy();
  const bool is_global = called_by_c && function.c_function->is_global;
  auto linkage = is_global ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
  signature.function = llvm::Function::Create(llvm::FunctionType::get(result, types, false), linkage, symbol, module_);
  set_attributes(*signature.function);
  if (!called_by_c) signature.function->addFnAttr(llvm::Attribute::NoInline);
}

}  // namespace relaxc::codegen_llvm
