// byte_tile.cpp: recognizes loops that sum products of bytes for a tile, and finds their operands. See byte_tile.h.
#include "compiler/codegen/llvm/lower/byte_tile.h"

#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

namespace {

constexpr size_t kMostSums = 16;

/// Directly nested loops, outermost first, which are treated as one loop.
using LoopChain = std::vector<const tir::For*>;

Expr offset_of(const arith::Load& load) {
  return arith::simplify(tir::element_offset(load.indices[0].context(), *load.buffer, load.indices));
}

/// A byte that the tile reads in each iteration, and its offset in its buffer.
struct Bytes {
  tir::BufferRef buffer = nullptr;
  std::vector<Expr> indices;
  Expr offset;  ///< in variables of the loops
  Expr first;   ///< in the first iteration
};

struct Sum {
  tir::BufferRef buffer = nullptr;
  std::vector<Expr> indices;
  size_t row = 0, column = 0;  ///< indices in Tile::bytes
};

class Tile {
 public:
  explicit Tile(LoopChain loops) : loops_(std::move(loops)) {}

  /// Collects the sums and bytes; false unless the body is sums to each of which one product of bytes is added.
  bool read() { return collect(loops_.back()->body, {}) && !sums.empty(); }
  bool is_grid(TileLoop& loop) const;
  /// Whether the sums are adjacent in memory, in the order of rows and columns; swaps these if that makes them so.
  bool is_contiguous(TileLoop& loop) const;
  const Sum& sum_of(size_t row, size_t column) const;
  /// Whether each byte's offset changes by a constant per iteration, from one loop to the next as well; fills it in.
  bool has_steps(TileLoop& loop) const;

  std::vector<Bytes> bytes;
  std::vector<Sum> sums;

 private:
  bool collect(tir::Stmt s, const arith::Substitution& known);
  bool collect_unrolled(const tir::For& s, const arith::Substitution& known);
  bool collect_sum(const tir::Store& s, const arith::Substitution& known);
  std::optional<size_t> place_of(Expr factor, const arith::Substitution& known);

  LoopChain loops_;
};

bool Tile::collect(tir::Stmt s, const arith::Substitution& known) {
  if (const auto* seq = s.as<tir::Seq>())
    return std::all_of(seq->body.begin(), seq->body.end(), [&](tir::Stmt inner) { return collect(inner, known); });
  if (const auto* loop = s.as<tir::For>()) return collect_unrolled(*loop, known);
  if (const auto* store = s.as<tir::Store>()) return collect_sum(*store, known);
  const auto* block = s.as<tir::Block>();
  return block != nullptr && block->iters.empty() && !block->predicate && !block->init && collect(block->body, known);
}

bool Tile::collect_unrolled(const tir::For& s, const arith::Substitution& known) {
  const int64_t *min = s.min.constant(), *extent = s.extent.constant();
  if (s.loop_kind != tir::LoopKind::kUnrolled || min == nullptr || extent == nullptr) return false;
  if (*extent > static_cast<int64_t>(kMostSums)) return false;
  for (int64_t i = 0; i < *extent; ++i) {
    arith::Substitution inner = known;
    inner[s.var] = s.min.context().index(*min + i);
    if (!collect(s.body, inner)) return false;
  }
  return true;
}

/// The index in `bytes` of the byte that a factor loads, which is added if it is new; nothing if it loads no byte.
std::optional<size_t> Tile::place_of(Expr factor, const arith::Substitution& known) {
  const auto* cast = factor.as<arith::Cast>();
  const auto* load = cast != nullptr ? cast->value.as<arith::Load>() : nullptr;
  if (load == nullptr || load->indices.empty() || load->dtype != load->buffer->dtype) return std::nullopt;
  if (load->dtype != DType::u(8) && load->dtype != DType::i(8)) return std::nullopt;
  Bytes made{.buffer = load->buffer,
             .indices = {},
             .offset = arith::simplify(arith::substitute(offset_of(*load), known)),
             .first = {}};
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i].buffer == made.buffer && bytes[i].offset == made.offset) return i;
  arith::Substitution begin;
  for (const tir::For* loop : loops_) begin[loop->var] = loop->min;
  for (Expr index : load->indices)
    made.indices.push_back(arith::simplify(arith::substitute(arith::substitute(index, known), begin)));
  made.first = arith::simplify(arith::substitute(made.offset, begin));
  bytes.push_back(std::move(made));
  return bytes.size() - 1;
}

bool Tile::collect_sum(const tir::Store& s, const arith::Substitution& known) {
  const auto* add = s.value.as<arith::Add>();
  if (s.buffer->scope != tir::Scope::kLocal || s.buffer->dtype != DType::i(32) || add == nullptr) return false;
  const auto is_own = [&](Expr e) {
    const auto* load = e.as<arith::Load>();
    return load != nullptr && load->buffer == s.buffer && load->indices == s.indices;
  };
  const Expr term = is_own(add->a) ? add->b : add->a;
  const auto* product = term.as<arith::Mul>();
  if (!is_own(term == add->b ? add->a : add->b) || product == nullptr) return false;
  const auto row = place_of(product->a, known), column = row ? place_of(product->b, known) : std::nullopt;
  if (!column) return false;
  Sum sum{.buffer = s.buffer, .indices = {}, .row = *row, .column = *column};
  for (Expr index : s.indices) sum.indices.push_back(arith::simplify(arith::substitute(index, known)));
  const bool is_new = std::none_of(sums.begin(), sums.end(), [&](const Sum& other) {
    return other.buffer == sum.buffer && other.indices == sum.indices;
  });
  const bool stays =
      std::all_of(sum.indices.begin(), sum.indices.end(), [](Expr e) { return e.constant() != nullptr; });
  sums.push_back(std::move(sum));
  return is_new && stays && sums.size() <= kMostSums;
}

/// Whether there is a sum for each pair of a row and a column; fills in both, in the order of the sums.
bool Tile::is_grid(TileLoop& loop) const {
  const auto add = [](std::vector<size_t>& list, size_t place) {
    if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(place);
  };
  for (const Sum& sum : sums) add(loop.rows, sum.row), add(loop.columns, sum.column);
  return loop.rows.size() * loop.columns.size() == sums.size();
}

const Sum& Tile::sum_of(size_t row, size_t column) const {
  const auto found = std::find_if(sums.begin(), sums.end(), [&](const Sum& one) {
    return (one.row == row && one.column == column) || (one.row == column && one.column == row);
  });
  RELAXC_CHECK(found != sums.end(), "every row of a tile meets every column");
  return *found;
}

bool Tile::is_contiguous(TileLoop& loop) const {
  const auto in_order = [&] {
    std::optional<int64_t> next;
    for (size_t row : loop.rows)
      for (size_t column : loop.columns) {
        const Sum& sum = sum_of(row, column);
        const Expr at = sum.indices.empty()
                            ? Expr()
                            : arith::simplify(tir::element_offset(sum.indices[0].context(), *sum.buffer, sum.indices));
        if (at && at.constant() == nullptr) return false;
        const int64_t place = at ? *at.constant() : 0;
        if (sum.buffer != sums[0].buffer || next.value_or(place) != place) return false;
        next = place + 1;
      }
    return true;
  };
  if (in_order()) return true;
  std::swap(loop.rows, loop.columns);
  return in_order();
}

bool Tile::has_steps(TileLoop& loop) const {
  loop.count = 1;
  for (const tir::For* one : loops_) loop.count *= *one->extent.constant();
  for (const Bytes& one : bytes) {
    arith::Context& context = one.offset.context();
    const tir::For& inner = *loops_.back();
    const Expr next = arith::simplify(arith::substitute(one.offset, {{inner.var, inner.var + 1}}) - one.offset);
    if (next.constant() == nullptr) return false;
    Expr place = one.first;
    int64_t step = *next.constant();
    for (size_t i = loops_.size(); i-- > 0; step *= *loops_[i]->extent.constant())
      place = place + (loops_[i]->var - loops_[i]->min) * context.index(step);
    if (!arith::simplify(one.offset - place).is_constant(0)) return false;
    loop.bytes.push_back({.is_signed = one.buffer->dtype == DType::i(8), .step = *next.constant()});
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    loop.bytes[i].memory = i;
    for (size_t j = 0; j < i; ++j) {
      const Expr apart = arith::simplify(bytes[i].first - bytes[j].first);
      if (bytes[j].buffer != bytes[i].buffer || loop.bytes[j].memory != j || apart.constant() == nullptr) continue;
      loop.bytes[i].memory = j, loop.bytes[i].at = *apart.constant();
      break;
    }
  }
  return true;
}

/// The directly nested serial loops from `s` inwards; empty if the extent of one is not a positive constant.
LoopChain loops_from(const tir::For& s) {
  LoopChain loops;
  for (const tir::For* next = &s; next != nullptr; next = next->body.as<tir::For>()) {
    if (next->loop_kind != tir::LoopKind::kSerial) break;
    const int64_t* extent = next->extent.constant();
    if (extent == nullptr || *extent < 1) return {};
    loops.push_back(next);
  }
  return loops;
}

/// Whether sums stay in memory around the assembly statement. As its operands in registers that only it can use, LLVM
/// would split and spill them, and fail.
bool has_sums_in_memory(ByteTileForm form) {
  return form == ByteTileForm::kThumb;
}

}  // namespace

bool ByteTiles::lower(const tir::For& s) {
  const ByteTileForm form = frame_.numeric().capabilities().byte_tiles;
  if ((form != ByteTileForm::kThumb && form != ByteTileForm::kRiscv) || lanes_.count() != 0) return false;
  const LoopChain loops = loops_from(s);
  Tile tile(loops);
  TileLoop loop;
  loop.small = frame_.options().small;
  if (loops.empty() || !tile.read() || !tile.is_grid(loop) || !tile.has_steps(loop)) return false;
  const bool in_memory = has_sums_in_memory(form);
  if (in_memory && !tile.is_contiguous(loop)) return false;
  const std::optional<TileText> text = text_of(loop, form);
  if (!text) return false;

  std::vector<Value*> inputs, sums;
  for (size_t row : loop.rows)
    for (size_t column : loop.columns) {
      const Sum& sum = tile.sum_of(row, column);
      sums.push_back(memory_.address(sum.buffer, memory_.offset_of(sum.buffer, sum.indices)));
    }
  const auto address = [&](size_t place) {
    if (place == tile.bytes.size()) return b_.CreatePtrToInt(sums[0], b_.getInt32Ty());
    const Bytes& bytes = tile.bytes[place];
    Value* at = memory_.address(bytes.buffer, memory_.offset_of(bytes.buffer, bytes.indices));
    return b_.CreatePtrToInt(at, b_.getInt32Ty());
  };
  for (const TileText::Address& taken : text->takes) {
    Value* value = b_.CreateAdd(address(taken.bytes), b_.getInt32(static_cast<uint32_t>(taken.plus)));
    inputs.push_back(taken.from ? b_.CreateSub(value, address(*taken.from)) : value);
  }
  for (size_t i = 0; i < sums.size() && !in_memory; ++i) inputs.push_back(b_.CreateLoad(b_.getInt32Ty(), sums[i]));
  std::vector<llvm::Type*> taken(inputs.size(), b_.getInt32Ty()), given(text->results, b_.getInt32Ty());
  auto* type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), given), taken, false);
  auto* code = llvm::InlineAsm::get(type, text->text, text->constraints, /*hasSideEffects=*/true);
  Value* results = b_.CreateCall(type, code, inputs);
  for (size_t i = 0; i < sums.size() && !in_memory; ++i)
    b_.CreateStore(b_.CreateExtractValue(results, static_cast<unsigned>(i)), sums[i]);
  return true;
}

}  // namespace relaxc::codegen_llvm
