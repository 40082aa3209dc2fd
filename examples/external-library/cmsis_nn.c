/* cmsis_nn.c: the functions that cmsis-nn.txt names, as calls of CMSIS-NN.
 *
 * It is compiled with the headers of CMSIS-NN (5 or later) and linked with its library, for cores without Helium: with
 * it, a dense layer needs sums of its weights in a buffer. The prototypes are those of the header that relaxc writes.
 */
#include <math.h>
#include <stddef.h>

#include "arm_nnfunctions.h"
#include "relax_rt.h"

enum { FAILED = 1, NO_ROOM = 2 };

int32_t cmsis_nn_conv(rlx_context* context, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* w_scale,
                      const rlx_tensor* bias, const rlx_tensor* x_scale, int64_t x_zero, const rlx_tensor* y_scale,
                      int64_t y_zero, int64_t stride_y, int64_t stride_x, int64_t pad_y, int64_t pad_x, int64_t relu,
                      const rlx_tensor* scratch, const rlx_tensor* y);
int32_t cmsis_nn_dense(rlx_context* context, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* w_scale,
                       const rlx_tensor* bias, const rlx_tensor* x_scale, int64_t x_zero, const rlx_tensor* y_scale,
                       int64_t y_zero, const rlx_tensor* y);

static void* first_of(const rlx_tensor* tensor) {
  return (char*)tensor->data + tensor->byte_offset;
}

static int32_t dim(const rlx_tensor* tensor, int axis) {
  return (int32_t)tensor->shape[axis];
}

static cmsis_nn_dims dims_of(const rlx_tensor* tensor) {
  cmsis_nn_dims dims = {dim(tensor, 0), dim(tensor, 1), dim(tensor, 2), dim(tensor, 3)};
  return dims;
}

/* scale = multiplier * 2^(shift - 31), with a multiplier of 31 bits. */
static void split_scale(double scale, int32_t* multiplier, int32_t* shift) {
  int exponent = 0;
  int64_t bits = (int64_t)(frexp(scale, &exponent) * 2147483648.0 + 0.5);
  if (bits == INT64_C(2147483648)) bits /= 2, exponent++;
  *multiplier = (int32_t)bits;
  *shift = exponent;
}

/* The scratch has the multipliers, the shifts, and what CMSIS-NN asks for. */
int32_t cmsis_nn_conv(rlx_context* context, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* w_scale,
                      const rlx_tensor* bias, const rlx_tensor* x_scale, int64_t x_zero, const rlx_tensor* y_scale,
                      int64_t y_zero, int64_t stride_y, int64_t stride_x, int64_t pad_y, int64_t pad_x, int64_t relu,
                      const rlx_tensor* scratch, const rlx_tensor* y) {
  const cmsis_nn_dims input = dims_of(x), filter = dims_of(w), output = dims_of(y), biases = {1, 1, 1, output.c};
  int32_t *multipliers = first_of(scratch), *shifts = multipliers + output.c;
  const float* scales = first_of(w_scale);
  const double by = (double)*(float*)first_of(x_scale) / (double)*(float*)first_of(y_scale);
  for (int32_t i = 0; i < output.c; i++) split_scale(by * (double)scales[i], &multipliers[i], &shifts[i]);
  const cmsis_nn_per_channel_quant_params quant = {multipliers, shifts};
  const cmsis_nn_conv_params params = {.input_offset = (int32_t)-x_zero,
                                       .output_offset = (int32_t)y_zero,
                                       .stride = {.w = (int32_t)stride_x, .h = (int32_t)stride_y},
                                       .padding = {.w = (int32_t)pad_x, .h = (int32_t)pad_y},
                                       .dilation = {.w = 1, .h = 1},
                                       .activation = {.min = relu ? (int32_t)y_zero : -128, .max = 127}};
  cmsis_nn_context room = {shifts + output.c, dim(scratch, 0) - 8 * output.c};
  (void)context;
  if (arm_convolve_wrapper_s8_get_buffer_size(&params, &input, &filter, &output) > room.size) return NO_ROOM;
  return arm_convolve_wrapper_s8(&room, &params, &quant, &input, first_of(x), &filter, first_of(w), &biases,
                                 first_of(bias), &output, first_of(y)) == ARM_CMSIS_NN_SUCCESS
             ? 0
             : FAILED;
}

int32_t cmsis_nn_dense(rlx_context* context, const rlx_tensor* x, const rlx_tensor* w, const rlx_tensor* w_scale,
                       const rlx_tensor* bias, const rlx_tensor* x_scale, int64_t x_zero, const rlx_tensor* y_scale,
                       int64_t y_zero, const rlx_tensor* y) {
  const cmsis_nn_dims input = {dim(x, 0), 1, 1, dim(x, 1)}, filter = {dim(w, 1), 1, 1, dim(w, 0)},
                      output = {dim(y, 0), 1, 1, dim(y, 1)}, biases = {1, 1, 1, dim(y, 1)};
  cmsis_nn_per_tensor_quant_params quant;
  split_scale(
      (double)*(float*)first_of(x_scale) * (double)*(float*)first_of(w_scale) / (double)*(float*)first_of(y_scale),
      &quant.multiplier, &quant.shift);
  const cmsis_nn_fc_params params = {.input_offset = (int32_t)-x_zero,
                                     .filter_offset = 0,
                                     .output_offset = (int32_t)y_zero,
                                     .activation = {.min = -128, .max = 127}};
  cmsis_nn_context room = {NULL, 0};
  (void)context;
  if (arm_fully_connected_s8_get_buffer_size(&filter) > room.size) return NO_ROOM;
  return arm_fully_connected_s8(&room, &params, &quant, &input, first_of(x), &filter, first_of(w), &biases,
                                first_of(bias), &output, first_of(y)) == ARM_CMSIS_NN_SUCCESS
             ? 0
             : FAILED;
}
