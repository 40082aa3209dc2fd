/* arm_nnfunctions.c: convolutions and dense layers of int8 by their definition: sums of products of (x + offset) and w,
 * scaled by multiplier * 2^(shift - 31), rounded, moved and clamped. Channels are last, filters are [out, y, x, in]. */
#include "arm_nnfunctions.h"

#include <math.h>
#include <string.h>

static int8_t stored(int64_t sum, int32_t multiplier, int32_t shift, int32_t offset, cmsis_nn_activation limits) {
  double value = floor(ldexp((double)sum * multiplier, shift - 31) + 0.5) + offset;
  return (int8_t)fmax(limits.min, fmin(limits.max, value));
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params* params, const cmsis_nn_dims* input,
                                                const cmsis_nn_dims* filter, const cmsis_nn_dims* output) {
  (void)params, (void)output;
  return 4 * filter->h * filter->w * input->c;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* room, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant, const cmsis_nn_dims* input,
                                            const int8_t* x, const cmsis_nn_dims* filter, const int8_t* w,
                                            const cmsis_nn_dims* biases, const int32_t* bias,
                                            const cmsis_nn_dims* output, int8_t* y) {
  if (filter->c != input->c || biases->c != output->c) return ARM_CMSIS_NN_ARG_ERROR;
  memset(room->buf, 0x5a, (size_t)arm_convolve_wrapper_s8_get_buffer_size(params, input, filter, output));
  for (int32_t oy = 0; oy < output->h; oy++)
    for (int32_t ox = 0; ox < output->w; ox++)
      for (int32_t o = 0; o < output->c; o++) {
        int64_t sum = bias[o];
        for (int32_t ky = 0; ky < filter->h; ky++)
          for (int32_t kx = 0; kx < filter->w; kx++) {
            int32_t iy = oy * params->stride.h - params->padding.h + ky,
                    ix = ox * params->stride.w - params->padding.w + kx;
            if (iy < 0 || iy >= input->h || ix < 0 || ix >= input->w) continue;
            for (int32_t c = 0; c < input->c; c++)
              sum += (x[(iy * input->w + ix) * input->c + c] + params->input_offset) *
                     w[((o * filter->h + ky) * filter->w + kx) * filter->c + c];
          }
        y[(oy * output->w + ox) * output->c + o] =
            stored(sum, quant->multiplier[o], quant->shift[o], params->output_offset, params->activation);
      }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims* filter) {
  (void)filter;
  return 0;
}

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* room, const cmsis_nn_fc_params* params,
                                           const cmsis_nn_per_tensor_quant_params* quant, const cmsis_nn_dims* input,
                                           const int8_t* x, const cmsis_nn_dims* filter, const int8_t* w,
                                           const cmsis_nn_dims* biases, const int32_t* bias,
                                           const cmsis_nn_dims* output, int8_t* y) {
  const int32_t depth = filter->n;
  (void)room;
  if (depth != input->h * input->w * input->c || biases->c != output->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int32_t n = 0; n < output->n; n++)
    for (int32_t o = 0; o < output->c; o++) {
      int64_t sum = bias[o];
      for (int32_t i = 0; i < depth; i++) sum += (x[n * depth + i] + params->input_offset) * w[o * depth + i];
      y[n * output->c + o] = stored(sum, quant->multiplier, quant->shift, params->output_offset, params->activation);
    }
  return ARM_CMSIS_NN_SUCCESS;
}
