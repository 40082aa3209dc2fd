// tables.cpp: the constant records of relax_rt.h and rlx_internal.h.
//
// Records are filled by the names of their fields, so that no code here knows an order or an offset. Tables that hold
// pointers land in .data.rel.ro, all others in .rodata, each in a section of its own.
#include <llvm/IR/Constants.h>

#include "compiler/codegen/llvm/object_emitter.h"
#include "compiler/interface/dlpack.h"
#include "compiler/interface/value_inputs.h"

namespace relaxc::codegen_llvm {

using interface::FieldKind;
using interface::Record;

llvm::Constant* ObjectEmitter::number(FieldKind kind, int64_t value) const {
  unsigned bits = interface::size_of(kind, 0) * 8;
  return llvm::ConstantInt::get(llvm::IntegerType::get(module_.getContext(), bits), static_cast<uint64_t>(value), false,
                                true);
}

llvm::Constant* ObjectEmitter::record(Record which, const Fields& given) {
  llvm::StructType* type = lowering_.record(which);
  std::vector<llvm::Constant*> values;
  for (llvm::Type* field : type->elements()) values.push_back(llvm::Constant::getNullValue(field));
  for (const auto& [name, value] : given) {
    uint32_t index = interface::field_index(which, name);
    RELAXC_CHECK(value->getType() == type->getElementType(index), "another type for " + std::string(name));
    values[index] = value;
  }
  return llvm::ConstantStruct::get(type, values);
}

llvm::GlobalVariable* ObjectEmitter::table(llvm::Constant* value, const std::string& name) {
  return new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, name);
}

llvm::Constant* ObjectEmitter::list(llvm::Type* type, const std::vector<llvm::Constant*>& elements,
                                    const std::string& name) {
  if (elements.empty()) return llvm::ConstantPointerNull::get(llvm::PointerType::get(module_.getContext(), 0));
  return table(llvm::ConstantArray::get(llvm::ArrayType::get(type, elements.size()), elements), name);
}

llvm::Constant* ObjectEmitter::text(const std::string& text, const std::string& name) {
  return table(llvm::ConstantDataArray::getString(module_.getContext(), text), name);
}

llvm::Constant* ObjectEmitter::tensor_specs(const Entry& entry, const std::vector<interface::Tensor>& tensors,
                                            const std::string& name, bool inputs) {
  constexpr int64_t kStrided = 1, kDataDependent = 2, kValues = 4;
  std::vector<llvm::Constant*> specs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const interface::Tensor& tensor = tensors[i];
    std::string stem = local(entry, name + "." + std::to_string(i));
    std::vector<llvm::Constant*> dims;
    for (int64_t dim : tensor.dims) dims.push_back(number(FieldKind::kI64, dim));
    int64_t flags = (tensor.strided ? kStrided : 0) | (tensor.data_dependent ? kDataDependent : 0) |
                    (inputs && interface::reads_values(object_, entry, i) ? kValues : 0);
    interface::DLPackType type = interface::dlpack_type(tensor.dtype);
    specs.push_back(
        record(Record::kTensorSpec, {{"name", text(tensor.name, stem + ".name")},
                                     {"kind", number(FieldKind::kU8, tensor.kind)},
                                     {"dtype_code", number(FieldKind::kU8, type.code)},
                                     {"dtype_bits", number(FieldKind::kU8, type.bits)},
                                     {"flags", number(FieldKind::kU8, flags)},
                                     {"ndim", number(FieldKind::kI32, static_cast<int64_t>(tensor.dims.size()))},
                                     {"dims", list(llvm::Type::getInt64Ty(module_.getContext()), dims, stem + ".dims")},
                                     {"quant", quantization(tensor, stem)},
                                     {"pair", number(FieldKind::kI32, tensor.pair)},
                                     {"append_axis", number(FieldKind::kI32, tensor.append_axis)}}));
  }
  return list(lowering_.record(Record::kTensorSpec), specs, local(entry, name));
}

llvm::Constant* ObjectEmitter::quantization(const interface::Tensor& tensor, const std::string& stem) {
  llvm::LLVMContext& context = module_.getContext();
  if (!tensor.quant) return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  const interface::Quantization& q = *tensor.quant;
  llvm::Constant* scale = llvm::ConstantDataArray::get(context, llvm::ArrayRef<float>(q.scale));
  std::vector<uint32_t> bits(q.zero_point.begin(), q.zero_point.end());
  llvm::Constant* zero = llvm::ConstantDataArray::get(context, llvm::ArrayRef<uint32_t>(bits));
  return table(record(Record::kQuant, {{"axis", number(FieldKind::kI32, q.axis)},
                                       {"count", number(FieldKind::kU32, static_cast<int64_t>(q.scale.size()))},
                                       {"scale", table(scale, stem + ".scale")},
                                       {"zero_point", table(zero, stem + ".zero_point")}}),
               stem + ".quant");
}

llvm::Constant* ObjectEmitter::symbol_records(const Entry& entry) {
  std::vector<llvm::Constant*> records;
  for (size_t i = 0; i < entry.symbols.size(); ++i) {
    const interface::Symbol& symbol = entry.symbols[i];
    records.push_back(record(Record::kSymbol, {{"name", text(symbol.name, local(entry, "symbol." + std::to_string(i)))},
                                               {"lower", number(FieldKind::kI64, symbol.lower)},
                                               {"upper", number(FieldKind::kI64, symbol.upper)},
                                               {"multiple_of", number(FieldKind::kI64, symbol.multiple_of)}}));
  }
  return list(lowering_.record(Record::kSymbol), records, local(entry, "symbols"));
}

llvm::Constant* ObjectEmitter::source_records(const Entry& entry) {
  constexpr int64_t kFromDim = 0, kFromValue = 2;
  std::vector<llvm::Constant*> records;
  for (const interface::Symbol& symbol : entry.symbols)
    records.push_back(record(Record::kSymbolSource,
                             {{"kind", number(FieldKind::kU32, interface::is_value(symbol) ? kFromValue : kFromDim)},
                              {"tensor", number(FieldKind::kI32, symbol.tensor)},
                              {"axis", number(FieldKind::kI32, symbol.axis)}}));
  return list(lowering_.record(Record::kSymbolSource), records, local(entry, "sources"));
}

llvm::GlobalVariable* ObjectEmitter::private_record(const Entry& entry, llvm::Constant* function) {
  size_t dims = 0;
  for (const auto* tensors : {&entry.inputs, &entry.outputs})
    for (const interface::Tensor& tensor : *tensors) dims += tensor.dims.size();
  const Signature* values = entry.values.empty() ? nullptr : lowering_.find(entry.values);
  Fields fields{{"version", number(FieldKind::kU32, 2)},
                {"flags", number(FieldKind::kU32, values != nullptr && values->wants_context ? 1 : 0)},
                {"num_dims", number(FieldKind::kU32, static_cast<int64_t>(dims))},
                {"function", function},
                {"sources", source_records(entry)},
                {"call", c_function(made_.call(entry), local(entry, "call"))}};
  auto add = [&](std::string_view what, const std::optional<tir::PrimFunc>& function) {
    if (function) fields.push_back({what, c_function(*function, local(entry, std::string(what)))});
  };
  add("shapes", made_.shapes(entry));
  add("arena", made_.arena(entry));
  add("values", made_.values(entry));
  if (object_.weights.separate) {
    fields.push_back({"weights_align", number(FieldKind::kU32, object_.weights.alignment)});
    fields.push_back({"weights_hash", hash_table()});
    fields.push_back({"weights_bytes", weights_bytes()});
  }
  return table(record(Record::kFunctionPrivate, fields), local(entry, "private"));
}

llvm::Constant* ObjectEmitter::pool_records(const Entry& entry) {
  std::vector<llvm::Constant*> records;
  for (const interface::Pool& pool : entry.pools)
    records.push_back(
        record(Record::kMemoryPoolSpec, {{"name", text(pool.name, local(entry, "pool." + pool.name))},
                                         {"bytes", number(FieldKind::kU64, static_cast<int64_t>(pool.bytes))}}));
  return list(lowering_.record(Record::kMemoryPoolSpec), records, local(entry, "pools"));
}

llvm::Constant* ObjectEmitter::function_record(const Entry& entry, llvm::GlobalVariable* functions, uint32_t index) {
  llvm::Type* functions_type = functions->getValueType();
  llvm::Type* word = llvm::Type::getInt32Ty(module_.getContext());
  llvm::Constant* at[] = {llvm::ConstantInt::get(word, 0), llvm::ConstantInt::get(word, index)};
  llvm::GlobalVariable* self =
      private_record(entry, llvm::ConstantExpr::getInBoundsGetElementPtr(functions_type, functions, at));
  auto generic = [&](const std::string& what) {
    return c_function(made_.generic(entry, what), local(entry, "generic_" + what), {{"private", self}});
  };
  auto count = [&](size_t n) { return number(FieldKind::kU32, static_cast<int64_t>(n)); };
  std::vector<llvm::Constant*> nodes;
  for (size_t i = 0; i < entry.nodes.size(); ++i)
    nodes.push_back(text(entry.nodes[i], local(entry, "node." + std::to_string(i))));
  return record(Record::kFunction,
                {{"name", text(entry.name, local(entry, "name"))},
                 {"num_inputs", count(entry.inputs.size())},
                 {"num_outputs", count(entry.outputs.size())},
                 {"num_symbols", count(entry.symbols.size())},
                 {"num_nodes", count(entry.nodes.size())},
                 {"inputs", tensor_specs(entry, entry.inputs, "inputs", true)},
                 {"outputs", tensor_specs(entry, entry.outputs, "outputs", false)},
                 {"symbols", symbol_records(entry)},
                 {"nodes", list(llvm::PointerType::get(module_.getContext(), 0), nodes, local(entry, "nodes"))},
                 {"arena_max", number(FieldKind::kU64, static_cast<int64_t>(entry.arena_max))},
                 {"stack_max", number(FieldKind::kU64, -1)},
                 {"arena_align", number(FieldKind::kU32, entry.arena_align)},
                 {"bind", generic("bind")},
                 {"output_shape", generic("output_shape")},
                 {"arena_bytes", generic("arena_bytes")},
                 {"run", generic("run")},
                 {"pools", pool_records(entry)},
                 {"num_pools", count(entry.pools.size())}});
}

llvm::Constant* ObjectEmitter::hash_table() {
  std::string name = object_.name + ".hash";
  if (llvm::GlobalVariable* known = module_.getNamedGlobal(name)) return known;
  return table(llvm::ConstantDataArray::get(module_.getContext(), llvm::ArrayRef<uint8_t>(object_.hash)), name);
}

llvm::Constant* ObjectEmitter::weights_bytes() const {
  return number(FieldKind::kU64, static_cast<int64_t>(interface::weights_file_bytes(object_.weights)));
}

llvm::GlobalVariable* ObjectEmitter::model_table() {
  llvm::StructType* type = lowering_.record(Record::kFunction);
  auto* array = llvm::ArrayType::get(type, object_.entries.size());
  auto* functions = new llvm::GlobalVariable(module_, array, true, llvm::GlobalValue::InternalLinkage, nullptr,
                                             object_.name + ".functions");
  std::string cpus = levels_.empty() ? lowering_.options().cpu : "";
  for (const LoweredLevel& level : levels_) cpus += (cpus.empty() ? "" : ",") + level.name;
  std::vector<llvm::Constant*> records;
  for (size_t i = 0; i < object_.entries.size(); ++i)
    records.push_back(function_record(object_.entries[i], functions, static_cast<uint32_t>(i)));
  functions->setInitializer(llvm::ConstantArray::get(array, records));

  const llvm::DataLayout& layout = module_.getDataLayout();
  auto size = [&](Record which) {
    return static_cast<int64_t>(layout.getTypeAllocSize(lowering_.record(which)).getFixedValue());
  };
  llvm::Constant* value =
      record(Record::kModel, {{"abi_version", number(FieldKind::kU32, 1)},
                              {"function_size", number(FieldKind::kU16, size(Record::kFunction))},
                              {"spec_size", number(FieldKind::kU16, size(Record::kTensorSpec))},
                              {"num_functions", number(FieldKind::kU32, static_cast<int64_t>(object_.entries.size()))},
                              {"functions", functions},
                              {"name", text(object_.name, object_.name + ".name")},
                              {"producer", text(object_.producer, object_.name + ".producer")},
                              {"target", text(module_.getTargetTriple().str() + " " + cpus, object_.name + ".target")},
                              {"hash", hash_table()},
                              {"weights_bytes", weights_bytes()}});
  std::string name = object_.name + "_model";
  auto* model = table(value, name);
  model->setLinkage(llvm::GlobalValue::ExternalLinkage);
  if (module_.getPICLevel() == llvm::PICLevel::NotPIC)
    refer_to_runtime(".rodata." + name, "a");
  else
    refer_to_runtime(".data.rel.ro." + name, "aw");
  return model;
}

void ObjectEmitter::selftest(llvm::GlobalVariable* model) {
  llvm::LLVMContext& context = module_.getContext();
  const auto* bytes = reinterpret_cast<const uint8_t*>(object_.selftest.data.data());
  llvm::ArrayRef<uint8_t> content(bytes, object_.selftest.data.size());
  llvm::GlobalVariable* data = table(llvm::ConstantDataArray::get(context, content), object_.name + ".selftest");
  data->setAlignment(llvm::Align(8));
  c_function(made_.selftest(), object_.name + "_selftest", {{"model", model}, {"selftest", data}});
}

}  // namespace relaxc::codegen_llvm
