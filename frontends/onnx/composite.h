// composite.h: strings, sequences, maps and optionals during import.
//
// A compiled program has only tensors of numbers. A tensor of strings is two of them: spans [..., 2], the begin and
// the length of each string, and the bytes. A sequence whose length is known at compile time is a list of tensors
// and costs nothing. Any other is packed: its elements, concatenated in a vector, and the shape of each as a row of
// a matrix. A sequence of strings is one of spans, with the bytes of all. A map is its keys and its values in the
// same order. An optional is a flag and its content, which has any valid shape and is not read if the flag is false.
// Where a value must be tensors, at the interface and at the borders of branches and iterations, it is flattened to
// those.
#pragma once

#include <span>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

struct Sequence {
  DType dtype;
  bool listed = false;
  std::vector<Value*> items;  ///< the elements, if listed
  Value* elements = nullptr;  ///< packed: [total]
  Value* shapes = nullptr;    ///< packed: [length, rank] of int64; the rank is a symbol if it is not known
  Value* bytes = nullptr;     ///< of strings: the bytes of the elements, which are spans [dims…, 2]
};

struct Strings {
  Value* spans = nullptr;  ///< [dims…, 2] of int64
  Value* bytes = nullptr;  ///< [n] of uint8

  std::vector<Expr> dims() const { return {spans->shape().begin(), spans->shape().end() - 1}; }
};

/// A map, or a sequence of maps with equal keys.
struct Maps {
  NamedValue keys;          ///< [n] of int64, or strings [n]
  Value* values = nullptr;  ///< [n]; of a sequence [maps, n]
};

struct Composite {
  enum Kind : uint8_t { kSequence, kOptional, kStrings, kMaps };
  Kind kind = kSequence;
  Sequence sequence;
  Strings strings;
  Maps maps;
  std::optional<bool> known;  ///< of an optional: whether it is present, if that is known
  Value* present = nullptr;   ///< otherwise a bool tensor of rank 0
  NamedValue content;         ///< of an optional, present or not
};

NamedValue sequence_slot(Sequence sequence);
NamedValue optional_slot(NamedValue content, std::optional<bool> known, Value* present = nullptr);
NamedValue strings_slot(Strings strings);
NamedValue maps_slot(Maps maps);
/// Returns a constant tensor of strings.
NamedValue strings_constant(relax::GraphBuilder& builder, const std::vector<int64_t>& dims,
                            const std::vector<std::string>& values);
/// The same for a TensorProto of strings; nullopt if the number of strings does not match its shape.
std::optional<NamedValue> tensor_strings(relax::GraphBuilder& builder, const onnx::TensorProto& tensor);
/// Return the content of a slot as this kind; null if it is another.
const Sequence* sequence_in(const NamedValue& slot);
const Composite* optional_in(const NamedValue& slot);
const Strings* strings_in(const NamedValue& slot);
const Maps* maps_in(const NamedValue& slot);
/// Returns what a slot is if it is no tensor of numbers: "a sequence".
std::string_view form_of(const NamedValue& slot);
/// Returns the suffix of the name of each tensor that the slot is flattened to; "" for a tensor.
std::vector<std::string> flattened_suffixes(const NamedValue& slot);

/// Operations on them, emitted at the importer's insertion point.
class Composites {
 public:
  explicit Composites(GraphImporter& importer) : importer_(importer), diag(importer.diagnostics()) {}

  /// Returns the slot's tensor; fails if it is a sequence or an optional.
  Result<Value*> tensor(const NamedValue& slot);
  Result<std::vector<Value*>> flatten(const NamedValue& slot);
  /// Takes the tensors of a slot of the form of `like` from the front of `values` and returns that slot.
  NamedValue rebuild(const NamedValue& like, std::span<Value* const>& values);
  /// Converts `slot` to the form of `like`: a value becomes an optional that is present.
  Result<NamedValue> coerced(const NamedValue& slot, const NamedValue& like);
  /// Returns a value of `type` without content: no elements, not present, zeros.
  Result<NamedValue> empty(const onnx::TypeProto& type);

  Expr length(const Sequence& sequence);
  Result<Sequence> packed(const Sequence& sequence);
  /// Negative positions count from the end.
  Result<Value*> at(const Sequence& sequence, Expr position);
  /// `position` null: inserts at the end.
  Result<Sequence> inserted(const Sequence& sequence, Value* item, Expr position);
  Result<Sequence> erased(const Sequence& sequence, Expr position);
  /// Concatenates the elements along an axis, or stacks them along a new one.
  Result<Value*> joined(const Sequence& sequence, int64_t axis, bool new_axis);

 private:
  relax::GraphBuilder& b() { return importer_.builder(); }
  Expr index(int64_t value) { return importer_.module().context().index(value); }
  Expr simplify(Expr e) { return importer_.sizes().simplify(e); }
  Expr normal(const Sequence& sequence, Expr position, bool behind);
  Result<Value*> flat(Value* value);
  Result<Value*> row(Value* item);
  Result<Value*> part(Value* value, Expr begin, Expr extent);
  Result<Value*> concat(std::vector<Value*> parts, int64_t axis);
  Result<Value*> none(DType dtype, std::vector<Expr> dims);
  Result<Sequence> of_rank(const Sequence& sequence, int64_t rank);
  Result<int64_t> rank_of(const Sequence& sequence);
  Result<std::vector<Expr>> shape_at(const Sequence& sequence, Expr position);
  /// Returns for each dim the largest extent that an element has there.
  Result<std::vector<Expr>> largest_extents(const Sequence& sequence);
  /// Returns the sum of the elements' extents along their first dim.
  Result<Expr> sum_of_first_extents(const Sequence& sequence);
  Result<Expr> offset(const Sequence& sequence, Expr position);

  GraphImporter& importer_;
  Diagnostics& diag;
};

}  // namespace relaxc::frontend
