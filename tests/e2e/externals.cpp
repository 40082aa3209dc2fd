// externals.cpp: the external functions of these programs, once as a user of an object writes them in C, and once as
// the interpreter calls them. They compute a shape, fill a tensor, make a tensor of a size of their own, and make an
// object.
#include "tests/e2e/externals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime-lite/include/relax_rt.h"

namespace {

/// One row and one column more.
void padded_shape(int64_t* shape, int64_t n, int64_t m) {
  shape[0] = n + 1;
  shape[1] = m + 1;
}

/// `from` in the upper left corner, -1 elsewhere; refuses a result without room for both.
int32_t pad(const float* from, const int64_t* size, float* to, const int64_t* padded) {
  if (padded[0] < size[0] || padded[1] < size[1]) return 1;
  for (int64_t i = 0; i < padded[0]; ++i)
    for (int64_t j = 0; j < padded[1]; ++j)
      to[i * padded[1] + j] = i < size[0] && j < size[1] ? from[i * size[1] + j] : -1.0F;
  return 0;
}

/// The positive elements.
std::vector<float> positive(const float* from, int64_t count) {
  std::vector<float> found;
  for (int64_t i = 0; i < count; ++i)
    if (from[i] > 0) found.push_back(from[i]);
  return found;
}

/// As long as the wiki's program wants it: half of what it is given, one more.
int64_t my_shape(int64_t n) {
  return n / 2 + 1;
}
/// The first element and k, as extents.
void extents(const float* from, int64_t n, int64_t k, int64_t* to) {
  to[0] = n == 0 ? 0 : static_cast<int64_t>(from[0]);
  to[1] = k;
}
/// Whole numbers, each several times.
void custom(const float* from, int64_t n, float* to, int64_t m) {
  for (int64_t i = 0; i < m; ++i) to[i] = n == 0 ? 0 : std::floor(from[i * 7 % n]);
}

}  // namespace

extern "C" {
float test_scaled(float x, float by, int64_t more);
int32_t test_fill(float* to, float value, int32_t count);

float test_scaled(float x, float by, int64_t more) {
  return x * by + static_cast<float>(more);
}

int32_t test_fill(float* to, float value, int32_t count) {
  for (int32_t i = 0; i < count; ++i) to[i] = value;
  return count;
}

int32_t test_spell(float* to, const uint8_t* word);

/// Writes the letters from the sixth element on.
int32_t test_spell(float* to, const uint8_t* word) {
  int32_t count = 0;
  for (; word[count] != 0; ++count) to[5 + count] = word[count];
  return count;
}

int32_t test_padded_shape(rlx_context* context, int64_t n, int64_t m, const rlx_tensor* shape);
int32_t test_scale(rlx_context* context, const rlx_tensor* x, int64_t more, const rlx_tensor* by, const rlx_tensor* to);
int32_t test_pad(rlx_context* context, const rlx_tensor* from, const rlx_tensor* to);

int32_t test_padded_shape(rlx_context*, int64_t n, int64_t m, const rlx_tensor* shape) {
  padded_shape(static_cast<int64_t*>(shape->data), n, m);
  return n == 13 ? 77 : 0;
}

/// x * by + more.
int32_t test_scale(rlx_context*, const rlx_tensor* x, int64_t more, const rlx_tensor* by, const rlx_tensor* to) {
  if (by->ndim != 0 || by->dtype_bits != 32) return 1;
  for (int64_t i = 0; i < x->shape[0]; ++i)
    static_cast<float*>(to->data)[i] =
        test_scaled(static_cast<const float*>(x->data)[i], *static_cast<const float*>(by->data), more);
  return 0;
}

int32_t test_pad(rlx_context*, const rlx_tensor* from, const rlx_tensor* to) {
  return pad(static_cast<const float*>(from->data), from->shape, static_cast<float*>(to->data), to->shape);
}

int32_t test_positive(rlx_context* context, const rlx_tensor* x, rlx_tensor* result);
int32_t test_stack(rlx_context* context, const rlx_tensor* x, rlx_object** result);
int32_t test_push(rlx_context* context, rlx_object* stack, const rlx_tensor* x, rlx_object** result);
int32_t test_top(rlx_context* context, rlx_object* stack, const rlx_tensor* to);
int32_t myshape_func(rlx_context* context, int64_t n, const rlx_tensor* shape);
int32_t custom_func(rlx_context* context, const rlx_tensor* from, const rlx_tensor* to);
int32_t custom_inplace_update(rlx_context* context, const rlx_tensor* x);
int32_t test_extents(rlx_context* context, const rlx_tensor* x, int64_t k, const rlx_tensor* shape);

int32_t test_extents(rlx_context*, const rlx_tensor* x, int64_t k, const rlx_tensor* shape) {
  if (shape->ndim != 1 || shape->shape[0] != 2) return 99;
  extents(static_cast<const float*>(x->data), x->shape[0], k, static_cast<int64_t*>(shape->data));
  return 0;
}

/// The first element says what goes wrong: 101 the code, 102 the dtype, 103 the rank, 104 the extent, 105 the data, 106
/// the strides, 108 the device, 109 the alignment, 110 the size; 107 makes a shape of its own.
int32_t test_positive(rlx_context* context, const rlx_tensor* x, rlx_tensor* result) {
  static int64_t two[] = {2, 2}, apart[] = {2}, own[1];
  const auto* from = static_cast<const float*>(x->data);
  std::vector<float> found = positive(from, x->shape[0]);
  int fault = x->shape[0] > 0 ? static_cast<int>(from[0]) : 0;
  if (result->data != nullptr || result->ndim != 1 || result->dtype_code != 2 || result->dtype_bits != 32) return 99;
  auto* memory = static_cast<float*>(context->alloc(context->alloc_user, found.size() * sizeof(float), 64));
  if (memory == nullptr) return 98;
  if (!found.empty()) std::memcpy(memory, found.data(), found.size() * sizeof(float));
  result->data = memory;
  result->shape[0] = static_cast<int64_t>(found.size());
  if (fault == 101) return 77;
  if (fault == 102) result->dtype_code = 0;
  if (fault == 103) result->ndim = 2, result->shape = two;
  if (fault == 104) result->shape[0] = -3;
  if (fault == 105) result->data = nullptr;
  if (fault == 106) result->strides = apart;
  if (fault == 108) result->device_type = 2;
  if (fault == 109) result->byte_offset = 2;
  if (fault == 110) result->shape[0] = INT64_MAX / 2;
  if (fault == 107) own[0] = result->shape[0], result->shape = own;
  return 0;
}

/// A stack of one vector: an object that a program may look into.
int32_t test_stack(rlx_context* context, const rlx_tensor* x, rlx_object** result) {
  size_t bytes = static_cast<size_t>(x->shape[0]) * sizeof(float);
  auto* object = static_cast<rlx_object*>(context->alloc(context->alloc_user, sizeof(rlx_object) + 64 + bytes, 64));
  if (object == nullptr) return 98;
  auto* shape = reinterpret_cast<int64_t*>(object + 1);
  auto* data = reinterpret_cast<std::byte*>(object) + sizeof(rlx_object) + 8;
  *shape = x->shape[0];
  if (bytes > 0) std::memcpy(data, x->data, bytes);
  *object = {RLX_OBJECT_TENSOR, 0, {data, RLX_DEVICE_CPU, 0, 1, 2, 32, 1, shape, nullptr, 0}};
  if (x->shape[0] == 13) object->kind = RLX_OBJECT_OTHER;
  *result = object;
  return 0;
}

/// Another stack: what is in it, and x after it.
int32_t test_push(rlx_context* context, rlx_object* stack, const rlx_tensor* x, rlx_object** result) {
  int64_t below = stack->tensor.shape[0], all = below + x->shape[0];
  std::vector<float> both(static_cast<const float*>(stack->tensor.data),
                          static_cast<const float*>(stack->tensor.data) + below);
  both.insert(both.end(), static_cast<const float*>(x->data), static_cast<const float*>(x->data) + x->shape[0]);
  rlx_tensor made = *x;
  made.data = both.data(), made.shape = &all;
  return test_stack(context, &made, result);
}

int32_t test_top(rlx_context*, rlx_object* stack, const rlx_tensor* to) {
  int64_t count = stack->tensor.shape[0];
  if (count == 0) return 1;
  std::memcpy(to->data, static_cast<const float*>(stack->tensor.data) + count - 1, sizeof(float));
  return 0;
}

/// 20 and 24 ask for what cannot be.
int32_t myshape_func(rlx_context*, int64_t n, const rlx_tensor* shape) {
  *static_cast<int64_t*>(shape->data) = n == 20 ? -5 : n == 24 ? INT64_MAX / 2 : my_shape(n);
  return n == 28 ? 35 : 0;
}

int32_t custom_func(rlx_context*, const rlx_tensor* from, const rlx_tensor* to) {
  custom(static_cast<const float*>(from->data), from->shape[0], static_cast<float*>(to->data), to->shape[0]);
  return 0;
}

int32_t custom_inplace_update(rlx_context*, const rlx_tensor* x) {
  for (int64_t i = 0; i < x->shape[0]; ++i) static_cast<float*>(x->data)[i] += 1;
  return 0;
}
}

namespace relaxc::e2e {

namespace {

/// Handles of the interpreter are numbers of stacks.
std::vector<std::vector<float>>& stacks() {
  static std::vector<std::vector<float>> all;
  return all;
}

std::vector<float> elements(const tir::ExternalArg& tensor) {
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + tensor.shape[0]};
}

void give(tir::ExternalResult& result, const std::vector<float>& values) {
  result = {DType::f(32), {static_cast<int64_t>(values.size())}, std::vector<std::byte>(values.size() * sizeof(float))};
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
}

void give_stack(tir::ExternalResult& result, std::vector<float> values) {
  auto handle = static_cast<int64_t>(stacks().size());
  stacks().push_back(std::move(values));
  result = {DType::handle(), {}, std::vector<std::byte>(sizeof handle)};
  std::memcpy(result.bytes.data(), &handle, sizeof handle);
}

double real(const tir::ExternalArg& scalar) {
  return std::bit_cast<double>(scalar.scalar);  // which is its bits
}

float* floats_of(const tir::ExternalArg& tensor) {
  return static_cast<float*>(tensor.data);
}

using Args = std::span<const tir::ExternalArg>;

int32_t push(Args args) {
  std::vector<float> both = stacks().at(static_cast<size_t>(args[0].scalar)), more = elements(args[1]);
  both.insert(both.end(), more.begin(), more.end());
  give_stack(*args[2].result, std::move(both));
  return 0;
}

int32_t top(Args args) {
  const std::vector<float>& stack = stacks().at(static_cast<size_t>(args[0].scalar));
  if (stack.empty()) return 1;
  *floats_of(args[1]) = stack.back();
  return 0;
}

int32_t read_object(Args args) {
  if (args[2].scalar != RLX_OBJECT_TENSOR) return RLX_OBJECT_KIND;
  give(*args[1].result, stacks().at(static_cast<size_t>(args[0].scalar)));
  return 0;
}

/// A function as the interpreter calls it; its result follows its arguments. Returns a status.
struct Interpreted {
  std::string_view name;
  int32_t (*call)(Args args);
};

constexpr Interpreted kInterpreted[] = {
    {"test_positive",
     [](Args args) { return give(*args[1].result, positive(floats_of(args[0]), args[0].shape[0])), 0; }},
    {"test_stack", [](Args args) { return give_stack(*args[1].result, elements(args[0])), 0; }},
    {"test_push", push},
    {"test_top", top},
    {"rlx_object_read", read_object},
    {"myshape_func",
     [](Args args) {
       *static_cast<int64_t*>(args[1].data) = my_shape(args[0].scalar);
       return 0;
     }},
    {"test_extents",
     [](Args args) {
       extents(floats_of(args[0]), args[0].shape[0], args[1].scalar, static_cast<int64_t*>(args[2].data));
       return 0;
     }},
    {"custom_func",
     [](Args args) {
       custom(floats_of(args[0]), args[0].shape[0], floats_of(args[1]), args[1].shape[0]);
       return 0;
     }},
    {"custom_inplace_update",
     [](Args args) {
       for (int64_t i = 0; i < args[0].shape[0]; ++i) floats_of(args[0])[i] += 1;
       return 0;
     }},
    {"test_padded_shape",
     [](Args args) {
       padded_shape(static_cast<int64_t*>(args[2].data), args[0].scalar, args[1].scalar);
       return 0;
     }},
    {"test_scaled",
     [](Args args) {
       *floats_of(args[3]) =
           test_scaled(static_cast<float>(real(args[0])), static_cast<float>(real(args[1])), args[2].scalar);
       return 0;
     }},
    {"test_fill",
     [](Args args) {
       *static_cast<int32_t*>(args[3].data) =
           test_fill(floats_of(args[0]), static_cast<float>(real(args[1])), static_cast<int32_t>(args[2].scalar));
       return 0;
     }},
    {"test_spell",
     [](Args args) {
       *static_cast<int32_t*>(args[2].data) = test_spell(floats_of(args[0]), static_cast<const uint8_t*>(args[1].data));
       return 0;
     }},
    {"test_scale",
     [](Args args) {
       for (int64_t i = 0; i < args[0].shape[0]; ++i)
         floats_of(args[3])[i] = test_scaled(floats_of(args[0])[i], *floats_of(args[2]), args[1].scalar);
       return 0;
     }},
    {"test_pad",
     [](Args args) { return pad(floats_of(args[0]), args[0].shape.data(), floats_of(args[1]), args[1].shape.data()); }},
};

}  // namespace

int32_t call_external(const std::string& name, std::span<const tir::ExternalArg> args) {
  const auto* found = std::ranges::find(kInterpreted, name, &Interpreted::name);
  return found != std::end(kInterpreted) ? found->call(args) : -1;
}

}  // namespace relaxc::e2e
