// tables.cpp: fills the records of an object.
//
// Records are filled by the names of their fields, so that no code here depends on order or offsets.
#include "compiler/interface/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/interface/dlpack.h"
#include "compiler/interface/value_inputs.h"

namespace relaxc::interface {
namespace {

constexpr int64_t kAbiVersion = 1, kPrivateVersion = 2;

using tir::RuntimeFunction;
using Row = std::vector<Constant>;

int64_t count(size_t n) {
  return static_cast<int64_t>(n);
}

/// Returns a row with the given fields; all others are 0.
Row row_of(Record record, const std::vector<std::pair<std::string_view, Constant>>& given) {
  Row row(fields(record).size());
  for (const auto& [name, value] : given) row[field_index(record, name)] = value;
  return row;
}

/// Collects definitions in the order in which they are made.
class Definitions {
 public:
  template <typename T>
  Address add(int32_t entry, std::string name, T what) {
    list_.push_back({entry, std::move(name), std::move(what)});
    return {list_.size() - 1};
  }
  Constant text(int32_t entry, std::string name, const std::string& text) {
    return add(entry, std::move(name), Text{text});
  }
  Records& records(Address at) { return std::get<Records>(list_[at.definition].what); }
  std::vector<Definition> take() { return std::move(list_); }

 private:
  std::vector<Definition> list_;
};

/// Makes the records of one entry.
class EntryTables {
 public:
  EntryTables(const Object& object, int32_t index, EntryFunctions& made, const CodeFacts& facts, Definitions& out)
      : object_(object),
        index_(index),
        entry_(object.entries[static_cast<size_t>(index)]),
        made_(made),
        facts_(facts),
        out_(out) {}

  /// Adds the private record. `self` is the address of this entry's rlx_function; `hash` returns that of the object's
  /// hash, which a separate file of weights must contain as well.
  Address private_record(Address self, const std::function<Address()>& hash) {
    const Weights& weights = object_.weights;
    const Constant sources = symbol_sources(), call = function("call", made_.call(entry_));
    const Constant shapes = function("shapes", made_.shapes(entry_)), arena = function("arena", made_.arena(entry_)),
                   values = function("values", made_.values(entry_));
    const Constant weights_hash = weights.separate ? Constant(hash()) : Constant(int64_t{0});
    const bool context = !entry_.values.empty() && facts_.needs_context(entry_.values);
    Row row =
        row_of(Record::kFunctionPrivate, {{"version", kPrivateVersion},
                                          {"flags", int64_t{context}},
                                          {"num_dims", dim_count()},
                                          {"weights_align", weights.separate ? int64_t{weights.alignment} : int64_t{0}},
                                          {"function", self},
                                          {"sources", sources},
                                          {"shapes", shapes},
                                          {"values", values},
                                          {"arena", arena},
                                          {"call", call},
                                          {"weights_hash", weights_hash},
                                          {"weights_bytes", count(weights_file_bytes(weights))}});
    return out_.add(index_, "private", Records{Record::kFunctionPrivate, {std::move(row)}, false});
  }

  /// Returns the row of this entry in the array of rlx_function.
  Row function_record(Address own) {
    Addresses nodes;
    for (size_t i = 0; i < entry_.nodes.size(); ++i)
      nodes.values.push_back(out_.add(index_, fmt::format("node.{}", i), Text{entry_.nodes[i]}));
    const Constant name = out_.text(index_, "name", entry_.name);
    const Constant inputs = tensor_specs("inputs", entry_.inputs, true),
                   outputs = tensor_specs("outputs", entry_.outputs, false), symbols = symbol_records();
    const Constant names = nodes.values.empty() ? Constant(int64_t{0}) : out_.add(index_, "nodes", std::move(nodes));
    auto generic = [&](RuntimeFunction callee) -> Constant {
      TableFunction function{made_.generic(entry_, callee), {{"private", own}}};
      return out_.add(index_, tir::unprefixed_name(callee), std::move(function));
    };
    const Constant bind = generic(RuntimeFunction::kGenericBind),
                   output_shape = generic(RuntimeFunction::kGenericOutputShape),
                   arena_bytes = generic(RuntimeFunction::kGenericArenaBytes),
                   run = generic(RuntimeFunction::kGenericRun);
    return row_of(Record::kFunction, {{"name", name},
                                      {"num_inputs", count(entry_.inputs.size())},
                                      {"num_outputs", count(entry_.outputs.size())},
                                      {"num_symbols", count(entry_.symbols.size())},
                                      {"num_nodes", count(entry_.nodes.size())},
                                      {"inputs", inputs},
                                      {"outputs", outputs},
                                      {"symbols", symbols},
                                      {"nodes", names},
                                      {"arena_max", count(entry_.arena_max)},
                                      {"stack_max", int64_t{-1}},
                                      {"arena_align", int64_t{entry_.arena_align}},
                                      {"bind", bind},
                                      {"output_shape", output_shape},
                                      {"arena_bytes", arena_bytes},
                                      {"run", run},
                                      {"pools", pool_records()},
                                      {"num_pools", count(entry_.pools.size())}});
  }

 private:
  Constant function(const char* what, std::optional<tir::PrimFunc> function) {
    if (!function) return int64_t{0};
    return out_.add(index_, what, TableFunction{std::move(*function), {}});
  }

  Constant records(const std::string& name, Record record, std::vector<Row> rows) {
    if (rows.empty()) return int64_t{0};
    return out_.add(index_, name, Records{record, std::move(rows)});
  }

  int64_t dim_count() const {
    size_t dims = 0;
    for (const auto* tensors : {&entry_.inputs, &entry_.outputs})
      for (const Tensor& tensor : *tensors) dims += tensor.dims.size();
    return count(dims);
  }

  Constant tensor_specs(const std::string& name, const std::vector<Tensor>& tensors, bool inputs) {
    std::vector<Row> rows;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool values = inputs && reads_values(object_, entry_, i);
      rows.push_back(tensor_spec(tensors[i], fmt::format("{}.{}", name, i), values));
    }
    return records(name, Record::kTensorSpec, std::move(rows));
  }

  Row tensor_spec(const Tensor& tensor, const std::string& stem, bool values) {
    constexpr int64_t kStrided = 1, kDataDependent = 2, kValues = 4;
    const int64_t flags =
        (tensor.strided ? kStrided : 0) | (tensor.data_dependent ? kDataDependent : 0) | (values ? kValues : 0);
    const DLPackType type = dlpack_type(tensor.dtype);
    const Constant name = out_.text(index_, stem + ".name", tensor.name);
    const Constant dims = tensor.dims.empty() ? Constant(int64_t{0})
                                              : out_.add(index_, stem + ".dims", Numbers{FieldKind::kI64, tensor.dims});
    return row_of(Record::kTensorSpec, {{"name", name},
                                        {"kind", int64_t{tensor.kind}},
                                        {"dtype_code", int64_t{type.code}},
                                        {"dtype_bits", int64_t{type.bits}},
                                        {"flags", flags},
                                        {"ndim", count(tensor.dims.size())},
                                        {"dims", dims},
                                        {"quant", quantization(tensor, stem)},
                                        {"pair", int64_t{tensor.pair}},
                                        {"append_axis", int64_t{tensor.append_axis}}});
  }

  Constant quantization(const Tensor& tensor, const std::string& stem) {
    if (!tensor.quant) return int64_t{0};
    const Quantization& q = *tensor.quant;
    const Address scale = out_.add(index_, stem + ".scale", Floats{q.scale});
    const std::vector<int64_t> zero_points(q.zero_point.begin(), q.zero_point.end());
    const Address zero_point = out_.add(index_, stem + ".zero_point", Numbers{FieldKind::kI32, zero_points});
    Row row = row_of(
        Record::kQuant,
        {{"axis", int64_t{q.axis}}, {"count", count(q.scale.size())}, {"scale", scale}, {"zero_point", zero_point}});
    return out_.add(index_, stem + ".quant", Records{Record::kQuant, {std::move(row)}, false});
  }

  Constant symbol_records() {
    std::vector<Row> rows;
    for (const Symbol& symbol : entry_.symbols)
      rows.push_back(
          row_of(Record::kSymbol, {{"name", out_.text(index_, fmt::format("symbol.{}", rows.size()), symbol.name)},
                                   {"lower", symbol.lower},
                                   {"upper", symbol.upper},
                                   {"multiple_of", symbol.multiple_of}}));
    return records("symbols", Record::kSymbol, std::move(rows));
  }

  Constant symbol_sources() {
    constexpr int64_t kFromDim = 0, kFromValue = 2;
    std::vector<Row> rows;
    for (const Symbol& symbol : entry_.symbols)
      rows.push_back(row_of(Record::kSymbolSource, {{"kind", is_value(symbol) ? kFromValue : kFromDim},
                                                    {"tensor", int64_t{symbol.tensor}},
                                                    {"axis", int64_t{symbol.axis}}}));
    return records("sources", Record::kSymbolSource, std::move(rows));
  }

  Constant pool_records() {
    std::vector<Row> rows;
    for (const Pool& pool : entry_.pools)
      rows.push_back(row_of(Record::kMemoryPoolSpec, {{"name", out_.text(index_, "pool." + pool.name, pool.name)},
                                                      {"bytes", count(pool.bytes)}}));
    return records("pools", Record::kMemoryPoolSpec, std::move(rows));
  }

  const Object& object_;
  int32_t index_;
  const Entry& entry_;
  EntryFunctions& made_;
  const CodeFacts& facts_;
  Definitions& out_;
};

class ObjectTables {
 public:
  ObjectTables(const Object& object, EntryFunctions& made, const CodeFacts& facts)
      : object_(object), made_(made), facts_(facts) {}

  std::vector<Definition> run() {
    const Address functions = out_.add(Definition::kOfObject, "functions", Records{Record::kFunction, {}});
    // Private records refer to their row of the array, so the array is defined first and its rows are set at the end.
    std::vector<Row> rows;
    for (size_t i = 0; i < object_.entries.size(); ++i) {
      EntryTables entry(object_, static_cast<int32_t>(i), made_, facts_, out_);
      const Address self{functions.definition, static_cast<uint32_t>(i)};
      const Address own = entry.private_record(self, [&] { return hash_bytes(); });
      rows.push_back(entry.function_record(own));
    }
    out_.records(functions).rows = std::move(rows);
    model(functions);
    return out_.take();
  }

 private:
  Address hash_bytes() {
    if (!hash_) {
      const std::vector<int64_t> bytes(object_.hash.begin(), object_.hash.end());
      hash_ = out_.add(Definition::kOfObject, "hash", Numbers{FieldKind::kU8, bytes});
    }
    return *hash_;
  }

  void model(Address functions) {
    auto text = [&](const char* name, const std::string& text) { return out_.text(Definition::kOfObject, name, text); };
    const Constant name = text("name", object_.name), producer = text("producer", object_.producer),
                   target = text("target", facts_.target);
    Row row = row_of(Record::kModel, {{"abi_version", kAbiVersion},
                                      {"function_size", SizeOf{Record::kFunction}},
                                      {"spec_size", SizeOf{Record::kTensorSpec}},
                                      {"num_functions", count(object_.entries.size())},
                                      {"functions", functions},
                                      {"name", name},
                                      {"producer", producer},
                                      {"target", target},
                                      {"hash", hash_bytes()},
                                      {"weights_bytes", count(weights_file_bytes(object_.weights))}});
    out_.add(Definition::kOfObject, "model", Records{Record::kModel, {std::move(row)}, false});
  }

  const Object& object_;
  EntryFunctions& made_;
  const CodeFacts& facts_;
  Definitions out_;
  std::optional<Address> hash_;
};

}  // namespace

bool Definition::refers_beyond(size_t place) const {
  const auto* records = std::get_if<Records>(&what);
  if (records == nullptr) return false;
  return std::any_of(records->rows.begin(), records->rows.end(), [&](const Row& row) {
    return std::any_of(row.begin(), row.end(), [&](const Constant& field) {
      const auto* address = std::get_if<Address>(&field);
      return address != nullptr && address->definition > place;
    });
  });
}

std::vector<Definition> object_tables(const Object& object, EntryFunctions& made, const CodeFacts& facts) {
  return ObjectTables(object, made, facts).run();
}

}  // namespace relaxc::interface
