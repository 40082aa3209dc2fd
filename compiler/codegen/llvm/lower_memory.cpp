// lower_memory.cpp: loads and stores of one element, or of one element a lane.
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/llvm/lower_function.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using llvm::Value;

const FunctionLowering::Place& FunctionLowering::place(tir::BufferRef buffer) const {
  auto it = places_.find(buffer);
  RELAXC_CHECK(it != places_.end(), "buffer " + buffer->name + " does not exist here");
  return it->second;
}

Value* FunctionLowering::address(tir::BufferRef buffer, Lanes offset) {
  Value* base = place(buffer).address;
  Value* at = offset.vector != nullptr ? offset.vector : offset.scalar;
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  if (mask_ != nullptr) return b_.CreateGEP(type, base, at);  // lanes that do not run may point anywhere
  return b_.CreateInBoundsGEP(type, base, at);
}

/// Where the line that is wanted lies behind the buffer, nothing happens.
void FunctionLowering::prefetch(tir::BufferRef buffer, Value* address) {
  constexpr int kRead = 0, kAllLevels = 3, kData = 1;
  if (prefetch_ == 0 || buffer->scope == tir::Scope::kLocal) return;
  Value* behind = b_.CreateConstGEP1_64(b_.getInt8Ty(), address, static_cast<uint64_t>(prefetch_));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {behind->getType()},
                     {behind, b_.getInt32(kRead), b_.getInt32(kAllLevels), b_.getInt32(kData)});
}

Value* FunctionLowering::as_vector_mask() {
  return mask_ != nullptr ? mask_ : llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
}

Lanes FunctionLowering::spread(tir::BufferRef buffer, Lanes offset) {
  if (!place(buffer).per_lane) return offset;
  return add(multiply(offset, {b_.getInt64(lanes_), 0, nullptr}), {b_.getInt64(0), 1, nullptr});
}

/// The same place for all lanes, and one known to exist: lanes that do not run may touch it too.
bool FunctionLowering::is_certain(tir::BufferRef buffer, Lanes offset) const {
  auto* at = offset.is_uniform() ? llvm::dyn_cast<llvm::ConstantInt>(offset.scalar) : nullptr;
  int64_t count = 1;
  for (Expr dim : buffer->shape) {
    if (dim.constant() == nullptr) return false;
    count *= *dim.constant();
  }
  return at != nullptr && at->getSExtValue() >= 0 && at->getSExtValue() < count;
}

/// A lane's own local at such a place. Masked accesses would keep the local out of registers.
bool FunctionLowering::is_private(tir::BufferRef buffer, Lanes offset) const {
  return place(buffer).per_lane && is_certain(buffer, offset);
}

/// One element for all lanes, read if any of them runs.
Value* FunctionLowering::load_if_any(tir::BufferRef buffer, Lanes offset) {
  auto* one = llvm::FixedVectorType::get(numeric_.memory_type(buffer->dtype), 1);
  Value* any = b_.CreateVectorSplat(1, b_.CreateOrReduce(mask_));
  llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  Value* read = b_.CreateMaskedLoad(one, address(buffer, offset), align, any, llvm::Constant::getNullValue(one));
  return b_.CreateExtractElement(read, uint64_t{0});
}

Value* FunctionLowering::load_raw(tir::BufferRef buffer, Lanes offset, bool& is_vector) {
  bool certain = is_certain(buffer, offset), everywhere = mask_ == nullptr || is_private(buffer, offset);
  offset = spread(buffer, offset);
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  is_vector = !offset.is_uniform();
  if (!is_vector && mask_ != nullptr && !certain) return load_if_any(buffer, offset);
  if (!is_vector) return b_.CreateAlignedLoad(type, address(buffer, offset), align);
  auto* vector = llvm::FixedVectorType::get(type, lanes_);
  if (offset.vector == nullptr && offset.step == 1) {
    if (everywhere) {
      Value* at = address(buffer, offset);
      prefetch(buffer, at);
      return b_.CreateAlignedLoad(vector, at, align);
    }
    return b_.CreateMaskedLoad(vector, address(buffer, offset), align, mask_, llvm::Constant::getNullValue(vector));
  }
  // A mask that is not known has to be spread over the gaps, which for more than one is done lane by lane.
  int64_t most = llvm::isa<llvm::Constant>(as_vector_mask()) ? 4 : 2;
  if (offset.vector == nullptr && offset.step > 1 && offset.step <= most && buffer->dtype.bits >= 32)
    return load_strided(buffer, offset);
  Lanes all{nullptr, 0, widened(offset, DType::index())};
  return b_.CreateMaskedGather(vector, address(buffer, all), align, as_vector_mask(),
                               llvm::Constant::getNullValue(vector));
}

/// A few elements apart: whole vectors are read, with a mask that leaves out the gaps (which may lie behind the end),
/// and shuffled together. Gathers take a load an element.
Value* FunctionLowering::load_strided(tir::BufferRef buffer, Lanes offset) {
  unsigned step = static_cast<unsigned>(offset.step), count = lanes_ * step;
  std::vector<int> spread_out, together;
  for (unsigned i = 0; i < count; ++i) spread_out.push_back(static_cast<int>(i % step == 0 ? i / step : lanes_));
  for (unsigned i = 0; i < lanes_; ++i) together.push_back(static_cast<int>(i * step));
  Value* lanes = as_vector_mask();
  Value* mask = b_.CreateShuffleVector(lanes, llvm::Constant::getNullValue(lanes->getType()), spread_out);
  llvm::Type* type = numeric_.memory_type(buffer->dtype);
  auto* wide = llvm::FixedVectorType::get(type, count);
  llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  Value* at = b_.CreateGEP(type, place(buffer).address, offset.scalar);
  Value* all = b_.CreateMaskedLoad(wide, at, align, mask, llvm::Constant::getNullValue(wide));
  return b_.CreateShuffleVector(all, together);
}

/// Bytes of a table of 256 that bytes pick: from registers, where a gather takes a load for each. Subscripts of lanes
/// that do not run are bytes, too.
std::optional<Lanes> FunctionLowering::look_up(const arith::Load& e) {
  constexpr unsigned kBytes = 64;
  const auto* cast = e.indices.size() == 1 ? e.indices[0].as<arith::Cast>() : nullptr;
  bool table = e.dtype.bits == 8 && e.dtype.is_integer() && e.buffer->shape.size() == 1 &&
               e.buffer->shape[0].is_constant(256) && e.buffer->strides.empty() && !place(e.buffer).per_lane;
  if (!table || cast == nullptr || cast->value.dtype() != DType::u(8)) return std::nullopt;
  if (!numeric_.abilities().byte_permutes || lanes_ == 0 || lanes_ > kBytes) return std::nullopt;
  Lanes picked = value(cast->value);
  if (picked.is_uniform()) return std::nullopt;
  std::vector<int> wide(kBytes, -1);
  for (unsigned i = 0; i < lanes_; ++i) wide[i] = static_cast<int>(i);
  Value* at = b_.CreateShuffleVector(widened(picked, DType::u(8)), wide);
  auto* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), kBytes);
  auto half = [&](uint64_t first) {
    auto part = [&](uint64_t offset) {
      Value* address = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), place(e.buffer).address, offset);
      return b_.CreateAlignedLoad(bytes, address, llvm::Align(1));
    };
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                              {part(first), at, part(first + kBytes)});
  };
  Value* low = half(0);
  Value* all = b_.CreateSelect(b_.CreateICmpSLT(at, llvm::Constant::getNullValue(bytes)), half(2 * kBytes), low);
  wide.resize(lanes_);
  return Lanes{nullptr, 0, numeric_.from_memory(e.dtype, b_.CreateShuffleVector(all, wide))};
}

Lanes FunctionLowering::load(tir::BufferRef buffer, const std::vector<Expr>& indices) {
  bool is_vector = false;
  Value* stored = load_raw(buffer, offset_of(buffer, indices), is_vector);
  Value* out = numeric_.from_memory(buffer->dtype, stored);
  return is_vector ? Lanes{nullptr, 0, out} : Lanes{out, 0, nullptr};
}

Value* FunctionLowering::read_field(const arith::Load& e) {
  Value* base = place(e.buffer).address;
  if (e.indices.empty()) return base;
  const tir::Record& record = *e.buffer->record;
  const auto field = static_cast<uint32_t>(*e.indices[1].constant());
  llvm::StructType* type = module_.record(record);
  Value* at = b_.CreateInBoundsGEP(type, base, {scalar(e.indices[0]), b_.getInt32(field)});
  return b_.CreateLoad(type->getElementType(field), at);
}

/// The pointer at an address. One that is read stays a pointer on the way.
Value* FunctionLowering::pointer(Expr address) {
  const auto* load = address.as<arith::Load>();
  if (load != nullptr && load->buffer->record != nullptr) return read_field(*load);
  return b_.CreateIntToPtr(scalar(address), b_.getPtrTy());
}

Lanes FunctionLowering::to_stored(DType dtype, Lanes value) {
  return apply({value}, {dtype}, [&](auto& x) { return numeric_.to_memory(dtype, x[0]); });
}

/// `value` is as memory holds it.
void FunctionLowering::store(tir::BufferRef buffer, Lanes offset, Lanes value) {
  llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
  bool own = is_private(buffer, offset);
  offset = spread(buffer, offset);
  if (lanes_ == 0) {
    b_.CreateAlignedStore(value.scalar, address(buffer, offset), align);
    return;
  }
  Value* stored = widened(value, buffer->dtype);
  if (offset.vector == nullptr && offset.step == 1) {
    if (mask_ != nullptr && own) {
      Value* old = b_.CreateAlignedLoad(stored->getType(), address(buffer, offset), align);
      stored = b_.CreateSelect(mask_, stored, old);
    }
    if (mask_ == nullptr || own)
      b_.CreateAlignedStore(stored, address(buffer, offset), align);
    else
      b_.CreateMaskedStore(stored, address(buffer, offset), align, mask_);
    return;
  }
  if (wait_for_neighbours(buffer, offset, stored)) return;
  Lanes all{nullptr, 0, widened(offset, DType::index())};
  b_.CreateMaskedScatter(stored, address(buffer, all), align, as_vector_mask());
}

}  // namespace relaxc::codegen_llvm
