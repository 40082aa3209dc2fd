/* arm_nnfunctions.h: the part of CMSIS-NN's interface that examples/external-library/cmsis_nn.c uses, for a test on
 * machines that do not have the library. arm_nnfunctions.c computes what these functions do. */
#pragma once

#include <stdint.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct {
  void* buf;
  int32_t size;
} cmsis_nn_context;

typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;

typedef struct {
  int32_t min, max;
} cmsis_nn_activation;

typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;

typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;

typedef struct {
  int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params* params, const cmsis_nn_dims* input,
                                                const cmsis_nn_dims* filter, const cmsis_nn_dims* output);
arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context* room, const cmsis_nn_conv_params* params,
                                            const cmsis_nn_per_channel_quant_params* quant, const cmsis_nn_dims* input,
                                            const int8_t* x, const cmsis_nn_dims* filter, const int8_t* w,
                                            const cmsis_nn_dims* biases, const int32_t* bias,
                                            const cmsis_nn_dims* output, int8_t* y);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims* filter);
arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context* room, const cmsis_nn_fc_params* params,
                                           const cmsis_nn_per_tensor_quant_params* quant, const cmsis_nn_dims* input,
                                           const int8_t* x, const cmsis_nn_dims* filter, const int8_t* w,
                                           const cmsis_nn_dims* biases, const int32_t* bias,
                                           const cmsis_nn_dims* output, int8_t* y);
