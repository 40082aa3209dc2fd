// pointers.cpp: reads expressions that point to memory.
#include "frontends/relax/prim/buffers.h"

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/text/call_text.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

Result<Pointer> element_pointer(PrimParts& fn, const ast::Expr& e) {
  if (e.items.size() != 2 || !e.items[1]->is(AstKind::kSubscript))
    return fn.source.error(e.place, Kind::ill_formed, "expected the address of an element: T.address_of(A[i])");
  const ast::Expr& element = *e.items[1];
  RELAXC_TRY(Element found,
             element_of(fn, *element.items[0], {element.items.begin() + 1, element.items.end()}, element.place));
  auto& [buffer, indices] = found;
  arith::Expr offset = indices.empty() ? fn.context().index(0) : tir::element_offset(fn.context(), *buffer, indices);
  return Pointer{buffer, offset * buffer->dtype.bytes()};
}

}  // namespace

bool is_pointer(PrimParts& fn, const ast::Expr& e) {
  std::string callee = callee_of(&e);
  if (callee == "T.reinterpret")
    return e.items.size() == 3 && e.items[1]->is(AstKind::kString) && e.items[1]->text == "handle";
  if (callee == "T.address_of" || callee == "T.tvm_access_ptr" || callee == "T.handle_add_byte_offset") return true;
  const ast::Expr& head = e.is(AstKind::kCall) ? *e.items[0] : e;
  if (head.is(AstKind::kAttribute)) return head.text == (e.is(AstKind::kCall) ? "access_ptr" : "data");
  auto* known = e.is(AstKind::kName) ? fn.names.find(e.text) : nullptr;
  return known != nullptr && known->value.kind == PrimName::kBuffer;
}

Result<Pointer> read_pointer(PrimParts& fn, const ast::Expr& e) {
  if (e.is(AstKind::kAttribute) && e.text == "data") {
    RELAXC_TRY(Pointer first, read_pointer(fn, *e.items[0]));
    arith::Expr before =
        fn.views.root_of(first.buffer) == first.buffer ? fn.views.offset_of(first.buffer) : arith::Expr();
    if (before) first.byte_offset = first.byte_offset - before * first.buffer->dtype.bytes();
    return first;
  }
  if (!is_pointer(fn, e) && !e.is(AstKind::kName))
    return fn.source.error(e.place, Kind::invalid_value, "expected another buffer's data: A.data");
  if (!e.is(AstKind::kCall)) {
    RELAXC_TRY(tir::BufferRef buffer, fn.names.find_buffer(e));
    return Pointer{buffer, fn.context().index(0)};
  }
  if (callee_of(&e) == "T.address_of") return element_pointer(fn, e);
  if (callee_of(&e) == "T.reinterpret") {  // memory at an address, of no buffer
    RELAXC_TRY(arith::Expr address, fn.scalars.index(*e.items[2]));
    return Pointer{nullptr, address};
  }
  if (callee_of(&e) == "T.handle_add_byte_offset") {
    if (e.items.size() != 3)
      return fn.source.error(e.place, Kind::wrong_arity, "expected a pointer and an offset in bytes");
    RELAXC_TRY(Pointer from, read_pointer(fn, *e.items[1]));
    RELAXC_TRY(arith::Expr more, fn.scalars.index(*e.items[2]));
    return Pointer{from.buffer, from.byte_offset + more};
  }
  // A.access_ptr(mask, …, offset=k); T.tvm_access_ptr(type, data, offset, extent, mask).
  bool function = callee_of(&e) == "T.tvm_access_ptr";
  if (function && e.items.size() < 4)
    return fn.source.error(e.place, Kind::wrong_arity,
                           "T.tvm_access_ptr takes a type, a pointer, an offset and an extent");
  RELAXC_TRY(Pointer out, read_pointer(fn, function ? *e.items[2] : *e.items[0]->items[0]));
  const ast::Keyword* keyword = e.keyword("offset");
  const ast::Expr* offset = function ? e.items[3] : keyword != nullptr ? keyword->value : nullptr;
  if (offset != nullptr) {
    RELAXC_TRY(arith::Expr elements, fn.scalars.index(*offset));
    out.byte_offset = out.byte_offset + elements * out.buffer->dtype.bytes();
  }
  return out;
}

}  // namespace relaxc::frontend
