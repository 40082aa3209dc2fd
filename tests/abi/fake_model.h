/* fake_model.h: a model written by hand in the form that relaxc emits, so that the runtime is tested without a
 * compiler.
 *
 * Its functions are chosen for their guards: each is the smallest that has one kind of shape. Their order in fake_model
 * is the order here. */
#ifndef RELAXC_TESTS_ABI_FAKE_MODEL_H
#define RELAXC_TESTS_ABI_FAKE_MODEL_H

#include "relax_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FAKE_AFFINE,  /* x f32[2, 3] -> y f32[2, 3]; y = 2 x + 1 by way of 64 bytes of arena; all static */
  FAKE_GROW,    /* a f32[n, 4], b f32[n], c f32[n * 4] -> y f32[n, 4] = a + b, z f32[n * 2] = c's even elements;
                   n in 2..1000 and even; arena n * 16 bytes */
  FAKE_STATE,   /* x f32[2], h f32[2] -> y f32[2] = x + h, hn f32[2] = h + 1; h and hn are a state */
  FAKE_APPEND,  /* cache f32[2, n, 4], x f32[2, k, 4] -> cache_out f32[2, n + k, 4], a state that grows along axis 1 */
  FAKE_RESHAPE, /* x i32[n, 6], target i64[2] -> y i32[t0, t1]; t0 and t1 are values, n <= 1000 */
  FAKE_NONZERO, /* x f32[n] -> index i64[m]; m depends on data, at most n */
  FAKE_BROADCAST, /* a f32[n], b f32[m] -> y f32[l]; n and m equal or one of them 1; b may be strided */
  FAKE_WEIGHTS,   /* x f32[4] -> y f32[4] = x + w; w is in a separate file of 128 bytes */
  FAKE_HUGE,      /* x u8[n] -> y i64[n * n], w u8[n]: sizes overflow before n does */
  FAKE_NUM_FUNCTIONS
};

extern const rlx_model fake_model;

/* A second model, for what bind and the queries may be asked; their order in fake_queries_model is the order here. */
enum {
  FAKE_EXTERNAL, /* x f32[n] -> y f32[m]; m is what an external shape function in the context makes of n */
  FAKE_BOUNDED,  /* limit i64[1] -> y i64[t], z i64[t * 2]; t is limit's value, at most 100: queries without data have
                    a bound for z and the arena, and none for y */
  FAKE_OTHER_VERSION, /* tables of another private version */
  FAKE_COMPLEX,       /* x c64[2] -> y c64[2], both parts doubled */
  FAKE_NUM_QUERIES
};

extern const rlx_model fake_queries_model;

/* What fake_external calls; carried in the context (poll_user) where a compiler would emit the name. */
typedef int64_t (*fake_shape_function)(int64_t n);

/* What fake_affine's body returns instead of computing, with a record of its own: 0 none. Errors that only data can
 * reveal come from emitted code; this stands for it. Carried in the context (trace_user), so that the model has no
 * state. */
typedef struct fake_fault {
  int32_t status;
} fake_fault;

/* The bytes of FAKE_WEIGHTS's file. */
#define FAKE_WEIGHTS_BYTES 128

#ifdef __cplusplus
}
#endif

#endif
