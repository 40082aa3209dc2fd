// memory.cpp: emits loads and stores in lanes, and their masks.
#include "compiler/codegen/llvm/lower/memory.h"

#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

Lanes Memory::offset_of(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  RELAXC_CHECK(indices.size() == buffer->shape.size(), "wrong number of subscripts of " + buffer->name);
  if (lanes_.indices().are_mixed() && !indices.empty())
    return values_.value(tir::element_offset(indices[0].context(), *buffer, indices));
  Lanes offset{b_.getInt64(0), 0, nullptr};
  for (size_t i = 0; i < indices.size(); ++i) {
    Lanes index = values_.value(indices[i]);
    if (buffer->strides.empty())
      offset = i == 0 ? index : lanes_.add(lanes_.multiply(offset, values_.value(buffer->shape[i])), index);
    else
      offset = lanes_.add(offset, lanes_.multiply(index, values_.value(buffer->strides[i])));
  }
  return offset;
}

Value* Memory::address(tir::BufferRef buffer, Lanes offset) {
  Value* base = addresses_.at(buffer).address;
  Value* at = offset.vector != nullptr ? offset.vector : offset.scalar;
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  if (lanes_.mask() != nullptr) return b_.CreateGEP(type, base, at);  // lanes that do not run may point anywhere
  return b_.CreateInBoundsGEP(type, base, at);
}

void Memory::prefetch_line(Value* address) {
  constexpr int kRead = 0, kAllLevels = 3, kData = 1;
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                     {address, b_.getInt32(kRead), b_.getInt32(kAllLevels), b_.getInt32(kData)});
}

/// Prefetches the line some bytes after `address`. If it is after the buffer, that has no effect.
void Memory::prefetch_behind(tir::BufferRef buffer, Value* address) {
  if (lanes_.prefetch() == 0 || buffer->scope == tir::Scope::kLocal) return;
  prefetch_line(b_.CreateConstGEP1_64(b_.getInt8Ty(), address, static_cast<uint64_t>(lanes_.prefetch())));
}

void Memory::prefetch(const LinesAhead& lines, int64_t iterations) {
  const BufferAddress* base = addresses_.find(lines.buffer);
  if (base == nullptr || base->per_lane) return;
  const Lanes first = offset_of(lines.buffer, lines.first);
  if (!first.is_uniform() || first.overflow != nullptr) return;
  llvm::Type* type = numeric_.memory_type(lines.buffer->dtype);
  IndexTypes& types = lanes_.indices();
  // No address is in bounds for certain, since a condition may guard the elements.
  Value* now = b_.CreateGEP(type, base->address, types.resized(first.scalar, types.widest()));
  Value* step = types.resized(values_.scalar(lines.step), types.widest());
  Value* later = b_.CreateGEP(type, now, b_.CreateMul(step, b_.getInt64(static_cast<uint64_t>(iterations))));
  for (int64_t at = 0; at < lines.bytes; at += tir::kMemoryAlignment)
    prefetch_line(b_.CreateConstGEP1_64(b_.getInt8Ty(), later, static_cast<uint64_t>(at)));
}

Lanes Memory::spread(tir::BufferRef buffer, Lanes offset) {
  if (!addresses_.at(buffer).per_lane) return offset;
  llvm::Type* type = offset.vector != nullptr ? offset.vector->getType()->getScalarType() : offset.scalar->getType();
  auto number = [&](uint64_t n) -> Value* { return llvm::ConstantInt::get(type, n); };
  return lanes_.add(lanes_.multiply(offset, {number(lanes_.count()), 0, nullptr}), {number(0), 1, nullptr});
}

/// Whether all lanes access one element, and it is known to exist: lanes that do not run may access it too.
bool Memory::is_certain(tir::BufferRef buffer, Lanes offset) const {
  auto* at = offset.is_uniform() ? llvm::dyn_cast<llvm::ConstantInt>(offset.scalar) : nullptr;
  int64_t count = 1;
  for (Expr dim : buffer->shape) {
    if (dim.constant() == nullptr) return false;
    count *= *dim.constant();
  }
  return at != nullptr && at->getSExtValue() >= 0 && at->getSExtValue() < count;
}

/// Whether lanes access a certain element of their own locals, which masked accesses would keep out of registers.
bool Memory::is_private(tir::BufferRef buffer, Lanes offset) const {
  return addresses_.at(buffer).per_lane && is_certain(buffer, offset);
}

/// Loads one element for all lanes, if any of them runs.
Value* Memory::load_if_any(tir::BufferRef buffer, Lanes offset) {
  auto* one = llvm::FixedVectorType::get(numeric_.memory_type(buffer->dtype), 1);
  Value* any = b_.CreateVectorSplat(1, b_.CreateOrReduce(lanes_.mask()));
  Value* read =
      b_.CreateMaskedLoad(one, address(buffer, offset), align_of(buffer), any, llvm::Constant::getNullValue(one));
  return b_.CreateExtractElement(read, uint64_t{0});
}

/// Loads elements in the type that memory holds.
Lanes Memory::load_raw(tir::BufferRef buffer, Lanes offset) {
  Value* mask = lanes_.mask();
  bool certain = is_certain(buffer, offset), everywhere = mask == nullptr || is_private(buffer, offset);
  offset = spread(buffer, offset);
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  if (offset.is_uniform() && mask != nullptr && !certain) return {load_if_any(buffer, offset)};
  if (offset.is_uniform()) return {b_.CreateAlignedLoad(type, address(buffer, offset), align_of(buffer))};
  if (offset.vector == nullptr && offset.step == 1) return {nullptr, 0, load_contiguous(buffer, offset, everywhere)};
  // A mask that is not constant has to be spread over the gaps, which for steps above 2 is done lane by lane.
  int64_t most = llvm::isa<llvm::Constant>(lanes_.mask_of_all()) ? 4 : 2;
  if (offset.vector == nullptr && offset.step > 1 && offset.step <= most && buffer->dtype.bits >= 32)
    return {nullptr, 0, load_strided(buffer, offset)};
  auto* vector = llvm::FixedVectorType::get(type, lanes_.count());
  Lanes all{nullptr, 0, lanes_.widened(offset, DType::index())};
  return {nullptr, 0,
          b_.CreateMaskedGather(vector, address(buffer, all), align_of(buffer), lanes_.mask_of_all(),
                                llvm::Constant::getNullValue(vector))};
}

Value* Memory::load_contiguous(tir::BufferRef buffer, Lanes offset, bool everywhere) {
  auto* vector = llvm::FixedVectorType::get(numeric_.memory_type(buffer->dtype), lanes_.count());
  Value* at = address(buffer, offset);
  if (!everywhere)
    return b_.CreateMaskedLoad(vector, at, align_of(buffer), lanes_.mask(), llvm::Constant::getNullValue(vector));
  prefetch_behind(buffer, at);
  return b_.CreateAlignedLoad(vector, at, align_of(buffer));
}

/// Loads elements that are a few apart: reads whole vectors, with a mask without the gaps (which may be after the end),
/// and shuffles them. A gather takes a load for each element.
Value* Memory::load_strided(tir::BufferRef buffer, Lanes offset) {
  const uint32_t lanes = lanes_.count();
  unsigned step = static_cast<unsigned>(offset.step), count = lanes * step;
  std::vector<int> spread_out, together;
  for (unsigned i = 0; i < count; ++i) spread_out.push_back(static_cast<int>(i % step == 0 ? i / step : lanes));
  for (unsigned i = 0; i < lanes; ++i) together.push_back(static_cast<int>(i * step));
  Value* running = lanes_.mask_of_all();
  Value* mask = b_.CreateShuffleVector(running, llvm::Constant::getNullValue(running->getType()), spread_out);
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  auto* wide = llvm::FixedVectorType::get(type, count);
  Value* at = b_.CreateGEP(type, addresses_.at(buffer).address, offset.scalar);
  Value* all = b_.CreateMaskedLoad(wide, at, align_of(buffer), mask, llvm::Constant::getNullValue(wide));
  return b_.CreateShuffleVector(all, together);
}

/// Loads bytes of a table of 256 at subscripts that are bytes. It permutes registers, where a gather takes a load for
/// each. Lanes that do not run need no mask, since their subscripts are bytes, too.
std::optional<Lanes> Memory::look_up(const arith::Load& e) {
  constexpr unsigned kBytes = 64;
  const auto* cast = e.indices.size() == 1 ? e.indices[0].as<arith::Cast>() : nullptr;
  bool table = e.dtype.bits == 8 && e.dtype.is_integer() && e.buffer->shape.size() == 1 &&
               e.buffer->shape[0].is_constant(256) && e.buffer->strides.empty() && !addresses_.at(e.buffer).per_lane;
  if (!table || cast == nullptr || cast->value.dtype() != DType::u(8)) return std::nullopt;
  if (!numeric_.capabilities().byte_permutes || lanes_.count() == 0 || lanes_.count() > kBytes) return std::nullopt;
  Lanes picked = values_.value(cast->value);
  if (picked.is_uniform()) return std::nullopt;
  std::vector<int> wide(kBytes, -1);
  for (unsigned i = 0; i < lanes_.count(); ++i) wide[i] = static_cast<int>(i);
  Value* at = b_.CreateShuffleVector(lanes_.widened(picked, DType::u(8)), wide);
  auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), kBytes);
  auto half = [&](uint64_t first) {
    auto part = [&](uint64_t offset) {
      Value* address = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), addresses_.at(e.buffer).address, offset);
      return b_.CreateAlignedLoad(bytes, address, llvm::Align(1));
    };
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                              {part(first), at, part(first + kBytes)});
  };
  Value* low = half(0);
  Value* all = b_.CreateSelect(b_.CreateICmpSLT(at, llvm::Constant::getNullValue(bytes)), half(2 * kBytes), low);
  wide.resize(lanes_.count());
  return Lanes{nullptr, 0, numeric_.from_memory(e.dtype, b_.CreateShuffleVector(all, wide))};
}

Lanes Memory::load(const arith::Load& e) {
  if (e.buffer->record != nullptr) {
    Value* read = field(e);
    return {read->getType()->isPointerTy() ? b_.CreatePtrToInt(read, b_.getInt64Ty()) : read, 0, nullptr};
  }
  std::optional<Lanes> out = look_up(e);
  return out ? *out : load_element(e.buffer, e.indices);
}

Lanes Memory::load_element(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  Lanes stored = load_raw(buffer, offset_of(buffer, indices));
  if (stored.vector != nullptr) return {nullptr, 0, numeric_.from_memory(buffer->dtype, stored.vector)};
  return {numeric_.from_memory(buffer->dtype, stored.scalar), 0, nullptr};
}

Value* Memory::field(const arith::Load& e) {
  Value* base = addresses_.at(e.buffer).address;
  if (e.indices.empty()) return base;
  const tir::Record& record = *e.buffer->record;
  const auto field = static_cast<uint32_t>(*e.indices[1].constant());
  llvm::StructType* type = frame_.module().record(record);
  Value* at = b_.CreateInBoundsGEP(type, base, {values_.scalar(e.indices[0]), b_.getInt32(field)});
  return b_.CreateLoad(type->getElementType(field), at);
}

Value* Memory::pointer(Expr address) {
  const auto* load = address.as<arith::Load>();
  if (load != nullptr && load->buffer->record != nullptr) return field(*load);
  return b_.CreateIntToPtr(values_.scalar(address), b_.getPtrTy());
}

/// Stores four adjacent unsigned bytes as 16-bit numbers, by instructions that widen every other byte (uxtb16), and
/// join halves of two registers (pkhbt, pkhtb) unless even bytes come first. False if it is no such store.
bool Memory::store_widened(const tir::Store& s) {
  constexpr std::array<int64_t, 4> kInOrder{0, 1, 2, 3}, kEvenFirst{0, 2, 1, 3};
  const auto* cast = s.value.as<arith::Cast>();
  const auto* load = cast != nullptr ? cast->value.as<arith::Load>() : nullptr;
  if (!numeric_.capabilities().halves || lanes_.count() != 4 || lanes_.mask() != nullptr || load == nullptr)
    return false;
  if (!lanes_.var() || s.buffer->dtype != DType::i(16) || load->dtype != DType::u(8)) return false;
  const auto places = places_of_four(s.buffer, s.indices);
  if (places_of_four(load->buffer, load->indices) != kInOrder || (places != kInOrder && places != kEvenFirst))
    return false;
  Value* word = b_.CreateAlignedLoad(b_.getInt32Ty(), first_address(load->buffer, load->indices), llvm::Align(1));
  Value* turned = b_.CreateIntrinsic(llvm::Intrinsic::fshr, {word->getType()}, {word, word, b_.getInt32(8)});
  Value* low = b_.CreateIntrinsic(llvm::Intrinsic::arm_uxtb16, {}, {word});
  Value* high = b_.CreateIntrinsic(llvm::Intrinsic::arm_uxtb16, {}, {turned});
  if (places == kInOrder) {
    Value *even = low, *odd = high;
    Value *first_odd = b_.CreateShl(odd, 16), *first_even = b_.CreateAnd(even, 0xFFFF);
    low = b_.CreateOr(first_even, first_odd);
    Value *last_even = b_.CreateLShr(even, 16), *last_odd = b_.CreateAnd(odd, 0xFFFF0000);
    high = b_.CreateOr(last_odd, last_even);
  }
  Value* at = first_address(s.buffer, s.indices);
  b_.CreateAlignedStore(low, at, align_of(s.buffer));
  b_.CreateAlignedStore(high, b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), at, 1), align_of(s.buffer));
  return true;
}

/// Where the elements of four lanes are, relative to the first one's; nullopt if that is not known.
std::optional<std::array<int64_t, 4>> Memory::places_of_four(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  if (indices.empty() || addresses_.at(buffer).per_lane) return {};
  arith::Context& context = indices[0].context();
  const Expr offset = tir::element_offset(context, *buffer, indices);
  const auto of_lane = [&](int64_t lane) { return arith::substitute(offset, {{lanes_.var(), context.index(lane)}}); };
  std::array<int64_t, 4> places{};
  for (size_t i = 1; i < places.size(); ++i) {
    const Expr distance = arith::simplify(of_lane(static_cast<int64_t>(i)) - of_lane(0));
    if (distance.constant() == nullptr) return {};
    places[i] = *distance.constant();
  }
  return places;
}

/// The address of the first lane's element.
Value* Memory::first_address(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  std::vector<Expr> first;
  for (Expr index : indices)
    first.push_back(arith::simplify(arith::substitute(index, {{lanes_.var(), index.context().index(0)}})));
  return address(buffer, offset_of(buffer, first));
}

namespace {

/// The product that a store adds to its own element; null if it stores something else.
const arith::Mul* added_product(const tir::Store& s) {
  const auto* sum = s.value.as<arith::Add>();
  const auto* own = sum != nullptr ? sum->a.as<arith::Load>() : nullptr;
  const bool adds = own != nullptr && own->buffer == s.buffer && own->indices == s.indices;
  return adds ? sum->b.as<arith::Mul>() : nullptr;
}

}  // namespace

/// Adds a product to a sum by WebAssembly's relaxed_madd, which rounds the product or not, as the engine's processor is
/// faster. Only sums in memory are fused: expansions of functions such as exp rely on how their products round.
std::optional<Lanes> Memory::fused_sum(const tir::Store& s) {
  constexpr unsigned kVectorBits = 128;  // LLVM has the instruction for this width, and splits others before it looks
  const DType dtype = s.buffer->dtype;
  if (!numeric_.capabilities().may_fuse || !dtype.is_float() || dtype.bits < 32) return {};
  const arith::Mul* product = lanes_.count() * dtype.bits == kVectorBits ? added_product(s) : nullptr;
  if (product == nullptr) return {};
  Value* a = lanes_.widened(values_.value(product->a), dtype);
  Value* b = lanes_.widened(values_.value(product->b), dtype);
  Value* sum = lanes_.widened(values_.value(s.value.as<arith::Add>()->a), dtype);
  return Lanes{nullptr, 0, b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sum->getType()}, {a, b, sum})};
}

void Memory::store(const tir::Store& s) {
  if (store_widened(s)) return;
  Lanes offset = offset_of(s.buffer, s.indices);
  const auto* load = s.value.as<arith::Load>();
  bool narrow = s.value.dtype().is_float() && s.value.dtype().bits < 32;
  if (load != nullptr && narrow)  // a copy keeps its bits; there is no need to go through float
    return store_raw(s.buffer, offset, load_raw(load->buffer, offset_of(load->buffer, load->indices)));
  const DType dtype = s.buffer->dtype;
  const std::optional<Lanes> fused = fused_sum(s);
  Lanes value = fused ? *fused : values_.value(s.value);
  if (dtype.is_index()) value = lanes_.indices().resized(value, lanes_.indices().widest());
  store_raw(s.buffer, offset, lanes_.apply({value}, {dtype}, [&](auto& x) { return numeric_.to_memory(dtype, x[0]); }));
}

/// Stores `value`, which has the type that memory holds.
void Memory::store_raw(tir::BufferRef buffer, Lanes offset, Lanes value) {
  bool own = is_private(buffer, offset);
  offset = spread(buffer, offset);
  if (lanes_.count() == 0) {
    b_.CreateAlignedStore(value.scalar, address(buffer, offset), align_of(buffer));
    return;
  }
  Value* stored = lanes_.widened(value, buffer->dtype);
  if (offset.vector == nullptr && offset.step == 1) return store_contiguous(buffer, offset, stored, own);
  if (interleaved_.take(buffer, offset, stored)) return;
  Lanes all{nullptr, 0, lanes_.widened(offset, DType::index())};
  b_.CreateMaskedScatter(stored, address(buffer, all), align_of(buffer), lanes_.mask_of_all());
}

void Memory::store_contiguous(tir::BufferRef buffer, Lanes offset, Value* stored, bool own) {
  Value* mask = lanes_.mask();
  if (mask != nullptr && own) {
    Value* old = b_.CreateAlignedLoad(stored->getType(), address(buffer, offset), align_of(buffer));
    stored = b_.CreateSelect(mask, stored, old);
  }
  if (mask == nullptr || own)
    b_.CreateAlignedStore(stored, address(buffer, offset), align_of(buffer));
  else
    b_.CreateMaskedStore(stored, address(buffer, offset), align_of(buffer), mask);
}

}  // namespace relaxc::codegen_llvm
