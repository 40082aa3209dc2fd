/* kv_cache.h: caches of keys and values, for modules that call TVM's vm.builtin.attention_kv_cache_* and for the
 * program around them. Elements are float32. */
#ifndef KV_CACHE_H
#define KV_CACHE_H

#include "relax_rt.h"

/* What the external functions return; relaxc's object passes it on as RLX_EXTERNAL_FAILED with this number. */
enum { KV_NO_MEMORY = 1, KV_WRONG_SHAPE = 2, KV_NO_SEQUENCE = 3, KV_FULL = 4 };

/* kv_list.c: rows in the order in which they came. A module makes it (create), appends and views. */
void kv_list_popn(rlx_object* list, int64_t rows); /* forgets the last rows */
void kv_list_free(rlx_object* list);

/* kv_state.c: rows of several sequences and layers, and the attention over them. The program makes it. */
typedef struct kv_state kv_state;
kv_state* kv_state_create(int64_t sequences, int64_t most_rows, int64_t layers, int64_t query_heads, int64_t heads,
                          int64_t head_size, double rope_theta);
void kv_state_free(kv_state* state);
/* These are called vm.builtin.kv_state_* in TVM. Ids are below `sequences`. */
int kv_state_add_sequence(kv_state* state, int64_t id);
int kv_state_remove_sequence(kv_state* state, int64_t id);
int kv_state_fork_sequence(kv_state* state, int64_t parent, int64_t child);
int kv_state_popn(kv_state* state, int64_t id, int64_t rows);
/* The next call of the module has lengths[i] tokens of sequence ids[i], one sequence after another. */
int kv_state_begin_forward(kv_state* state, const int64_t* ids, const int64_t* lengths, int64_t count);
void kv_state_end_forward(kv_state* state);
/* The handle that the module gets. */
uint64_t kv_state_handle(kv_state* state);

#endif
