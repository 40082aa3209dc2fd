/* call.h: one generic call of a function of a model, which allocates all memory that it needs. */
#ifndef RLX_RUNNER_CALL_H
#define RLX_RUNNER_CALL_H

#include "array.h"

/* Returns tensor `index` of a table, whose records have the size that the model states. */
const rlx_tensor_spec* rlx_spec_at(const rlx_model* model, const rlx_tensor_spec* specs, uint32_t index);
/* Returns function `index` of the model. */
const rlx_function* rlx_function_at(const rlx_model* model, uint32_t index);

/* rlx_context.alloc: memory from the C library. */
void* rlx_allocate(void* user, uint64_t bytes, uint64_t align);

/* Binds inputs, queries sizes and runs. Fills `outputs`, which own their memory; arena and pools stay in the context
 * for the next call. Returns the status, with context->error filled. */
int32_t rlx_call(const rlx_model* model, const rlx_function* function, rlx_context* context, rlx_array* inputs,
                 rlx_array* outputs);

/* Frees the arena and the pools that rlx_call gave the context. */
void rlx_free_memory(rlx_context* context);

/* Prints a text with names from the model or the command line such that it cannot control the terminal: bytes of
 * control characters and of characters that change how others are shown are printed as \xNN. */
void rlx_print_text(FILE* to, const char* text);

/* Prints a status and its error record as one line on stderr. */
void rlx_explain(const rlx_model* model, const rlx_function* function, int32_t status, const rlx_error* error);

#endif
