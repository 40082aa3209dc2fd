// externals.cpp: a shape function and a function that fills a tensor, once as a user of an object writes them in C, and
// once as the interpreter calls them.
#include "tests/e2e/externals.h"

#include <bit>

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

int32_t test_padded_shape(rlx_context* context, int64_t n, int64_t m, const rlx_tensor* shape);
int32_t test_pad(rlx_context* context, const rlx_tensor* from, const rlx_tensor* to);

int32_t test_padded_shape(rlx_context*, int64_t n, int64_t m, const rlx_tensor* shape) {
  padded_shape(static_cast<int64_t*>(shape->data), n, m);
  return n == 13 ? 77 : 0;
}

int32_t test_pad(rlx_context*, const rlx_tensor* from, const rlx_tensor* to) {
  return pad(static_cast<const float*>(from->data), from->shape, static_cast<float*>(to->data), to->shape);
}
}

namespace relaxc::e2e {

int32_t call_external(const std::string& name, std::span<const tir::ExternalArg> args) {
  if (name == "test_padded_shape") {
    padded_shape(static_cast<int64_t*>(args[2].data), args[0].scalar, args[1].scalar);
    return 0;
  }
  if (name == "test_scaled") {  // scalars are the bits of doubles; the result follows the arguments
    auto real = [&](size_t i) { return static_cast<float>(std::bit_cast<double>(args[i].scalar)); };
    *static_cast<float*>(args[3].data) = test_scaled(real(0), real(1), args[2].scalar);
    return 0;
  }
  if (name == "test_fill") {
    auto value = static_cast<float>(std::bit_cast<double>(args[1].scalar));
    *static_cast<int32_t*>(args[3].data) =
        test_fill(static_cast<float*>(args[0].data), value, static_cast<int32_t>(args[2].scalar));
    return 0;
  }
  if (name == "test_pad")
    return pad(static_cast<const float*>(args[0].data), args[0].shape.data(), static_cast<float*>(args[1].data),
               args[1].shape.data());
  return -1;
}

}  // namespace relaxc::e2e
