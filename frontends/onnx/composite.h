// composite.h: strings, sequences and optionals while a model is imported.
//
// A compiled program knows tensors of numbers only. A tensor of strings is two of them: spans [..., 2], where each
// string begins and how long it is, and the bytes that they are in. A sequence whose length is known when compiling is
// a list of them and costs nothing. Any other is packed: its elements one after another in a vector, and the shape of
// each as a row of a matrix. A sequence of strings is one of their spans, with the bytes of all. Maps are keys, and
// values in the same order. An optional is a flag and its content, which is of any admissible shape and not looked at
// where the flag is false. Where a value must be tensors, at the interface and where it enters or leaves a branch or an
// iteration, it is flattened to those.
#pragma once

#include <span>

#include "frontends/onnx/importer.h"

namespace relaxc::frontend {

struct Sequence {
  DType dtype;
  bool listed = false;
  std::vector<Value*> items;  ///< listed: the elements
  Value* elements = nullptr;  ///< packed: [total]
  Value* shapes = nullptr;    ///< packed: [length, rank] of int64; the rank is a symbol where it is not known
  Value* bytes = nullptr;     ///< of strings: what the elements, which are their spans [dims…, 2], are in
};

struct Strings {
  Value* spans = nullptr;  ///< [dims…, 2] of int64
  Value* bytes = nullptr;  ///< [n] of uint8

  std::vector<Expr> dims() const { return {spans->shape().begin(), spans->shape().end() - 1}; }
};

/// A map, or a sequence of maps that all have the same keys.
struct Maps {
  NamedValue keys;          ///< [n] of int64, or strings [n]
  Value* values = nullptr;  ///< [n], of a sequence [maps, n]
};

struct Composite {
  enum Kind : uint8_t { kSequence, kOptional, kStrings, kMaps };
  Kind kind = kSequence;
  Sequence sequence;
  Strings strings;
  Maps maps;
  std::optional<bool> known;  ///< of an optional: whether it is there, if that is certain
  Value* present = nullptr;   ///< else: a bool tensor of rank 0
  NamedValue content;         ///< of an optional, there or not
};

NamedValue sequence_slot(Sequence sequence);
NamedValue optional_slot(NamedValue content, std::optional<bool> known, Value* present = nullptr);
NamedValue strings_slot(Strings strings);
NamedValue maps_slot(Maps maps);
/// A constant tensor of strings.
NamedValue strings_constant(relax::GraphBuilder& builder, const std::vector<int64_t>& dims,
                            const std::vector<std::string>& values);
/// The same of a TensorProto of strings; nothing if it has not as many as its shape says.
std::optional<NamedValue> tensor_strings(relax::GraphBuilder& builder, const onnx::TensorProto& tensor);
/// The sequence in a slot; null if there is none.
const Sequence* sequence_in(const NamedValue& slot);
const Composite* optional_in(const NamedValue& slot);
const Strings* strings_in(const NamedValue& slot);
const Maps* maps_in(const NamedValue& slot);
/// "a sequence": what a slot holds that is not a tensor of numbers.
std::string_view form_of(const NamedValue& slot);
/// What is put behind a name for each of the tensors that the slot is flattened to: "" for a tensor.
std::vector<std::string> flattened_suffixes(const NamedValue& slot);

/// The operations, emitted where the importer's builder is.
class Composites {
 public:
  explicit Composites(GraphImporter& importer) : importer_(importer), diag(importer.diagnostics()) {}

  /// The slot's tensor; fails if it is a sequence or an optional.
  Result<Value*> tensor(const NamedValue& slot);
  Result<std::vector<Value*>> flatten(const NamedValue& slot);
  /// The slot of the form of `like` that the values at the front of `values` stand for; they are taken off.
  NamedValue rebuild(const NamedValue& like, std::span<Value* const>& values);
  /// `slot` as a value of the form of `like`: what is there becomes an optional that is there.
  Result<NamedValue> coerced(const NamedValue& slot, const NamedValue& like);
  /// A value of `type` without contents: no elements, not there, zeros.
  Result<NamedValue> empty(const onnx::TypeProto& type);

  Expr length(const Sequence& sequence);
  Result<Sequence> packed(const Sequence& sequence);
  /// Positions count from the end if negative.
  Result<Value*> at(const Sequence& sequence, Expr position);
  /// `position` null: at the end.
  Result<Sequence> inserted(const Sequence& sequence, Value* item, Expr position);
  Result<Sequence> erased(const Sequence& sequence, Expr position);
  /// The elements put together along an axis, a new one if so asked.
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
  Result<Expr> offset(const Sequence& sequence, Expr position);

  GraphImporter& importer_;
  Diagnostics& diag;
};

}  // namespace relaxc::frontend
