/* kv_state.c: vm.builtin.attention_kv_cache_attention_with_fused_qkv, and what a program calls around it.
 *
 * A sequence has its rows in one piece of memory of most_rows, where TVM has pages; for the module there is no
 * difference. Rows of keys are kept as they are after RoPE, which turns the halves of a head by the row's position. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paged.h"

#include "kv_cache.h"

struct kv_state {
  rlx_object object; /* first: what a handle points to */
  int64_t sequences, most_rows, layers, query_heads, heads, head_size;
  double rope_theta;    /* 0: positions change nothing */
  float *keys, *values; /* [layers, sequences, most_rows, heads, head_size] */
  float *scores, *query;
  int64_t* filled;               /* by sequence; -1: there is none of this id */
  int64_t *ids, *lengths, count; /* of the current call */
};

static int has(const kv_state* state, int64_t id) {
  return id >= 0 && id < state->sequences && state->filled[id] >= 0;
}

static size_t row(const kv_state* state, int64_t layer, int64_t id, int64_t position) {
  return (size_t)(((layer * state->sequences + id) * state->most_rows + position) * state->heads * state->head_size);
}

kv_state* kv_state_create(int64_t sequences, int64_t most_rows, int64_t layers, int64_t query_heads, int64_t heads,
                          int64_t head_size, double rope_theta) {
  kv_state* state = calloc(1, sizeof *state);
  if (state == NULL) return NULL;
  state->object.kind = RLX_OBJECT_OTHER;
  state->sequences = sequences, state->most_rows = most_rows, state->layers = layers;
  state->query_heads = query_heads, state->heads = heads, state->head_size = head_size;
  state->rope_theta = rope_theta;
  const size_t elements = row(state, layers, 0, 0), ids = (size_t)sequences;
  state->keys = malloc(elements * sizeof(float)), state->values = malloc(elements * sizeof(float));
  state->scores = malloc((size_t)most_rows * sizeof(float));
  state->query = malloc((size_t)head_size * sizeof(float));
  state->filled = malloc(ids * sizeof(int64_t)), state->ids = malloc(ids * sizeof(int64_t));
  state->lengths = malloc(ids * sizeof(int64_t));
  if (!state->keys || !state->values || !state->scores || !state->query || !state->filled || !state->ids ||
      !state->lengths) {
    kv_state_free(state);
    return NULL;
  }
  for (int64_t id = 0; id < sequences; id++) state->filled[id] = -1;
  return state;
}

void kv_state_free(kv_state* state) {
  if (state == NULL) return;
  free(state->keys), free(state->values), free(state->scores), free(state->query);
  free(state->filled), free(state->ids), free(state->lengths);
  free(state);
}

int kv_state_add_sequence(kv_state* state, int64_t id) {
  if (id < 0 || id >= state->sequences || state->filled[id] >= 0) return KV_NO_SEQUENCE;
  state->filled[id] = 0;
  return 0;
}

int kv_state_remove_sequence(kv_state* state, int64_t id) {
  if (!has(state, id)) return KV_NO_SEQUENCE;
  state->filled[id] = -1;
  return 0;
}

int kv_state_fork_sequence(kv_state* state, int64_t parent, int64_t child) {
  if (!has(state, parent) || kv_state_add_sequence(state, child) != 0) return KV_NO_SEQUENCE;
  const size_t bytes = (size_t)(state->filled[parent] * state->heads * state->head_size) * sizeof(float);
  for (int64_t layer = 0; layer < state->layers; layer++) {
    memcpy(state->keys + row(state, layer, child, 0), state->keys + row(state, layer, parent, 0), bytes);
    memcpy(state->values + row(state, layer, child, 0), state->values + row(state, layer, parent, 0), bytes);
  }
  state->filled[child] = state->filled[parent];
  return 0;
}

int kv_state_popn(kv_state* state, int64_t id, int64_t rows) {
  if (!has(state, id) || rows < 0 || rows > state->filled[id]) return KV_NO_SEQUENCE;
  state->filled[id] -= rows;
  return 0;
}

int kv_state_begin_forward(kv_state* state, const int64_t* ids, const int64_t* lengths, int64_t count) {
  if (count < 0 || count > state->sequences) return KV_NO_SEQUENCE;
  for (int64_t i = 0; i < count; i++) {
    if (!has(state, ids[i])) return KV_NO_SEQUENCE;
    if (lengths[i] < 0 || state->filled[ids[i]] + lengths[i] > state->most_rows) return KV_FULL;
    state->ids[i] = ids[i], state->lengths[i] = lengths[i];
  }
  state->count = count;
  return 0;
}

void kv_state_end_forward(kv_state* state) {
  for (int64_t i = 0; i < state->count; i++) state->filled[state->ids[i]] += state->lengths[i];
  state->count = 0;
}

uint64_t kv_state_handle(kv_state* state) {
  return (uint64_t)(uintptr_t)&state->object;
}

static void turn(const kv_state* state, const float* from, int64_t position, float* to) {
  const int64_t half = state->head_size / 2;
  for (int64_t i = 0; i < half; i++) {
    const double exponent = (double)(2 * i) / (double)state->head_size;
    const double angle = state->rope_theta > 0 ? (double)position / pow(state->rope_theta, exponent) : 0;
    const float c = (float)cos(angle), s = (float)sin(angle), a = from[i], b = from[i + half];
    to[i] = a * c - b * s;
    to[i + half] = b * c + a * s;
  }
}

/* One head of one token: softmax of its products with the keys up to its own position, and the mean of values by it. */
static void attend(kv_state* state, int64_t layer, int64_t id, int64_t position, int64_t head, float scale,
                   float* out) {
  const int64_t size = state->head_size;
  float most = -INFINITY, sum = 0;
  for (int64_t at = 0; at <= position; at++) {
    const float* key = state->keys + row(state, layer, id, at) + head * size;
    float product = 0;
    for (int64_t i = 0; i < size; i++) product += state->query[i] * key[i];
    state->scores[at] = product * scale;
    if (state->scores[at] > most) most = state->scores[at];
  }
  for (int64_t at = 0; at <= position; at++) sum += state->scores[at] = expf(state->scores[at] - most);
  memset(out, 0, (size_t)size * sizeof *out);
  for (int64_t at = 0; at <= position; at++) {
    const float* value = state->values + row(state, layer, id, at) + head * size;
    for (int64_t i = 0; i < size; i++) out[i] += state->scores[at] / sum * value[i];
  }
}

/* One token: its key and value become the row of its position, and its queries look at all rows up to this one. */
static void token(kv_state* state, int64_t layer, int64_t id, int64_t position, float scale, const float* qkv,
                  float* out) {
  const int64_t size = state->head_size;
  const float *key = qkv + state->query_heads * size, *value = key + state->heads * size;
  for (int64_t head = 0; head < state->heads; head++)
    turn(state, key + head * size, position, state->keys + row(state, layer, id, position) + head * size);
  memcpy(state->values + row(state, layer, id, position), value, (size_t)(state->heads * size) * sizeof *value);
  for (int64_t head = 0; head < state->query_heads; head++) {
    turn(state, qkv + head * size, position, state->query);
    attend(state, layer, id, position, head * state->heads / state->query_heads, scale, out + head * size);
  }
}

int32_t vm_builtin_attention_kv_cache_attention_with_fused_qkv(rlx_context* context, rlx_object* object, int64_t layer,
                                                               const rlx_tensor* scale, const rlx_tensor* qkv,
                                                               const rlx_tensor* result) {
  (void)context;
  kv_state* state = (kv_state*)object;
  const int64_t width = (state->query_heads + 2 * state->heads) * state->head_size;
  int64_t tokens = 0;
  for (int64_t i = 0; i < state->count; i++) tokens += state->lengths[i];
  if (layer < 0 || layer >= state->layers || qkv->ndim != 3 || qkv->shape[0] != tokens ||
      qkv->shape[1] * qkv->shape[2] != width)
    return KV_WRONG_SHAPE;
  const float *from = qkv->data, factor = *(const float*)scale->data;
  float* to = result->data;
  for (int64_t i = 0; i < state->count; i++)
    for (int64_t at = 0; at < state->lengths[i]; at++) {
      token(state, layer, state->ids[i], state->filled[state->ids[i]] + at, factor, from, to);
      from += width, to += state->query_heads * state->head_size;
    }
  return 0;
}
