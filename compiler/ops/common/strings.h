// strings.h: shared by operators on strings: a string is a span of bytes (compiler/ops/strings.cpp).
#pragma once

#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

inline constexpr DType kByte = DType::u(8);
inline constexpr OperandDef kStrings[] = {{"spans"}, {"bytes"}};

/// Returns the dims of the strings whose spans and bytes are the operands `first` and `first` + 1.
Result<Dims> strings_dims(InferContext& c, size_t first = 0);
/// Returns the dims of their spans.
Dims with_pair(Context& context, Dims dims);

/// Reads and writes one tensor of strings in a definition.
class Strings {
 public:
  Strings(DefineContext& d, BufferRef spans, BufferRef bytes) : b_(d.builder), spans_(spans), bytes_(bytes) {}

  Dims dims() const { return Dims(spans_->shape.begin(), spans_->shape.end() - 1); }
  Expr begin(const Indices& i) { return part(i, 0); }
  Expr length(const Indices& i) { return part(i, 1); }
  Expr byte(Expr at) { return b_.load(bytes_, {at}); }
  Stmt set(Indices i, Expr begin, Expr length) {
    i.push_back(b_.index(0));
    Stmt first = b_.store(spans_, i, cast(DType::i(64), begin));
    i.back() = b_.index(1);
    return b_.seq({first, b_.store(spans_, i, cast(DType::i(64), length))});
  }

 private:
  Expr part(Indices i, int64_t which) {
    i.push_back(b_.index(which));
    return cast(DType::index(), b_.load(spans_, i));
  }
  tir::Builder& b_;
  BufferRef spans_, bytes_;
};

/// A mutable local integer.
class Local {
 public:
  Local(tir::Builder& b, const char* name)
      : b_(b), buffer_(b.buffer(name, DType::i(64), {b.index(1)}, tir::Scope::kLocal)) {}
  Expr get() { return cast(DType::index(), b_.load(buffer_, {b_.index(0)})); }
  Stmt set(Expr value) { return b_.store(buffer_, {b_.index(0)}, cast(DType::i(64), value)); }
  Stmt set(int64_t value) { return set(b_.index(value)); }
  Stmt add(Expr value) { return set(get() + value); }
  Stmt around(Stmt body) { return b_.alloc(buffer_, body); }

 private:
  tir::Builder& b_;
  BufferRef buffer_;
};

}  // namespace relaxc::ops
