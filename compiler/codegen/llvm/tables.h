// tables.h: emits the tables of an object as LLVM constants.
//
// Tables with pointers are in .data.rel.ro, all others in .rodata, each in a section of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/lower.h"
#include "compiler/interface/tables.h"

namespace relaxc::codegen_llvm {

class Tables {
 public:
  /// Emits a function that C calls, and that names other tables.
  using MakeFunction =
      std::function<llvm::Function*(const tir::PrimFunc& function, const std::string& symbol, ObjectAddresses tables)>;

  Tables(ModuleLowering& lowering, const interface::Object& object, MakeFunction make_function)
      : lowering_(lowering), module_(lowering.module()), object_(object), make_function_(std::move(make_function)) {}

  /// Defines the tables in the order of the list; returns the last one, the model, which the program sees.
  llvm::GlobalVariable* define(const std::vector<interface::Definition>& definitions);
  /// Defines bytes that are private to the object.
  llvm::GlobalVariable* bytes(llvm::ArrayRef<uint8_t> content, const std::string& name);

 private:
  std::string symbol_of(const interface::Definition& definition) const;
  llvm::Constant* initializer(const interface::Text& text);
  llvm::Constant* initializer(const interface::Numbers& numbers);
  llvm::Constant* initializer(const interface::Floats& floats);
  llvm::Constant* initializer(const interface::Addresses& addresses);
  llvm::Constant* initializer(const interface::Records& records);
  llvm::Type* type_of(const interface::Records& records);
  llvm::Constant* field(llvm::Type* type, const interface::Constant& value);
  llvm::Constant* address(interface::Address at);
  llvm::GlobalVariable* declare(llvm::Type* type, const std::string& name);

  ModuleLowering& lowering_;
  llvm::Module& module_;
  const interface::Object& object_;
  MakeFunction make_function_;
  std::vector<llvm::Constant*> defined_;  ///< by index in the list
};

}  // namespace relaxc::codegen_llvm
