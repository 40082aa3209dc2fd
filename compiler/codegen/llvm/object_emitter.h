// object_emitter.h: emits everything in an object besides its kernels: functions that C calls, tables, and weights.
#pragma once

#include <functional>
#include <string>

#include "compiler/codegen/llvm/lower.h"
#include "compiler/codegen/llvm/parts.h"
#include "compiler/codegen/llvm/tables.h"
#include "compiler/interface/entry_functions.h"
#include "compiler/interface/object.h"
#include "compiler/interface/typed_call.h"

namespace relaxc::codegen_llvm {

/// Returns the section that has the weights in an object for that machine, as a reader of the file names it.
std::string weights_section(const interface::Object& object, const llvm::Triple& triple);
std::string weights_symbol(const interface::Object& object);

/// A version of the program for some CPUs, and the modules that its functions are lowered into.
struct LoweredLevel {
  std::string name;
  uint64_t needs = 0;  ///< bits of rlx_context.cpu_features
  const interface::Object* object = nullptr;
  ModuleLowering* kernels = nullptr;  ///< compiled for the level's CPU
  ModuleLowering* sizes = nullptr;    ///< compiled for every CPU
};

class ObjectEmitter {
 public:
  /// `levels`: the versions that the object has, least CPU first; empty if it has one version. `elsewhere` receives the
  /// functions that are to be compiled in modules of their own, because this one is full; null: all go into this one.
  ObjectEmitter(ModuleLowering& lowering, const interface::Object& object, std::vector<LoweredLevel> levels = {},
                std::vector<PartFunction>* elsewhere = nullptr)
      : lowering_(lowering),
        module_(lowering.module()),
        object_(object),
        made_(object),
        tables_(lowering, object,
                [this](const tir::PrimFunc& function, const std::string& symbol, ObjectAddresses tables) {
                  return c_function(function, symbol, std::move(tables));
                }),
        levels_(std::move(levels)),
        elsewhere_(elsewhere) {}

  /// Lowers all functions and adds everything else. `weights_text` is assembly that defines the bytes of the weights.
  void run(const std::string& weights_text);

 private:
  using Entry = interface::Entry;
  using Record = interface::Record;

  void lower_functions();
  void lower(ModuleLowering& lowering, const tir::PrimFunc& function, const std::string& symbol);

  // levels.cpp: several versions of the program behind one interface
  void lower_levels();
  void lower_version(ModuleLowering& lowering, const interface::Object& version, const std::vector<std::string>& roots,
                     const std::string& prefix);
  llvm::Function* front_of(const std::string& role, const Signature& version);
  void choose(const std::string& role, const std::vector<const Signature*>& versions);
  llvm::Value* features_of(llvm::IRBuilder<>& b, llvm::Function* front);
  llvm::Function* question();
  void refuse_cpu(llvm::IRBuilder<>& b, llvm::Function* front, llvm::Value* features);
  void largest_arena(const std::string& arena, const std::function<std::string(const interface::Object&)>& of_level);

  /// Lowers a function that the program or the runtime calls, with the tables that it names.
  llvm::Function* c_function(const tir::PrimFunc& function, const std::string& symbol, ObjectAddresses tables = {});

  llvm::GlobalVariable* model_table();
  void selftest(llvm::GlobalVariable* model);

  llvm::Function* declare(const std::string& name, llvm::FunctionType* type, bool global);
  llvm::Value* field(llvm::IRBuilder<>& b, llvm::Value* address, Record which, std::string_view name);
  /// Returns the address of the first weight in the object; null if there is none.
  llvm::Constant* weights_address();
  void define_weights(const std::string& weights_text);
  void refer_to_runtime(const std::string& section, const char* flags);

  ModuleLowering& lowering_;
  llvm::Module& module_;
  const interface::Object& object_;
  interface::EntryFunctions made_;
  Tables tables_;
  std::vector<LoweredLevel> levels_;
  std::vector<PartFunction>* elsewhere_;
};

}  // namespace relaxc::codegen_llvm
