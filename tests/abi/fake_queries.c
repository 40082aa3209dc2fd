/* fake_queries.c: the second model of fake_model.h. Its functions differ in what they can say before there is data. */
#include "fake_model.h"
#include "fake_tables.h"

static const rlx_function functions[FAKE_NUM_QUERIES];

/* ---- external ---- */

static const rlx_symbol external_symbols[] = {{"n", 0, 100, 1}, {"m", 0, 100, 1}};
static const rlx_symbol_source external_sources[] = {{RLX_SOURCE_DIM, 0, 0}, {RLX_SOURCE_VALUE, -1, -1}};
static const int64_t dims_n[] = {RLX_DIM_SYMBOL(0)}, dims_m[] = {RLX_DIM_SYMBOL(1)};
static const rlx_tensor_spec external_inputs[] = {SPEC("x", RLX_DTYPE_FLOAT, 32, 0, 1, dims_n)};
static const rlx_tensor_spec external_outputs[] = {SPEC("y", RLX_DTYPE_FLOAT, 32, 0, 1, dims_m)};

static int32_t external_values(rlx_context* context, const void* const* inputs, const int64_t* dims, int64_t* symbols,
                               rlx_error* error) {
  const fake_shape_function* function = (const fake_shape_function*)context->poll_user;
  (void)inputs;
  symbols[1] = (*function)(dims[0]);
  if (symbols[1] >= 0) return RLX_OK;
  error->symbol = 1;
  error->actual = symbols[1];
  return RLX_EXTERNAL_FAILED;
}
static int32_t external_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                             int64_t* out_dims) {
  float* y = (float*)outputs[0];
  (void)context;
  (void)inputs;
  (void)out_dims;
  for (int64_t i = 0; i < symbols[1]; ++i) y[i] = (float)i;
  return RLX_OK;
}

static const rlx_function_private external_private = {RLX_PRIVATE_VERSION,
                                                      RLX_PRIVATE_CONTEXT,
                                                      2,
                                                      0,
                                                      &functions[FAKE_EXTERNAL],
                                                      external_sources,
                                                      NULL,
                                                      external_values,
                                                      NULL,
                                                      external_call,
                                                      NULL,
                                                      0};
ENTRY(external, 2, 2)

/* ---- bounded ---- */

static const rlx_symbol bounded_symbols[] = {{"t", 0, 100, 1}};
static const rlx_symbol_source bounded_sources[] = {{RLX_SOURCE_VALUE, -1, -1}};
static const int64_t dims_1[] = {1}, dims_derived[] = {RLX_DIM_DERIVED};
static const rlx_tensor_spec bounded_inputs[] = {SPEC("limit", RLX_DTYPE_INT, 64, RLX_FLAG_VALUES, 1, dims_1)};
static const rlx_tensor_spec bounded_outputs[] = {SPEC("y", RLX_DTYPE_INT, 64, 0, 1, dims_n),
                                                  SPEC("z", RLX_DTYPE_INT, 64, 0, 1, dims_derived)};

static int32_t bounded_values(rlx_context* context, const void* const* inputs, const int64_t* dims, int64_t* symbols,
                              rlx_error* error) {
  (void)context;
  (void)dims;
  (void)error;
  symbols[0] = *(const int64_t*)inputs[0];
  return RLX_OK;
}
static int32_t bounded_shapes(const int64_t* symbols, int64_t* dims, rlx_error* error) {
  (void)error;
  dims[2] = symbols[0] == INT64_MIN ? 200 : symbols[0] * 2;
  return RLX_OK;
}
static int32_t bounded_arena(const int64_t* symbols, uint64_t* bytes) {
  *bytes = symbols[0] == INT64_MIN ? 800 : (uint64_t)symbols[0] * 8;
  return RLX_OK;
}
static int32_t bounded_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                            int64_t* out_dims) {
  int64_t *y = (int64_t*)outputs[0], *z = (int64_t*)outputs[1], *scratch = (int64_t*)context->arena;
  (void)inputs;
  (void)out_dims;
  for (int64_t i = 0; i < symbols[0]; ++i) scratch[i] = y[i] = i;
  for (int64_t i = 0; i < symbols[0]; ++i) z[2 * i] = z[2 * i + 1] = scratch[i];
  return RLX_OK;
}

static const rlx_function_private bounded_private = {RLX_PRIVATE_VERSION,
                                                     RLX_PRIVATE_PARTIAL,
                                                     3,
                                                     0,
                                                     &functions[FAKE_BOUNDED],
                                                     bounded_sources,
                                                     bounded_shapes,
                                                     bounded_values,
                                                     bounded_arena,
                                                     bounded_call,
                                                     NULL,
                                                     0};
ENTRY(bounded, 1, 3)

/* ---- another version ---- */

static const rlx_tensor_spec other_inputs[] = {SPEC("x", RLX_DTYPE_INT, 64, 0, 1, dims_1)};
static const rlx_tensor_spec other_outputs[] = {SPEC("y", RLX_DTYPE_INT, 64, 0, 1, dims_1)};
static const rlx_function_private other_private = {
    RLX_PRIVATE_VERSION + 1, 0, 2, 0, &functions[FAKE_OTHER_VERSION], NULL, NULL, NULL, NULL, bounded_call, NULL, 0};
ENTRY(other, 0, 2)

/* ---- complex ---- */

static const int64_t dims_2[] = {2};
static const rlx_tensor_spec complex_inputs[] = {SPEC("x", RLX_DTYPE_COMPLEX, 64, 0, 1, dims_2)};
static const rlx_tensor_spec complex_outputs[] = {SPEC("y", RLX_DTYPE_COMPLEX, 64, 0, 1, dims_2)};

static int32_t complex_call(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                            int64_t* out_dims) {
  const float* x = (const float*)inputs[0];
  float* y = (float*)outputs[0];
  (void)context;
  (void)symbols;
  (void)out_dims;
  for (int i = 0; i < 4; ++i) y[i] = 2.0f * x[i];
  return RLX_OK;
}

static const rlx_function_private complex_private = {
    RLX_PRIVATE_VERSION, 0, 2, 0, &functions[FAKE_COMPLEX], NULL, NULL, NULL, NULL, complex_call, NULL, 0};
ENTRY(complex, 0, 2)

static const rlx_function functions[FAKE_NUM_QUERIES] = {
    RECORD(external, external_symbols, 2, 0, 1),
    RECORD(bounded, bounded_symbols, 1, 800, 8),
    RECORD(other, NULL, 0, 0, 1),
    RECORD(complex, NULL, 0, 0, 1),
};

static const uint8_t hash[32] = {9};

const rlx_model fake_queries_model = {RLX_ABI_VERSION,
                                      sizeof(rlx_function),
                                      sizeof(rlx_tensor_spec),
                                      FAKE_NUM_QUERIES,
                                      functions,
                                      "fake_queries",
                                      "hand",
                                      "any",
                                      hash,
                                      0};
