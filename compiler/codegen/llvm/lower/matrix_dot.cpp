// matrix_dot.cpp: finds which of four lanes share a row or a column, and emits the matrix instruction.
#include "compiler/codegen/llvm/lower/matrix_dot.h"

#include <llvm/IR/IntrinsicsAArch64.h>

#include <array>

#include "compiler/arith/simplify.h"
#include "compiler/arith/walks.h"

namespace relaxc::codegen_llvm {

using arith::Dot8;
using arith::Expr;
using llvm::Value;

namespace {

using Subscripts = std::vector<Expr>;

/// The subscripts of `load` in each of four lanes.
std::array<Subscripts, 4> by_lane(const arith::Load& load, Expr lane) {
  std::array<Subscripts, 4> all;
  for (size_t l = 0; l < all.size(); ++l)
    for (Expr index : load.indices) {
      const Expr number = lane.context().index(static_cast<int64_t>(l));
      all[l].push_back(arith::simplify(arith::substitute(index, {{lane, number}})));
    }
  return all;
}

/// Whether the last subscript of `b` is `step` more than that of `a`, and the others are the same.
bool apart(const Subscripts& a, const Subscripts& b, int64_t step) {
  for (size_t d = 0; d + 1 < a.size(); ++d)
    if (!arith::prove_equal(a[d], b[d])) return false;
  return arith::prove_equal(b.back(), a.back() + step);
}

const arith::Load* byte_of(const Dot8& dot, size_t i) {
  return dot.a[i].as<arith::Cast>()->value.as<arith::Load>();
}

/// The load of the first of eight bytes that are adjacent in one buffer; null if they are not.
const arith::Load* eight_bytes(const Dot8& dot) {
  const arith::Load* first = byte_of(dot, 0);
  if (first == nullptr || first->indices.empty() || !first->buffer->strides.empty()) return nullptr;
  for (size_t i = 1; i < dot.a.size(); ++i) {
    const arith::Load* next = byte_of(dot, i);
    if (next == nullptr || next->buffer != first->buffer) return nullptr;
    if (!apart(first->indices, next->indices, static_cast<int64_t>(i))) return nullptr;
  }
  return first;
}

/// The matrix product for rows and columns that are signed or not; not_intrinsic if there is none.
llvm::Intrinsic::ID product_of(bool rows, bool columns) {
  if (rows == columns) return rows ? llvm::Intrinsic::aarch64_neon_smmla : llvm::Intrinsic::aarch64_neon_ummla;
  if (rows) return llvm::Intrinsic::not_intrinsic;
  return llvm::Intrinsic::aarch64_neon_usmmla;
}

}  // namespace

/// The variable of the vectorized loop, if it is the only one in the subscripts and starts at 0; else null.
Expr MatrixProducts::lane_variable(const Dot8& dot) const {
  Expr found;
  bool only = true;
  const auto look = [&](Expr e) {
    if (e.as<arith::VarNode>() == nullptr) return;
    const Lanes* value = bindings_.find(e);
    if (value == nullptr || value->is_uniform()) return;
    const auto* first = llvm::dyn_cast_or_null<llvm::ConstantInt>(value->scalar);
    only &= (!found || found == e) && value->step == 1 && first != nullptr && first->isZero();
    found = e;
  };
  arith::for_each_node(dot.a[0], look);
  arith::for_each_node(dot.b, look);
  return only ? found : Expr();
}

std::optional<Lanes> MatrixProducts::sum(const arith::Binary& e) {
  if (lanes_.count() != 4 || lanes_.mask() != nullptr || e.dtype != DType::i(32)) return std::nullopt;
  if (!numeric_.capabilities().byte_matrices) return std::nullopt;
  const std::optional<Dot8> dot = arith::as_dot8(e.b);
  const arith::Load* a = dot ? eight_bytes(*dot) : nullptr;
  const auto* b = dot ? dot->b.as<arith::Load>() : nullptr;
  const Expr lane = a != nullptr && b != nullptr ? lane_variable(*dot) : Expr();
  if (!lane || addresses_.at(a->buffer).per_lane || addresses_.at(b->buffer).per_lane || !b->buffer->strides.empty())
    return std::nullopt;
  const std::array<Subscripts, 4> of_a = by_lane(*a, lane), of_b = by_lane(*b, lane);
  const auto same = [&](const Subscripts& x, const Subscripts& y) { return apart(x, y, 0); };
  // Whether the lanes are 2 by 2 products: `outer` is the same in lanes 0 and 1, `inner` in lanes 0 and 2.
  const auto blocks = [&](const auto& outer, const auto& inner) {
    return same(outer[0], outer[1]) && same(outer[2], outer[3]) && same(inner[0], inner[2]) && same(inner[1], inner[3]);
  };
  const bool rows_first = blocks(of_a, of_b) && apart(of_b[0], of_b[1], 1);
  if (!rows_first && !(blocks(of_b, of_a) && apart(of_b[0], of_b[2], 1))) return std::nullopt;
  const bool signed_a = !a->buffer->dtype.is_uint();
  const llvm::Intrinsic::ID intrinsic =
      rows_first ? product_of(signed_a, dot->signed_b) : product_of(dot->signed_b, signed_a);
  if (intrinsic == llvm::Intrinsic::not_intrinsic) return std::nullopt;

  auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), 16);
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
  const auto loaded = [&](const arith::Load& load, const Subscripts& at, llvm::Type* type, unsigned alignment) {
    return b_.CreateAlignedLoad(type, memory_.address(load.buffer, memory_.offset_of(load.buffer, at)),
                                llvm::Align(alignment));
  };
  Value* rows = llvm::PoisonValue::get(words);
  for (unsigned i = 0; i < 2; ++i) {
    const size_t of_lane = rows_first ? 2 * i : i;
    rows = b_.CreateInsertElement(rows, loaded(*a, of_a[of_lane], b_.getInt64Ty(), 1), i);
  }
  rows = b_.CreateBitCast(rows, bytes);
  Value* columns = b_.CreateBitCast(loaded(*b, of_b[0], words, 8), bytes);
  Value* sum = lanes_.widened(values_.value(e.a), DType::i(32));
  if (!rows_first) std::swap(rows, columns);
  return Lanes{nullptr, 0, b_.CreateIntrinsic(intrinsic, {sum->getType(), bytes}, {sum, rows, columns})};
}

}  // namespace relaxc::codegen_llvm
