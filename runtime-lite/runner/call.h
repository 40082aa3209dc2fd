/* call.h: one generic call of a function of a model, with all the memory that it wants. */
#ifndef RLX_RUNNER_CALL_H
#define RLX_RUNNER_CALL_H

#include "array.h"

/* Tensor `index` of a table; tables grow by the model's own size of a record. */
const rlx_tensor_spec* rlx_spec_at(const rlx_model* model, const rlx_tensor_spec* specs, uint32_t index);
/* Function `index` of the model. */
const rlx_function* rlx_function_at(const rlx_model* model, uint32_t index);

/* rlx_context.alloc: memory from the C library. */
void* rlx_allocate(void* user, uint64_t bytes, uint64_t align);

/* Binds, sizes and runs. `outputs` are filled, with memory of their own; arena and pools are kept in the context for
 * the next call. Returns the status, with context->error filled. */
int32_t rlx_call(const rlx_model* model, const rlx_function* function, rlx_context* context, rlx_array* inputs,
                 rlx_array* outputs);

/* Frees the arena and the pools that rlx_call gave the context. */
void rlx_free_memory(rlx_context* context);

/* A text with names of the model or of the command line, in which a terminal finds nothing to obey: bytes of controls
 * and of characters that change how others are shown are printed as \xNN. */
void rlx_print_text(FILE* to, const char* text);

/* What a status and its record mean, as one line on stderr. */
void rlx_explain(const rlx_model* model, const rlx_function* function, int32_t status, const rlx_error* error);

#endif
