/* relax_rt_hosted.h: what a program under an operating system may want beside relax_rt.h: weights mapped from a file,
 * and threads for parallel_for. Optional: a model needs neither, and both fill nothing but fields of rlx_context.
 * POSIX. */
#ifndef RELAX_RT_HOSTED_H
#define RELAX_RT_HOSTED_H

#include "relax_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the weights file of `model` read-only and puts it into the context. The header's magic, version, size and hash
 * are checked against the model; weights themselves are not read. Returns RLX_FILE_IO (actual: errno), RLX_FILE_FORMAT,
 * RLX_ABI_MISMATCH, RLX_WEIGHTS_SIZE or RLX_WEIGHTS_HASH, with context->error filled if it is not null; the context is
 * then unchanged. */
int32_t rlx_weights_map(const char* path, const rlx_model* model, rlx_context* context);

/* Ends the mapping that the context holds, if it holds one, and forgets it. */
void rlx_weights_unmap(rlx_context* context);

typedef struct rlx_pool rlx_pool;

/* Threads for parallel_for: `threads` in all, the calling one included. Null if it cannot be made. A pool may serve
 * many contexts; while one call uses it, calls from other threads run serially, which gives the same answer. */
rlx_pool* rlx_pool_create(int32_t threads);

/* Ends the threads; no call may be under way. Null is fine. */
void rlx_pool_destroy(rlx_pool* pool);

/* Sets parallel_for, parallel_user and num_threads of the context. */
void rlx_pool_attach(rlx_pool* pool, rlx_context* context);

/* What rlx_pool_attach installs. Runs all tasks even if one fails, and returns what the failing task of the lowest
 * index returned, so that the answer does not depend on who was faster. */
int32_t rlx_pool_parallel_for(void* pool, int32_t tasks, int32_t (*task)(void* arg, int32_t index), void* arg);

#ifdef __cplusplus
}
#endif

#endif
