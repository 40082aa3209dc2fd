/* fake_model.c: see fake_model.h. What a backend would emit: constant tables, raw functions, wrappers of one line each;
 * no writable data. */
#include "fake_model.h"

#include "fake_tables.h"

static const rlx_function functions[FAKE_NUM_FUNCTIONS];

/* ---- affine ---- */

static const int64_t dims_2_3[] = {2, 3};
static const rlx_tensor_spec affine_inputs[] = {SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 2, dims_2_3)};
static const rlx_tensor_spec affine_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 2, dims_2_3)};

static int32_t affine_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                           int64_t* out_dims) {
  const float* x = (const float*)inputs[0];
  float* y = (float*)outputs[0];
  float* scratch = (float*)context->arena;
  const fake_fault* fault = (const fake_fault*)context->trace_user;
  (void)symbols;
  (void)out_dims;
  if (fault != NULL && fault->status != RLX_OK) {
    if (context->error != NULL) {
      const rlx_error found = {fault->status, 1, 0, -1, 7, 5, 9};
      *context->error = found;
    }
    return fault->status;
  }
  for (int i = 0; i < 16; ++i) scratch[i] = i < 6 ? 2.0f * x[i] : 0.0f;
  for (int i = 0; i < 6; ++i) y[i] = scratch[i] + 1.0f;
  return RLX_OK;
}

static const rlx_function_private affine_private = {
    RLX_PRIVATE_VERSION, 0, 4, 0, &functions[FAKE_AFFINE], NULL, NULL, NULL, NULL, affine_call, NULL, 0};
ENTRY(affine, 0, 4)

/* ---- grow ---- */

static const rlx_symbol grow_symbols[] = {{"n", 2, 1000, 2}};
static const rlx_symbol_source grow_sources[] = {{RLX_SOURCE_DIM, 0, 0}};
static const int64_t dims_n_4[] = {RLX_DIM_SYMBOL(0), 4}, dims_n[] = {RLX_DIM_SYMBOL(0)};
static const int64_t dims_derived[] = {RLX_DIM_DERIVED, RLX_DIM_DERIVED};
static const rlx_tensor_spec grow_inputs[] = {SPEC("a", RLX_DTYPE_FLOAT, 32, 0, 2, dims_n_4),
                                              SPEC("b", RLX_DTYPE_FLOAT, 32, 0, 1, dims_n),
                                              SPEC("c", RLX_DTYPE_FLOAT, 32, 0, 1, dims_derived)};
static const rlx_tensor_spec grow_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 2, dims_n_4),
                                               SPEC("z", RLX_DTYPE_FLOAT, 32, 0, 1, dims_derived)};

static int32_t grow_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)error;
  dims[3] = symbols[0] * 4;
  dims[6] = symbols[0] * 2;
  return RLX_OK;
}
static int32_t grow_arena(const int64_t* symbols, uint64_t* bytes) {
  *bytes = (uint64_t)symbols[0] * 16;
  return RLX_OK;
}
static int32_t grow_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                         int64_t* out_dims) {
  const float *a = (const float*)inputs[0], *b = (const float*)inputs[1], *c = (const float*)inputs[2];
  float *y = (float*)outputs[0], *z = (float*)outputs[1], *scratch = (float*)context->arena;
  (void)out_dims;
  for (int64_t i = 0; i < symbols[0] * 4; ++i) scratch[i] = a[i] + b[i / 4];
  for (int64_t i = 0; i < symbols[0] * 4; ++i) y[i] = scratch[i];
  for (int64_t i = 0; i < symbols[0] * 2; ++i) z[i] = c[2 * i];
  return RLX_OK;
}

static const rlx_function_private grow_private = {
    RLX_PRIVATE_VERSION, 0,         7,    0, &functions[FAKE_GROW], grow_sources, grow_shapes, NULL,
    grow_arena,          grow_call, NULL, 0};
ENTRY(grow, 1, 7)

/* ---- state ---- */

static const int64_t dims_2[] = {2};
static const rlx_tensor_spec state_inputs[] = {SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 1, dims_2),
                                               STATE("h", 1, dims_2, 0, 1, -1)};
static const rlx_tensor_spec state_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 1, dims_2),
                                                STATE("hn", 1, dims_2, 0, 1, -1)};

static int32_t state_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                          int64_t* out_dims) {
  const float *x = (const float*)inputs[0], *h = (const float*)inputs[1];
  float *y = (float*)outputs[0], *hn = (float*)outputs[1];
  (void)context;
  (void)symbols;
  (void)out_dims;
  for (int i = 0; i < 2; ++i) {
    y[i] = x[i] + h[i];
    hn[i] = h[i] + 1.0f;
  }
  return RLX_OK;
}

static const rlx_function_private state_private = {
    RLX_PRIVATE_VERSION, 0, 4, 0, &functions[FAKE_STATE], NULL, NULL, NULL, NULL, state_call, NULL, 0};
ENTRY(state, 0, 4)

/* ---- append ---- */

static const rlx_symbol append_symbols[] = {{"n", 0, 64, 1}, {"k", 0, 64, 1}, {"cache.stride0", 0, INT64_MAX, 1}};
static const rlx_symbol_source append_sources[] = {
    {RLX_SOURCE_DIM, 0, 1}, {RLX_SOURCE_DIM, 1, 1}, {RLX_SOURCE_STRIDE, 0, 0}};
static const int64_t dims_2_n_4[] = {2, RLX_DIM_SYMBOL(0), 4}, dims_2_k_4[] = {2, RLX_DIM_SYMBOL(1), 4};
static const int64_t dims_2_derived_4[] = {2, RLX_DIM_DERIVED, 4};
static const rlx_tensor_spec append_inputs[] = {STATE("cache", 3, dims_2_n_4, RLX_FLAG_STRIDED, 0, 1),
                                                SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 3, dims_2_k_4)};
static const rlx_tensor_spec append_outputs[] = {STATE("cache_out", 3, dims_2_derived_4, 0, 0, 1)};

static int32_t append_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)error;
  dims[7] = symbols[0] + symbols[1];
  return RLX_OK;
}
static int32_t append_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                           int64_t* out_dims) {
  const float *cache = (const float*)inputs[0], *x = (const float*)inputs[1];
  float* out = (float*)outputs[0];
  const int64_t n = symbols[0], k = symbols[1], from = symbols[2];
  const int64_t to = cache == out ? from : (n + k) * 4;
  (void)context;
  (void)out_dims;
  for (int64_t head = 0; head < 2; ++head) {
    if (cache != out)
      for (int64_t i = 0; i < n * 4; ++i) out[head * to + i] = cache[head * from + i];
    for (int64_t i = 0; i < k * 4; ++i) out[head * to + n * 4 + i] = x[head * k * 4 + i];
  }
  return RLX_OK;
}

static const rlx_function_private append_private = {
    RLX_PRIVATE_VERSION, 0,    9, 0, &functions[FAKE_APPEND], append_sources, append_shapes, NULL, NULL,
    append_call,         NULL, 0};
ENTRY(append, 3, 9)

/* ---- reshape ---- */

static const rlx_symbol reshape_symbols[] = {{"n", 0, 1000, 1}, {"t0", 0, 6000, 1}, {"t1", 0, 6000, 1}};
static const rlx_symbol_source reshape_sources[] = {
    {RLX_SOURCE_DIM, 0, 0}, {RLX_SOURCE_VALUE, -1, -1}, {RLX_SOURCE_VALUE, -1, -1}};
static const int64_t dims_n_6[] = {RLX_DIM_SYMBOL(0), 6};
static const int64_t dims_t0_t1[] = {RLX_DIM_SYMBOL(1), RLX_DIM_SYMBOL(2)};
static const rlx_tensor_spec reshape_inputs[] = {SPEC("x", RLX_DTYPE_INT, 32, 0, 2, dims_n_6),
                                                 SPEC("target", RLX_DTYPE_INT, 64, RLX_FLAG_VALUES, 1, dims_2)};
static const rlx_tensor_spec reshape_outputs[] = {SPEC("y", RLX_DTYPE_INT, 32, 0, 2, dims_t0_t1)};

static int32_t reshape_values(rlx_context* context, const void* const* inputs, const int64_t* dims, int64_t* symbols,
                              rlx_error* error) {
  const int64_t* target = (const int64_t*)inputs[1];
  (void)context;
  (void)error;
  for (int i = 0; i < 2; ++i) {
    const int64_t other = target[1 - i];
    symbols[1 + i] = target[i] == -1 && other > 0 ? dims[0] * dims[1] / other : target[i];
  }
  return RLX_OK;
}
static int32_t reshape_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)dims;
  if (symbols[1] * symbols[2] == symbols[0] * 6) return RLX_OK;
  error->symbol = 1;
  error->expected = symbols[0] * 6;
  error->actual = symbols[1] * symbols[2];
  return RLX_DERIVED_DIM;
}
static int32_t reshape_arena(const int64_t* symbols, uint64_t* bytes) {
  *bytes = (uint64_t)symbols[1] * 8;
  return RLX_OK;
}
static int32_t reshape_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                            int64_t* out_dims) {
  const int32_t* x = (const int32_t*)inputs[0];
  int32_t* y = (int32_t*)outputs[0];
  (void)context;
  (void)out_dims;
  for (int64_t i = 0; i < symbols[0] * 6; ++i) y[i] = x[i];
  return RLX_OK;
}

static const rlx_function_private reshape_private = {RLX_PRIVATE_VERSION,
                                                     0,
                                                     5,
                                                     0,
                                                     &functions[FAKE_RESHAPE],
                                                     reshape_sources,
                                                     reshape_shapes,
                                                     reshape_values,
                                                     reshape_arena,
                                                     reshape_call,
                                                     NULL,
                                                     0};
ENTRY(reshape, 3, 5)

/* ---- nonzero ---- */

static const rlx_symbol nonzero_symbols[] = {{"n", 0, INT64_MAX, 1}};
static const rlx_symbol_source nonzero_sources[] = {{RLX_SOURCE_DIM, 0, 0}};
static const rlx_tensor_spec nonzero_inputs[] = {SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 1, dims_n)};
static const rlx_tensor_spec nonzero_outputs[] = {
    SPEC("index", RLX_DTYPE_INT, 64, RLX_FLAG_DATA_DEPENDENT, 1, dims_derived)};

static int32_t nonzero_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)error;
  dims[1] = symbols[0];
  return RLX_OK;
}
static int32_t nonzero_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                            int64_t* out_dims) {
  const float* x = (const float*)inputs[0];
  int64_t* index = (int64_t*)outputs[0];
  const int64_t capacity = out_dims[0];
  int64_t found = 0;
  for (int64_t i = 0; i < symbols[0]; ++i) {
    if (x[i] == 0.0f) continue;
    if (found < capacity) index[found] = i;
    ++found;
  }
  out_dims[0] = found;
  if (found <= capacity) return RLX_OK;
  if (context->error != NULL) {
    const rlx_error record = {RLX_DATA_CAPACITY, 1, -1, -1, -1, found, capacity};
    *context->error = record;
  }
  return RLX_DATA_CAPACITY;
}

static const rlx_function_private nonzero_private = {
    RLX_PRIVATE_VERSION, 0,    2, 0, &functions[FAKE_NONZERO], nonzero_sources, nonzero_shapes, NULL, NULL,
    nonzero_call,        NULL, 0};
ENTRY(nonzero, 1, 2)

/* ---- broadcast ---- */

static const rlx_symbol broadcast_symbols[] = {
    {"n", 0, 100, 1}, {"m", 0, 100, 1}, {"b.stride0", INT64_MIN, INT64_MAX, 1}};
static const rlx_symbol_source broadcast_sources[] = {
    {RLX_SOURCE_DIM, 0, 0}, {RLX_SOURCE_DIM, 1, 0}, {RLX_SOURCE_STRIDE, 1, 0}};
static const int64_t dims_m[] = {RLX_DIM_SYMBOL(1)};
static const rlx_tensor_spec broadcast_inputs[] = {SPEC("a", RLX_DTYPE_FLOAT, 32, 0, 1, dims_n),
                                                   SPEC("b", RLX_DTYPE_FLOAT, 32, RLX_FLAG_STRIDED, 1, dims_m)};
static const rlx_tensor_spec broadcast_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 1, dims_derived)};

static int32_t broadcast_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  const int64_t n = symbols[0], m = symbols[1];
  dims[2] = n == 1 ? m : n;
  if (n == m || n == 1 || m == 1) return RLX_OK;
  error->tensor = 1;
  error->axis = 0;
  error->symbol = 1;
  error->expected = n;
  error->actual = m;
  return RLX_BROADCAST;
}
static int32_t broadcast_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                              int64_t* out_dims) {
  const float *a = (const float*)inputs[0], *b = (const float*)inputs[1];
  float* y = (float*)outputs[0];
  (void)context;
  for (int64_t i = 0; i < out_dims[0]; ++i) y[i] = a[symbols[0] == 1 ? 0 : i] + b[symbols[1] == 1 ? 0 : i * symbols[2]];
  return RLX_OK;
}

static const rlx_function_private broadcast_private = {
    RLX_PRIVATE_VERSION, 0,    3, 0, &functions[FAKE_BROADCAST], broadcast_sources, broadcast_shapes, NULL, NULL,
    broadcast_call,      NULL, 0};
ENTRY(broadcast, 3, 3)

/* ---- weights ---- */

static const int64_t dims_4[] = {4};
static const uint8_t hash[32] = {1, 2, 3, 4, 5, 6, 7, 8};
static const rlx_tensor_spec weights_inputs[] = {SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 1, dims_4)};
static const rlx_tensor_spec weights_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 1, dims_4)};

static int32_t weights_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                            int64_t* out_dims) {
  const float *x = (const float*)inputs[0], *w = (const float*)context->weights + 16;
  float* y = (float*)outputs[0];
  (void)symbols;
  (void)out_dims;
  for (int i = 0; i < 4; ++i) y[i] = x[i] + w[i];
  return RLX_OK;
}

static const rlx_function_private weights_private = {
    RLX_PRIVATE_VERSION, 0, 2, 64, &functions[FAKE_WEIGHTS], NULL, NULL, NULL, NULL, weights_call, hash,
    FAKE_WEIGHTS_BYTES};
ENTRY(weights, 0, 2)

/* ---- huge ---- */

static const rlx_symbol huge_symbols[] = {{"n", 0, INT64_MAX, 1}};
static const rlx_symbol_source huge_sources[] = {{RLX_SOURCE_DIM, 0, 0}};
static const rlx_tensor_spec huge_inputs[] = {SPEC("x", RLX_DTYPE_UINT, 8, 0, 1, dims_n)};
static const rlx_tensor_spec huge_outputs[] = {SPEC("y", RLX_DTYPE_INT, 64, 0, 2, dims_derived),
                                               SPEC("w", RLX_DTYPE_UINT, 8, 0, 1, dims_n)};

static int32_t huge_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)error;
  dims[1] = dims[2] = symbols[0];
  return RLX_OK;
}
static int32_t huge_arena(const int64_t* symbols, uint64_t* bytes) {
  if (symbols[0] > INT64_MAX / 8) return RLX_SIZE_OVERFLOW;
  *bytes = (uint64_t)symbols[0] * 8;
  return RLX_OK;
}
static int32_t huge_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                         int64_t* out_dims) {
  (void)context;
  (void)inputs;
  (void)outputs;
  (void)symbols;
  (void)out_dims;
  return RLX_OK;
}

static const rlx_function_private huge_private = {
    RLX_PRIVATE_VERSION, 0,         4,    0, &functions[FAKE_HUGE], huge_sources, huge_shapes, NULL,
    huge_arena,          huge_call, NULL, 0};
ENTRY(huge, 1, 4)

static const rlx_function functions[FAKE_NUM_FUNCTIONS] = {
    RECORD(affine, NULL, 0, 64, 64),
    RECORD(grow, grow_symbols, 1, 16000, 32),
    RECORD(state, NULL, 0, 0, 1),
    RECORD(append, append_symbols, 3, 0, 1),
    RECORD(reshape, reshape_symbols, 3, 48000, 8),
    RECORD(nonzero, nonzero_symbols, 1, 0, 1),
    RECORD(broadcast, broadcast_symbols, 3, 0, 1),
    RECORD(weights, NULL, 0, 0, 1),
    RECORD(huge, huge_symbols, 1, UINT64_MAX, 8),
};

const rlx_model fake_model = {RLX_ABI_VERSION,
                              sizeof(rlx_function),
                              sizeof(rlx_tensor_spec),
                              FAKE_NUM_FUNCTIONS,
                              functions,
                              "fake",
                              "hand",
                              "any",
                              hash,
                              FAKE_WEIGHTS_BYTES};
