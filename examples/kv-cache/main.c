/* main.c: writes letters with a small language model in both of its forms, and compares what they say.
 *
 * The first one keeps a cache of keys and one of values as lists, for one sequence; the second one has a cache that
 * knows sequences, of which two are written at the same time. The second sequence forks from the first one after its
 * prompt. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "list.h"
#include "paged.h"

#include "kv_cache.h"

enum { LETTERS = 26, STEPS = 20, LONGEST = 64 };

static const char prompt[] = "relaxc";
static list_forward_arena list_memory;
static paged_batch_forward_arena paged_memory;

static int fail(const char* what, int status) {
  fprintf(stderr, "%s: %s\n", what, rlx_status_name(status));
  return 1;
}

static int32_t best(const float* logits) {
  int32_t chosen = 0;
  for (int32_t i = 1; i < LETTERS; i++)
    if (logits[i] > logits[chosen]) chosen = i;
  return chosen;
}

/* Writes the logits of each step to `logits` and the letters to `text`. */
static int by_lists(float logits[STEPS][LETTERS], char* text) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &list_memory, context.arena_bytes = sizeof list_memory;
  uint64_t keys = 0, values = 0;
  list_create_kv_cache_args create = {.lv1 = &keys, .lv2 = &values};
  int status = list_create_kv_cache_run(&context, &create);
  if (status != RLX_OK) return fail("create_kv_cache", status);
  int32_t tokens[LONGEST];
  int64_t count = (int64_t)strlen(prompt), length = count;
  for (int64_t i = 0; i < count; i++) tokens[i] = prompt[i] - 'a';
  for (int step = 0; step < STEPS && status == RLX_OK; step++) {
    list_forward_args args = {.input_ids = tokens,
                              .all_seq_len = &length,
                              .kv_cache_0 = &keys,
                              .kv_cache_1 = &values,
                              .logits = logits[step],
                              .lv6 = &keys,
                              .lv9 = &values,
                              .n = count};
    status = list_forward_run(&context, &args);
    tokens[0] = best(logits[step]);
    text[step] = (char)('a' + tokens[0]);
    count = 1, length++;
  }
  kv_list_free((rlx_object*)(uintptr_t)keys);
  kv_list_free((rlx_object*)(uintptr_t)values);
  return status == RLX_OK ? 0 : fail("forward", status);
}

/* One call of the model for `count` sequences of `lengths[i]` tokens. */
static int batch(kv_state* state, rlx_context* context, const int64_t* ids, const int64_t* lengths, int64_t count,
                 const int32_t* tokens, float* logits) {
  int32_t last[2];
  int64_t all = 0;
  for (int64_t i = 0; i < count; i++) all += lengths[i], last[i] = (int32_t)all - 1;
  if (kv_state_begin_forward(state, ids, lengths, count) != 0) return RLX_EXTERNAL_FAILED;
  const uint64_t handle = kv_state_handle(state);
  uint64_t same = 0;
  paged_batch_forward_args args = {.input_ids = tokens,
                                   .logit_positions = last,
                                   .paged_kv_cache = &handle,
                                   .logits = logits,
                                   .paged_kv_cache_2 = &same,
                                   .n = all,
                                   .batch = count};
  const int status = paged_batch_forward_run(context, &args);
  kv_state_end_forward(state);
  return status;
}

/* Sequence 0 has the prompt; sequence 1 forks from it and goes on with another letter. */
static int by_pages(float logits[STEPS][LETTERS], char* text, char* other) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &paged_memory, context.arena_bytes = sizeof paged_memory;
  kv_state* state = kv_state_create(2, LONGEST, 1, 2, 2, 8, 10000);
  if (state == NULL) return fail("kv_state_create", RLX_OUT_OF_MEMORY);
  static const int64_t ids[] = {0, 1}, one_each[] = {1, 1};
  int32_t tokens[LONGEST];
  const int64_t length = (int64_t)strlen(prompt);
  for (int64_t i = 0; i < length; i++) tokens[i] = prompt[i] - 'a';
  int status = kv_state_add_sequence(state, 0) == 0 ? RLX_OK : RLX_EXTERNAL_FAILED;
  if (status == RLX_OK) status = batch(state, &context, ids, &length, 1, tokens, logits[0]);
  if (status == RLX_OK && kv_state_fork_sequence(state, 0, 1) != 0) status = RLX_EXTERNAL_FAILED;
  tokens[0] = best(logits[0]), tokens[1] = 'z' - 'a';
  text[0] = (char)('a' + tokens[0]), other[0] = 'z';
  for (int step = 1; step < STEPS && status == RLX_OK; step++) {
    float both[2][LETTERS];
    status = batch(state, &context, ids, one_each, 2, tokens, both[0]);
    memcpy(logits[step], both[0], sizeof both[0]);
    for (int i = 0; i < 2; i++) tokens[i] = best(both[i]);
    text[step] = (char)('a' + tokens[0]), other[step] = (char)('a' + tokens[1]);
  }
  kv_state_free(state);
  return status == RLX_OK ? 0 : fail("batch_forward", status);
}

int main(void) {
  static float lists[STEPS][LETTERS], pages[STEPS][LETTERS];
  char first[STEPS + 1] = "", second[STEPS + 1] = "", forked[STEPS + 1] = "";
  if (by_lists(lists, first) != 0 || by_pages(pages, second, forked) != 0) return 1;
  float most = 0;
  for (int step = 0; step < STEPS; step++)
    for (int i = 0; i < LETTERS; i++) most = fmaxf(most, fabsf(lists[step][i] - pages[step][i]));
  printf("lists: %s%s\npages: %s%s\nfork:  %s%s\n", prompt, first, prompt, second, prompt, forked);
  printf("logits agree: %s\n", most < 1e-4F ? "yes" : "no");
  return most < 1e-4F ? 0 : 1;
}
