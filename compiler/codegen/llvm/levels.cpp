// levels.cpp: several versions of a program; each call runs the best one that its CPU can run.
//
// The choice is made in each call from context.cpu_features, since an object has no writable memory to keep it in.
// Asking the CPU can take longer than a small model runs, so the first call stores the answer in the caller's context.
// For each role, a function with the signature of one version dispatches to the versions, so adapters and the typed
// call do not depend on levels. Code that runs before the choice (shapes, sizes, this code) is compiled for the
// architecture's baseline. A program with one version chooses alike: between that version and RLX_CPU_FEATURES.
#include "compiler/codegen/llvm/object_emitter.h"
#include "compiler/codegen/llvm/query_cpu_features.h"
#include "compiler/interface/call_order.h"
#include "compiler/tir/visit.h"

#include <set>

namespace relaxc::codegen_llvm {

using interface::Record;
using llvm::Value;

namespace {

constexpr uint32_t kCpuFeatures = 23;  ///< RLX_CPU_FEATURES

/// `roots` and the functions that they call, directly or not, in the order of the object's list.
std::vector<const tir::PrimFunc*> below(const interface::Object& object, const std::vector<std::string>& roots) {
  std::map<std::string, const tir::PrimFunc*, std::less<>> by_name;
  for (const tir::PrimFunc* function : object.functions) by_name[function->name] = function;
  std::set<const tir::PrimFunc*> found;
  std::vector<std::string> waiting = roots;
  while (!waiting.empty()) {
    std::string name = std::move(waiting.back());
    waiting.pop_back();
    auto known = by_name.find(name);
    if (known == by_name.end() || !found.insert(known->second).second) continue;
    tir::for_each_stmt(known->second->body, [&](tir::Stmt s) {
      const auto* invoke = s.as<tir::Invoke>();
      if (invoke != nullptr && !invoke->external) waiting.push_back(invoke->callee);
    });
  }
  std::vector<const tir::PrimFunc*> out;
  for (const tir::PrimFunc* function : object.functions)
    if (found.count(function) != 0) out.push_back(function);
  return out;
}

/// Calls a version with those of the arguments of `front` (context, parameters, error record) that it takes. Returns
/// its status, 0 if it cannot fail.
Value* pass_on(llvm::IRBuilder<>& b, const Signature& callee, llvm::Function* front) {
  std::vector<Value*> args;
  unsigned last = static_cast<unsigned>(front->arg_size()) - 1;
  for (unsigned i = callee.needs_context ? 0 : 1; i < last + (callee.may_fail ? 1 : 0); ++i)
    args.push_back(front->getArg(i));
  RELAXC_CHECK(args.size() == callee.function->arg_size(), "versions of a function differ in their parameters");
  Value* status = b.CreateCall(callee.function, args);
  return callee.may_fail ? status : b.getInt32(0);
}

}  // namespace

void ObjectEmitter::lower_version(ModuleLowering& lowering, const interface::Object& version,
                                  const std::vector<std::string>& roots, const std::string& prefix) {
  interface::Object listed = version;
  listed.functions = below(version, roots);
  for (const tir::PrimFunc* function : interface::called_before_listed(listed))
    lowering.declare(*function, prefix + function->name);
  for (const tir::PrimFunc* function : listed.functions) lower(lowering, *function, prefix + function->name);
}

void ObjectEmitter::lower_levels() {
  std::vector<std::string> guards;
  for (const Entry& entry : object_.entries) {
    if (!entry.shapes.empty()) guards.push_back(entry.shapes);
    if (!entry.values.empty()) guards.push_back(entry.values);
  }
  const bool several = levels_.size() > 1;
  for (const Entry& entry : object_.entries)
    if (!several && !entry.arena.empty()) guards.push_back(entry.arena);
  for (const interface::PublicPrimFunc& function : object_.public_prim_funcs)
    if (!several && !function.arena.empty()) guards.push_back(function.arena);
  lower_version(lowering_, object_, guards, object_.name + (several ? ".f." : ".g."));
  for (const LoweredLevel& level : levels_) {
    std::vector<std::string> sizes, calls;
    for (const Entry& entry : level.object->entries) {
      calls.push_back(entry.call);
      if (several && !entry.arena.empty()) sizes.push_back(entry.arena);
    }
    for (const interface::PublicPrimFunc& function : level.object->public_prim_funcs) {
      calls.push_back(function.callee());
      if (several && !function.arena.empty()) sizes.push_back(function.arena);
    }
    const std::string stem = object_.name + (several ? "." + level.name : "");
    lower_version(*level.sizes, *level.object, sizes, stem + ".a.");
    lower_version(*level.kernels, *level.object, calls, stem + ".f.");
  }
  for (size_t i = 0; i < object_.entries.size(); ++i) {
    std::vector<const Signature*> calls;
    for (const LoweredLevel& level : levels_) calls.push_back(level.kernels->find(level.object->entries[i].call));
    choose(object_.entries[i].call, calls);
    if (several && !object_.entries[i].arena.empty())
      largest_arena(object_.entries[i].arena, [i](const interface::Object& level) { return level.entries[i].arena; });
  }
  for (size_t i = 0; i < object_.public_prim_funcs.size(); ++i) {
    const interface::PublicPrimFunc& function = object_.public_prim_funcs[i];
    std::vector<const Signature*> calls;
    for (const LoweredLevel& level : levels_)
      calls.push_back(level.kernels->find(level.object->public_prim_funcs[i].callee()));
    choose(function.callee(), calls);
    if (several && !function.arena.empty())
      largest_arena(function.arena, [i](const interface::Object& level) { return level.public_prim_funcs[i].arena; });
  }
}

/// Declares the function that chooses among versions: a context comes before their parameters, an error record after.
llvm::Function* ObjectEmitter::front_of(const std::string& role, const Signature& version) {
  llvm::LLVMContext& context = module_.getContext();
  std::vector<llvm::Type*> types;
  if (!version.needs_context) types.push_back(llvm::PointerType::get(context, 0));
  for (llvm::Argument& argument : version.function->args()) types.push_back(argument.getType());
  if (!version.may_fail) types.push_back(llvm::PointerType::get(context, 0));
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), types, false);
  llvm::Function* front = declare(object_.name + ".cpu." + role, type, false);
  Signature signature;
  signature.source = version.source;
  signature.function = front;
  signature.may_fail = signature.needs_context = true;
  lowering_.adopt(role, signature);
  return front;
}

void ObjectEmitter::choose(const std::string& role, const std::vector<const Signature*>& versions) {
  for (const Signature* version : versions) RELAXC_CHECK(version != nullptr, "a level lacks " + role);
  llvm::Function* front = front_of(role, *versions[0]);
  llvm::LLVMContext& context = module_.getContext();
  llvm::IRBuilder<> b(context);
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, front); };
  b.SetInsertPoint(block("entry"));
  Value* features = features_of(b, front);
  for (size_t i = levels_.size(); i-- > 0;) {
    Value* needs = b.getInt64(levels_[i].needs);
    auto *run = block("runs"), *next = block("lacks");
    b.CreateCondBr(b.CreateICmpEQ(b.CreateAnd(features, needs), needs), run, next);
    b.SetInsertPoint(run);
    b.CreateRet(pass_on(b, *versions[i], front));
    b.SetInsertPoint(next);
  }
  refuse_cpu(b, front, features);
}

/// Returns the CPU features in the context of `front`. If it has none, the CPU is asked and a context keeps the answer.
Value* ObjectEmitter::features_of(llvm::IRBuilder<>& b, llvm::Function* front) {
  auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, front); };
  auto *given = block("given"), *ask = block("ask"), *keep = block("keep"), *known = block("known");
  Value* none = b.CreateIsNull(front->getArg(0));
  b.CreateCondBr(none, ask, given);
  b.SetInsertPoint(given);
  Value* place = field(b, front->getArg(0), Record::kContext, "cpu_features");
  llvm::LoadInst* cached = b.CreateAlignedLoad(b.getInt64Ty(), place, llvm::Align(8));
  cached->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateICmpEQ(cached, b.getInt64(0)), ask, known);
  b.SetInsertPoint(ask);
  Value* asked = b.CreateCall(question());
  b.CreateCondBr(none, known, keep);
  b.SetInsertPoint(keep);
  Value* again = field(b, front->getArg(0), Record::kContext, "cpu_features");
  b.CreateAlignedStore(asked, again, llvm::Align(8))->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateBr(known);
  b.SetInsertPoint(known);
  llvm::PHINode* features = b.CreatePHI(b.getInt64Ty(), 3);
  features->addIncoming(cached, given);
  features->addIncoming(asked, ask);
  features->addIncoming(asked, keep);
  return features;
}

/// Returns the object's function that asks the CPU for its features; the first call makes it.
llvm::Function* ObjectEmitter::question() {
  std::string name = object_.name + ".cpu_features";
  if (llvm::Function* known = module_.getFunction(name)) return known;
  auto* type = llvm::FunctionType::get(llvm::Type::getInt64Ty(module_.getContext()), false);
  llvm::Function* function = declare(name, type, false);
  function->addFnAttr(llvm::Attribute::NoInline);
  query_cpu_features(*function);
  return function;
}

/// Emits the record of RLX_CPU_FEATURES, with the features that the lowest level needs and those of the CPU.
void ObjectEmitter::refuse_cpu(llvm::IRBuilder<>& b, llvm::Function* front, Value* features) {
  Value* error = front->getArg(static_cast<unsigned>(front->arg_size()) - 1);
  auto* record = llvm::BasicBlock::Create(b.getContext(), "record", front);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "recorded", front);
  b.CreateCondBr(b.CreateIsNull(error), done, record);
  b.SetInsertPoint(record);
  auto set = [&](std::string_view name, Value* value) { b.CreateStore(value, field(b, error, Record::kError, name)); };
  set("code", b.getInt32(kCpuFeatures));
  for (std::string_view name : {"tensor", "axis", "symbol", "node"}) set(name, b.getInt32(~0u));
  set("expected", b.getInt64(levels_[0].needs));
  set("actual", features);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(b.getInt32(kCpuFeatures));
}

/// Emits the function of an arena's size. It is the largest over all levels, since a call may take any version.
void ObjectEmitter::largest_arena(const std::string& arena,
                                  const std::function<std::string(const interface::Object&)>& of_level) {
  auto version = [&](const LoweredLevel& level) { return level.sizes->find(of_level(*level.object)); };
  RELAXC_CHECK(version(levels_[0]) != nullptr, "a level lacks " + arena);
  llvm::Function* front = front_of(arena, *version(levels_[0]));
  llvm::IRBuilder<> b(module_.getContext());
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", front));
  Value* bytes = front->getArg(static_cast<unsigned>(front->arg_size()) - 2);
  Value* most = b.getInt64(0);
  for (const LoweredLevel& level : levels_) {
    const Signature* size = version(level);
    RELAXC_CHECK(size != nullptr, "a level lacks " + arena);
    Value* status = pass_on(b, *size, front);
    if (size->may_fail) {
      auto* leave = llvm::BasicBlock::Create(b.getContext(), "fails", front);
      auto* continue_block = llvm::BasicBlock::Create(b.getContext(), "holds", front);
      b.CreateCondBr(b.CreateICmpNE(status, b.getInt32(0)), leave, continue_block);
      b.SetInsertPoint(leave);
      b.CreateRet(status);
      b.SetInsertPoint(continue_block);
    }
    Value* own = b.CreateLoad(b.getInt64Ty(), bytes);
    most = b.CreateSelect(b.CreateICmpUGT(own, most), own, most);
  }
  b.CreateStore(most, bytes);
  b.CreateRet(b.getInt32(0));
}

}  // namespace relaxc::codegen_llvm
