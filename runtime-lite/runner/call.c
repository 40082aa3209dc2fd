/* call.c: binds inputs, prepares memory and runs.
 *
 * An output whose size only the run knows gets its upper bound as capacity. If there is none, or none that fits memory,
 * it gets a guess, and the run is repeated with the capacity that it then asks for. */
#define _POSIX_C_SOURCE 200809L

#include "call.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_GUESS (INT64_C(1) << 16)

const rlx_tensor_spec* rlx_spec_at(const rlx_model* model, const rlx_tensor_spec* specs, uint32_t index) {
  return (const rlx_tensor_spec*)(const void*)((const char*)specs + (size_t)index * model->spec_size);
}

const rlx_function* rlx_function_at(const rlx_model* model, uint32_t index) {
  return (const rlx_function*)(const void*)((const char*)model->functions + (size_t)index * model->function_size);
}

void* rlx_allocate(void* user, uint64_t bytes, uint64_t align) {
  (void)user;
  void* memory = NULL;
  if (align < sizeof(void*)) align = sizeof(void*);
  if (bytes > SIZE_MAX || posix_memalign(&memory, (size_t)align, bytes == 0 ? 1 : (size_t)bytes) != 0) return NULL;
  return memory;
}

static rlx_tensor record_of(rlx_array* array) {
  const rlx_tensor tensor = {array->data, RLX_DEVICE_CPU, 0, array->ndim, array->code, array->bits, 1,
                             array->dims, NULL,           0};
  return tensor;
}

/* Fills the error record for a status that was returned without one. */
static int32_t noted(rlx_context* context, int32_t status, int32_t tensor, uint64_t expected) {
  const rlx_error found = {status, tensor, -1, -1, -1, (int64_t)expected, 0};
  *context->error = found;
  return status;
}

static int32_t out_of_memory(rlx_context* context, uint64_t bytes) {
  return noted(context, RLX_OUT_OF_MEMORY, -1, bytes);
}

/* Allocates output `i` for its dims or their upper bounds, or for a guess if nothing bounds them. */
static int32_t prepare_output(const rlx_function* f, const rlx_tensor_spec* spec, const int64_t* symbols, uint32_t i,
                              rlx_context* context, rlx_array* out) {
  out->code = spec->dtype_code;
  out->bits = spec->dtype_bits;
  out->ndim = spec->ndim;
  if (out->ndim > RLX_MAX_RANK) return RLX_RANK;
  int32_t status = f->output_shape(symbols, i, out->dims);
  const int unknown = status == RLX_NEEDS_DATA;
  if (status != RLX_OK && !unknown) return noted(context, status, (int32_t)(f->num_inputs + i), 0);
  int64_t elements = unknown ? -1 : rlx_array_elements(out);
  for (int32_t axis = 0; axis < out->ndim; ++axis)
    if (out->dims[axis] == INT64_MAX) elements = -1;
  if (elements < 0) {
    elements = FIRST_GUESS;
    for (int32_t axis = 0; axis < out->ndim; ++axis) out->dims[axis] = axis == 0 ? elements : 1;
  }
  if (!rlx_array_size(out, &out->bytes)) return out_of_memory(context, INT64_MAX);
  out->data = calloc(out->bytes == 0 ? 1 : out->bytes, 1);
  return out->data == NULL ? out_of_memory(context, out->bytes) : RLX_OK;
}

static int32_t prepare_arena(const rlx_function* f, const int64_t* symbols, rlx_context* context) {
  uint64_t bytes = 0;
  const int32_t status = f->arena_bytes(symbols, &bytes);
  if (status != RLX_OK) return noted(context, status, -1, 0);
  if (bytes <= context->arena_bytes) return RLX_OK;
  free(context->arena);
  context->arena = NULL;
  context->arena = rlx_allocate(NULL, bytes, f->arena_align);
  context->arena_bytes = context->arena == NULL ? 0 : bytes;
  return context->arena == NULL ? out_of_memory(context, bytes) : RLX_OK;
}

static int32_t prepare_pools(const rlx_function* f, rlx_context* context) {
  if (context->pools != NULL || f->num_pools == 0) return RLX_OK;
  rlx_memory_pool* pools = calloc(f->num_pools, sizeof *pools);
  if (pools == NULL) return out_of_memory(context, f->num_pools * sizeof *pools);
  context->pools = pools;
  context->num_pools = f->num_pools;
  for (uint32_t i = 0; i < f->num_pools; ++i) {
    pools[i].data = rlx_allocate(NULL, f->pools[i].bytes, f->arena_align);
    if (pools[i].data == NULL) return out_of_memory(context, f->pools[i].bytes);
    pools[i].bytes = f->pools[i].bytes;
  }
  return RLX_OK;
}

void rlx_free_memory(rlx_context* context) {
  free(context->arena);
  for (uint32_t i = 0; i < context->num_pools; ++i) free(context->pools[i].data);
  free((void*)(uintptr_t)context->pools);
  context->arena = NULL;
  context->arena_bytes = 0;
  context->pools = NULL;
  context->num_pools = 0;
}

/* Gives an output that was too small the capacity that the run asked for. Returns 1 if it makes sense to repeat. */
static int grow(const rlx_function* f, const rlx_error* error, rlx_array* outputs) {
  const int64_t i = (int64_t)error->tensor - f->num_inputs;
  if (i < 0 || i >= f->num_outputs || error->expected <= error->actual || outputs[i].ndim < 1) return 0;
  rlx_array* out = &outputs[i];
  for (int32_t axis = 0; axis < out->ndim; ++axis) out->dims[axis] = axis == 0 ? error->expected : 1;
  free(out->data);
  out->data = NULL;
  if (!rlx_array_size(out, &out->bytes)) return 0;
  out->data = calloc(out->bytes, 1);
  return out->data != NULL;
}

static int32_t run(const rlx_function* f, rlx_context* context, rlx_tensor* in, rlx_array* outputs) {
  rlx_tensor* out = calloc((size_t)f->num_outputs + 1, sizeof *out);
  if (out == NULL) return out_of_memory(context, ((uint64_t)f->num_outputs + 1) * sizeof *out);
  int32_t status;
  do {
    for (uint32_t i = 0; i < f->num_outputs; ++i) out[i] = record_of(&outputs[i]);
    status = f->run(context, in, f->num_inputs, out, f->num_outputs);
  } while (status == RLX_DATA_CAPACITY && grow(f, context->error, outputs));
  free(out);
  if (status != RLX_OK) return status;
  for (uint32_t i = 0; i < f->num_outputs; ++i)
    outputs[i].bytes = (size_t)rlx_array_elements(&outputs[i]) * rlx_element_bytes(outputs[i].code, outputs[i].bits);
  return RLX_OK;
}

int32_t rlx_call(const rlx_model* model, const rlx_function* f, rlx_context* context, rlx_array* inputs,
                 rlx_array* outputs) {
  rlx_tensor* in = calloc((size_t)f->num_inputs + 1, sizeof *in);
  int64_t* symbols = calloc((size_t)f->num_symbols + 1, sizeof *symbols);
  int32_t status = in == NULL || symbols == NULL ? out_of_memory(context, sizeof *in) : RLX_OK;
  for (uint32_t i = 0; status == RLX_OK && i < f->num_inputs; ++i) in[i] = record_of(&inputs[i]);
  if (status == RLX_OK) status = f->bind(context, in, f->num_inputs, symbols, context->error);
  for (uint32_t i = 0; status == RLX_OK && i < f->num_outputs; ++i)
    status = prepare_output(f, rlx_spec_at(model, f->outputs, i), symbols, i, context, &outputs[i]);
  if (status == RLX_OK) status = prepare_arena(f, symbols, context);
  if (status == RLX_OK) status = prepare_pools(f, context);
  if (status == RLX_OK) status = run(f, context, in, outputs);
  free(in);
  free(symbols);
  return status;
}

/* Returns the length in bytes of a control or format character or byte order mark at `at`, else 0. */
static size_t invisible(const unsigned char* at) {
  if (at[0] < 0x20 || at[0] == 0x7f) return at[0] != 0;
  if (at[0] == 0xc2 && ((at[1] >= 0x80 && at[1] < 0xa0) || at[1] == 0xad)) return 2; /* U+0080 to U+009F, U+00AD */
  const int bidirectional = at[0] == 0xe2 && ((at[1] == 0x80 && ((at[2] >= 0x8b && at[2] <= 0x8f) ||   /* U+200B on */
                                                                 (at[2] >= 0xa8 && at[2] <= 0xae))) || /* U+2028 on */
                                              (at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xaf));      /* U+2060 on */
  return bidirectional || (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf) ? 3 : 0;
}

void rlx_print_text(FILE* to, const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  while (*at != 0) {
    size_t hidden = invisible(at);
    if (hidden == 0) (void)fputc(*at++, to);
    for (; hidden > 0; --hidden) (void)fprintf(to, "\\x%02x", *at++);
  }
}

void rlx_explain(const rlx_model* model, const rlx_function* f, int32_t status, const rlx_error* error) {
  (void)fprintf(stderr, "%s: error: ", model->name);
  if (error->code == status) {
    const size_t size = rlx_error_text(model, f, error, NULL, 0) + 1;
    char* text = malloc(size);
    if (text != NULL) {
      (void)rlx_error_text(model, f, error, text, size);
      rlx_print_text(stderr, text);
      (void)fprintf(stderr, " (%s)\n", rlx_status_name(status));
      free(text);
      return;
    }
  }
  (void)fprintf(stderr, "%s\n", rlx_status_name(status));
}
