// composite.cpp: makes and flattens strings, sequences, maps and optionals.
#include "frontends/onnx/composite.h"

#include <algorithm>
#include <cstring>

#include "frontends/onnx/load.h"

namespace relaxc::frontend {

NamedValue sequence_slot(Sequence sequence) {
  auto made = std::make_shared<Composite>();
  made->sequence = std::move(sequence);
  NamedValue slot;
  slot.composite = std::move(made);
  return slot;
}

NamedValue strings_slot(Strings strings) {
  auto made = std::make_shared<Composite>();
  made->kind = Composite::kStrings;
  made->strings = strings;
  NamedValue slot;
  slot.composite = std::move(made);
  return slot;
}

NamedValue maps_slot(Maps maps) {
  auto made = std::make_shared<Composite>();
  made->kind = Composite::kMaps;
  made->maps = std::move(maps);
  NamedValue slot;
  slot.composite = std::move(made);
  return slot;
}

NamedValue strings_constant(relax::GraphBuilder& builder, const std::vector<int64_t>& dims,
                            const std::vector<std::string>& values) {
  std::vector<int64_t> spans;
  std::vector<std::byte> text;
  for (const std::string& value : values) {
    spans.push_back(static_cast<int64_t>(text.size()));
    spans.push_back(static_cast<int64_t>(value.size()));
    const auto* raw = reinterpret_cast<const std::byte*>(value.data());
    text.insert(text.end(), raw, raw + value.size());
  }
  std::vector<std::byte> raw_spans(spans.size() * sizeof(int64_t));
  if (!spans.empty()) std::memcpy(raw_spans.data(), spans.data(), raw_spans.size());
  std::vector<int64_t> shape = dims;
  shape.push_back(2);
  int64_t length = static_cast<int64_t>(text.size());
  Strings made;
  made.spans = builder.constant(relax::ConstantData::inline_bytes(DType::i(64), shape, std::move(raw_spans)));
  made.bytes = builder.constant(relax::ConstantData::inline_bytes(DType::u(8), {length}, std::move(text)));
  return strings_slot(made);
}

std::optional<NamedValue> tensor_strings(relax::GraphBuilder& builder, const onnx::TensorProto& tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims())
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  if (count != tensor.string_data_size()) return std::nullopt;
  return strings_constant(builder, {tensor.dims().begin(), tensor.dims().end()},
                          {tensor.string_data().begin(), tensor.string_data().end()});
}

NamedValue optional_slot(NamedValue content, std::optional<bool> known, Value* present) {
  auto made = std::make_shared<Composite>();
  made->kind = Composite::kOptional;
  made->known = known;
  made->present = present;
  made->content = std::move(content);
  NamedValue slot;
  slot.composite = std::move(made);
  return slot;
}

const Sequence* sequence_in(const NamedValue& slot) {
  bool is = slot.composite != nullptr && slot.composite->kind == Composite::kSequence;
  return is ? &slot.composite->sequence : nullptr;
}

const Composite* optional_in(const NamedValue& slot) {
  return slot.composite != nullptr && slot.composite->kind == Composite::kOptional ? slot.composite.get() : nullptr;
}

const Strings* strings_in(const NamedValue& slot) {
  bool is = slot.composite != nullptr && slot.composite->kind == Composite::kStrings;
  return is ? &slot.composite->strings : nullptr;
}

const Maps* maps_in(const NamedValue& slot) {
  return slot.composite != nullptr && slot.composite->kind == Composite::kMaps ? &slot.composite->maps : nullptr;
}

std::string_view form_of(const NamedValue& slot) {
  if (slot.composite == nullptr) return "a tensor";
  switch (slot.composite->kind) {
    case Composite::kSequence:
      return "a sequence";
    case Composite::kOptional:
      return "an optional";
    case Composite::kStrings:
      return "a tensor of strings";
    case Composite::kMaps:
      return "a map";
  }
  return "";
}

std::vector<std::string> flattened_suffixes(const NamedValue& slot) {
  if (strings_in(slot) != nullptr) return {".spans", ".bytes"};
  if (const Sequence* sequence = sequence_in(slot)) {
    if (sequence->bytes != nullptr) return {".elements", ".shapes", ".bytes"};
    return {".elements", ".shapes"};
  }
  std::vector<std::string> suffixes{""};
  if (const Maps* maps = maps_in(slot)) {
    suffixes = flattened_suffixes(maps->keys);
    for (std::string& suffix : suffixes) suffix = ".keys" + suffix;
    suffixes.emplace_back(".values");
  }
  if (const Composite* optional = optional_in(slot)) {
    suffixes = flattened_suffixes(optional->content);
    suffixes.insert(suffixes.begin(), ".present");
  }
  return suffixes;
}

// ---- flattening

Result<Value*> Composites::tensor(const NamedValue& slot) {
  if (slot.failed) return diag.failed();
  if (slot.value != nullptr) return slot.value;
  if (slot.composite != nullptr)
    return diag.error(b().location, Kind::dtype_mismatch, "a tensor of numbers is needed, found {}", form_of(slot));
  return importer_.materialize(*slot.known);
}

Result<std::vector<Value*>> Composites::flatten(const NamedValue& slot) {
  if (const Strings* strings = strings_in(slot)) return std::vector<Value*>{strings->spans, strings->bytes};
  if (const Sequence* sequence = sequence_in(slot)) {
    RELAXC_TRY(Sequence p, packed(*sequence));
    if (p.bytes != nullptr) return std::vector<Value*>{p.elements, p.shapes, p.bytes};
    return std::vector<Value*>{p.elements, p.shapes};
  }
  if (const Maps* maps = maps_in(slot)) {
    RELAXC_TRY(std::vector<Value*> values, flatten(maps->keys));
    values.push_back(maps->values);
    return values;
  }
  if (const Composite* optional = optional_in(slot)) {
    Value* present = optional->known ? b().scalar(DType::boolean(), *optional->known ? 1 : 0) : optional->present;
    RELAXC_TRY(std::vector<Value*> values, flatten(optional->content));
    values.insert(values.begin(), present);
    return values;
  }
  RELAXC_TRY(Value * value, tensor(slot));
  return std::vector<Value*>{value};
}

NamedValue Composites::rebuild(const NamedValue& like, std::span<Value* const>& values) {
  auto take = [&] {
    Value* value = values.front();
    values = values.subspan(1);
    return value;
  };
  if (const Sequence* sequence = sequence_in(like)) {
    Sequence made{sequence->dtype, false, {}, take(), nullptr};
    made.shapes = take();
    if (sequence->bytes != nullptr) made.bytes = take();
    return sequence_slot(std::move(made));
  }
  if (const Composite* optional = optional_in(like)) {
    Value* present = take();
    return optional_slot(rebuild(optional->content, values), std::nullopt, present);
  }
  if (strings_in(like) != nullptr) {
    Value* spans = take();
    return strings_slot({spans, take()});
  }
  if (const Maps* maps = maps_in(like)) {
    NamedValue keys = rebuild(maps->keys, values);
    return maps_slot({std::move(keys), take()});
  }
  NamedValue slot;
  slot.value = take();
  return slot;
}

Result<NamedValue> Composites::coerced(const NamedValue& slot, const NamedValue& like) {
  const Composite *from = optional_in(slot), *to = optional_in(like);
  if (from == nullptr && to != nullptr) {
    RELAXC_TRY(NamedValue content, coerced(slot, to->content));
    return optional_slot(std::move(content), true);
  }
  bool plain = slot.composite == nullptr, same = plain == (like.composite == nullptr);
  if (!same || (!plain && slot.composite->kind != like.composite->kind))
    return diag.error(b().location, Kind::dtype_mismatch, "{} and {} are not compatible", form_of(slot), form_of(like));
  const Sequence *a = sequence_in(slot), *b_like = sequence_in(like);
  if (a != nullptr && (a->bytes == nullptr) != (b_like->bytes == nullptr))
    return diag.error(b().location, Kind::dtype_mismatch,
                      "a sequence of strings and one of numbers are not compatible");
  return slot;
}

Result<NamedValue> Composites::empty(const onnx::TypeProto& type) {
  if (type.has_sequence_type()) {
    const auto& element = type.sequence_type().elem_type();
    if (!element.has_tensor_type())
      return diag.error(b().location, Kind::unsupported, "sequences of anything but tensors are not supported");
    if (element.tensor_type().elem_type() == onnx::TensorProto::STRING) {
      Sequence strings{DType::i(64), true, {}, nullptr, nullptr};
      RELAXC_TRY(strings.bytes, none(DType::u(8), {index(0)}));
      return sequence_slot(std::move(strings));
    }
    RELAXC_TRY(DType dtype, dtype_of(element.tensor_type().elem_type(), b().location, diag));
    return sequence_slot(Sequence{dtype, true, {}, nullptr, nullptr});
  }
  if (type.has_optional_type()) {
    RELAXC_TRY(NamedValue content, empty(type.optional_type().elem_type()));
    return optional_slot(std::move(content), false);
  }
  if (!type.has_tensor_type())
    return diag.error(b().location, Kind::unsupported, "only tensors, sequences and optionals are supported");
  RELAXC_TRY(DType dtype, dtype_of(type.tensor_type().elem_type(), b().location, diag));
  std::vector<Expr> dims;
  for (const auto& dim : type.tensor_type().shape().dim())
    dims.push_back(index(dim.has_dim_value() ? std::max<int64_t>(0, dim.dim_value()) : 0));
  NamedValue slot;
  RELAXC_TRY(slot.value, none(dtype, std::move(dims)));
  return slot;
}

}  // namespace relaxc::frontend
