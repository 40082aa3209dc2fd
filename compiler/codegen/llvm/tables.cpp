// tables.cpp: emits the definitions of an object's tables as global variables.
#include "compiler/codegen/llvm/tables.h"

#include <llvm/IR/Constants.h>

namespace relaxc::codegen_llvm {

using interface::Definition;

llvm::GlobalVariable* Tables::define(const std::vector<Definition>& definitions) {
  std::vector<std::pair<llvm::GlobalVariable*, const interface::Records*>> waiting;  // filled when all tables exist
  for (const Definition& definition : definitions) {
    const std::string symbol = symbol_of(definition);
    if (const auto* function = std::get_if<interface::TableFunction>(&definition.what)) {
      ObjectAddresses tables;
      for (const auto& [name, at] : function->data) tables.emplace(name, address(at));
      defined_.push_back(make_function_(function->function, symbol, std::move(tables)));
    } else if (definition.refers_beyond(defined_.size())) {
      const auto& records = std::get<interface::Records>(definition.what);
      waiting.emplace_back(declare(type_of(records), symbol), &records);
      defined_.push_back(waiting.back().first);
    } else {
      llvm::Constant* value = std::visit(
          [&](const auto& what) -> llvm::Constant* {
            if constexpr (std::is_same_v<std::decay_t<decltype(what)>, interface::TableFunction>)
              RELAXC_UNREACHABLE();
            else
              return initializer(what);
          },
          definition.what);
      llvm::GlobalVariable* table = declare(value->getType(), symbol);
      table->setInitializer(value);
      defined_.push_back(table);
    }
  }
  for (const auto& [table, records] : waiting) table->setInitializer(initializer(*records));
  auto* model = llvm::cast<llvm::GlobalVariable>(defined_.back());
  model->setLinkage(llvm::GlobalValue::ExternalLinkage);
  return model;
}

llvm::GlobalVariable* Tables::bytes(llvm::ArrayRef<uint8_t> content, const std::string& name) {
  llvm::Constant* value = llvm::ConstantDataArray::get(module_.getContext(), content);
  llvm::GlobalVariable* table = declare(value->getType(), name);
  table->setInitializer(value);
  return table;
}

llvm::GlobalVariable* Tables::declare(llvm::Type* type, const std::string& name) {
  return new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::InternalLinkage, nullptr, name);
}

/// The symbol of a definition; only the model's, which programs name, has an underscore.
std::string Tables::symbol_of(const Definition& definition) const {
  if (definition.entry != Definition::kOfObject)
    return object_.name + "." + object_.entries[static_cast<size_t>(definition.entry)].name + "." + definition.name;
  return object_.name + (definition.name == "model" ? "_" : ".") + definition.name;
}

llvm::Constant* Tables::address(interface::Address at) {
  llvm::Constant* base = defined_[at.definition];
  if (at.element == 0) return base;
  llvm::Type* word = llvm::Type::getInt32Ty(module_.getContext());
  llvm::Constant* path[] = {llvm::ConstantInt::get(word, 0), llvm::ConstantInt::get(word, at.element)};
  return llvm::ConstantExpr::getInBoundsGetElementPtr(llvm::cast<llvm::GlobalVariable>(base)->getValueType(), base,
                                                      path);
}

llvm::Constant* Tables::initializer(const interface::Text& text) {
  return llvm::ConstantDataArray::getString(module_.getContext(), text.text);
}

llvm::Constant* Tables::initializer(const interface::Numbers& numbers) {
  llvm::Type* type = llvm::IntegerType::get(module_.getContext(), interface::size_of(numbers.kind, 0) * 8);
  std::vector<llvm::Constant*> values;
  for (int64_t value : numbers.values) values.push_back(field(type, value));
  return llvm::ConstantArray::get(llvm::ArrayType::get(type, values.size()), values);
}

llvm::Constant* Tables::initializer(const interface::Floats& floats) {
  return llvm::ConstantDataArray::get(module_.getContext(), llvm::ArrayRef<float>(floats.values));
}

llvm::Constant* Tables::initializer(const interface::Addresses& addresses) {
  std::vector<llvm::Constant*> values;
  for (interface::Address at : addresses.values) values.push_back(address(at));
  llvm::Type* pointer = llvm::PointerType::get(module_.getContext(), 0);
  return llvm::ConstantArray::get(llvm::ArrayType::get(pointer, values.size()), values);
}

llvm::Type* Tables::type_of(const interface::Records& records) {
  llvm::StructType* type = lowering_.record(records.record);
  return records.is_array ? static_cast<llvm::Type*>(llvm::ArrayType::get(type, records.rows.size())) : type;
}

llvm::Constant* Tables::initializer(const interface::Records& records) {
  llvm::StructType* type = lowering_.record(records.record);
  std::vector<llvm::Constant*> rows;
  for (const std::vector<interface::Constant>& row : records.rows) {
    std::vector<llvm::Constant*> fields;
    for (size_t i = 0; i < row.size(); ++i)
      fields.push_back(field(type->getElementType(static_cast<unsigned>(i)), row[i]));
    rows.push_back(llvm::ConstantStruct::get(type, fields));
  }
  return records.is_array ? llvm::ConstantArray::get(llvm::ArrayType::get(type, rows.size()), rows) : rows.front();
}

llvm::Constant* Tables::field(llvm::Type* type, const interface::Constant& value) {
  if (const auto* at = std::get_if<interface::Address>(&value)) return address(*at);
  if (const auto* size = std::get_if<interface::SizeOf>(&value))
    return llvm::ConstantInt::get(
        type, module_.getDataLayout().getTypeAllocSize(lowering_.record(size->record)).getFixedValue());
  const int64_t number = std::get<int64_t>(value);
  RELAXC_CHECK(!type->isPointerTy() || number == 0, "a number in place of a pointer");
  if (type->isPointerTy()) return llvm::Constant::getNullValue(type);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(number), false, true);
}

}  // namespace relaxc::codegen_llvm
