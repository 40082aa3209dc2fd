/* relax_rt_hosted.h: optional helpers for programs under an operating system: weights mapped from a
 * file, and threads for parallel_for. A model needs neither, and both only set fields of rlx_context.
 * POSIX. */
#ifndef RELAX_RT_HOSTED_H
#define RELAX_RT_HOSTED_H

#include "relax_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the weights file of `model` read-only and stores it in the context. Checks the header's magic, version, size and
 * hash against the model; does not read the weights. Returns RLX_FILE_IO (actual: errno), RLX_FILE_FORMAT,
 * RLX_ABI_MISMATCH, RLX_WEIGHTS_SIZE or RLX_WEIGHTS_HASH, with context->error filled if it is not null; the context is
 * then unchanged. */
int32_t rlx_weights_map(const char* path, const rlx_model* model, rlx_context* context);

/* Unmaps the weights of the context, if it has any, and resets its fields. */
void rlx_weights_unmap(rlx_context* context);

typedef struct rlx_pool rlx_pool;

/* Creates a thread pool for parallel_for with `threads` threads including the caller's; null if that fails. A pool may
 * serve many contexts; while one call uses it, calls from other threads run serially, with the same results. */
rlx_pool* rlx_pool_create(int32_t threads);

/* Ends the threads; no call may be running. Accepts null. */
void rlx_pool_destroy(rlx_pool* pool);

/* Sets parallel_for, parallel_user and num_threads of the context. */
void rlx_pool_attach(rlx_pool* pool, rlx_context* context);

/* The function that rlx_pool_attach installs. Runs all tasks even if one fails, and returns the result of the failing
 * task with the lowest index, so that it does not depend on timing. */
int32_t rlx_pool_parallel_for(void* pool, int32_t tasks, int32_t (*task)(void* arg, int32_t index), void* arg);

#ifdef __cplusplus
}
#endif

#endif
