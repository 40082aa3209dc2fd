/* double.c: a model written by hand, y[n, 3] = FACTOR * x[n, 3], with the records that relaxc emits, so that the loader
 * and the harness are tested apart from the compiler. Its library must be called double.so. It checks what a loader has
 * to get right: the shape query, an arena of the size and alignment that it asks for, and capacities of outputs. */
#include <relax_rt.h>

#ifndef FACTOR
#define FACTOR 2
#endif

static const int64_t dims[] = {RLX_DIM_SYMBOL(0), 3};
static const rlx_tensor_spec inputs[] = {{"x", RLX_KIND_TENSOR, RLX_DTYPE_FLOAT, 32, 0, 2, dims, NULL, -1, -1, NULL}};
static const rlx_tensor_spec outputs[] = {{"y", RLX_KIND_TENSOR, RLX_DTYPE_FLOAT, 32, 0, 2, dims, NULL, -1, -1, NULL}};
static const rlx_symbol symbols[] = {{"n", 1, 100, 1}};

static int32_t fail(rlx_error* error, int32_t code, int64_t expected, int64_t actual) {
  rlx_error found = {code, 0, -1, -1, -1, expected, actual};
  if (error) *error = found;
  return code;
}

static int32_t bind(rlx_context* context, const rlx_tensor* in, uint32_t num_in, int64_t* values, rlx_error* error) {
  (void)context;
  if (num_in != 1) return fail(error, RLX_TENSOR_COUNT, 1, num_in);
  if (in->dtype_code != RLX_DTYPE_FLOAT || in->dtype_bits != 32 || in->dtype_lanes != 1)
    return fail(error, RLX_DTYPE, 32, in->dtype_bits);
  if (in->device_type != RLX_DEVICE_CPU) return fail(error, RLX_DEVICE, RLX_DEVICE_CPU, in->device_type);
  if (in->ndim != 2) return fail(error, RLX_RANK, 2, in->ndim);
  if (in->shape[1] != 3) return fail(error, RLX_STATIC_DIM, 3, in->shape[1]);
  values[0] = in->shape[0];
  return values[0] > symbols[0].upper ? fail(error, RLX_DIM_BOUNDS, symbols[0].upper, values[0]) : RLX_OK;
}

static int32_t output_shape(const int64_t* values, uint32_t index, int64_t* shape) {
  if (index) return RLX_TENSOR_COUNT;
  shape[0] = values[0];
  shape[1] = 3;
  return RLX_OK;
}

static int32_t arena_bytes(const int64_t* values, uint64_t* bytes) {
  *bytes = (uint64_t)values[0] * 8;
  return RLX_OK;
}

static int32_t run(rlx_context* context, const rlx_tensor* in, uint32_t num_in, rlx_tensor* out, uint32_t num_out) {
  int64_t n;
  int32_t status = bind(context, in, num_in, &n, context->error);
  if (status) return status;
  if (num_out != 1) return fail(context->error, RLX_TENSOR_COUNT, 1, num_out);
  if (out->shape[0] * out->shape[1] < n * 3)
    return fail(context->error, RLX_CAPACITY, n * 3, out->shape[0] * out->shape[1]);
  if (context->arena_bytes < (uint64_t)n * 8)
    return fail(context->error, RLX_ARENA_SIZE, n * 8, (int64_t)context->arena_bytes);
  if ((uintptr_t)context->arena % 64) return fail(context->error, RLX_ARENA_ALIGNMENT, 64, 1);
  for (int64_t i = 0; i < n * 3; i++) ((float*)out->data)[i] = FACTOR * ((const float*)in->data)[i];
  out->shape[0] = n;
  out->shape[1] = 3;
  return RLX_OK;
}

static const rlx_function functions[] = {
    {"main", 1, 1, 1, 0, inputs, outputs, symbols, NULL, 800, 256, 64, bind, output_shape, arena_bytes, run}};
static const uint8_t hash[32];

#define MODEL_(name) name##_model
#define MODEL(name)  MODEL_(name)
#ifndef NAME
#define NAME double
#endif
extern const rlx_model MODEL(NAME);
const rlx_model MODEL(NAME) = {
    RLX_ABI_VERSION, sizeof(rlx_function), sizeof(rlx_tensor_spec), 1, functions, "double", "by hand", "any", hash, 0};
