/* pool_race.c: many models and few pools, under ThreadSanitizer.
 *
 * Every caller is a model that runs again and again: it hands out tasks that write what the caller reads next, which
 * is a race unless parallel_for is the full barrier that it promises to be. All callers share a pool with others, which
 * come and go. ThreadSanitizer ends the program with a code of its own where it sees two threads meet. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "relax_rt_hosted.h"

enum { kPools = 2, kCallers = 3, kRounds = 2, kCalls = 3000, kMostTasks = 9 };

struct model {
  rlx_pool* pool;
  int32_t seed;
  int64_t values[kMostTasks];
  int32_t wrong;
};

static int32_t add_place(void* argument, int32_t index) {
  struct model* model = (struct model*)argument;
  model->values[index] += model->seed + index;
  return RLX_OK;
}

static void* run_model(void* argument) {
  struct model* model = (struct model*)argument;
  int64_t expected[kMostTasks] = {0};
  for (int32_t call = 0; call < kCalls; ++call) {
    const int32_t tasks = 1 + (call + model->seed) % kMostTasks;
    if (rlx_pool_parallel_for(model->pool, tasks, add_place, model) != RLX_OK) model->wrong = 1;
    for (int32_t index = 0; index < tasks; ++index) expected[index] += model->seed + index;
    if (memcmp(expected, model->values, sizeof expected) != 0) model->wrong = 1;
  }
  return NULL;
}

int main(void) {
  for (int32_t round = 0; round < kRounds; ++round) {
    rlx_pool* pools[kPools];
    struct model models[kPools * kCallers];
    pthread_t callers[kPools * kCallers];
    for (int32_t i = 0; i < kPools; ++i) {
      pools[i] = rlx_pool_create(2 + i);
      if (pools[i] == NULL) return 2;
    }
    memset(models, 0, sizeof models);
    for (int32_t i = 0; i < kPools * kCallers; ++i) {
      models[i].pool = pools[i % kPools];
      models[i].seed = 7 * i + round;
      if (pthread_create(&callers[i], NULL, run_model, &models[i]) != 0) return 2;
    }
    for (int32_t i = 0; i < kPools * kCallers; ++i) {
      pthread_join(callers[i], NULL);
      if (models[i].wrong) return printf("model %d has other values than it computed\n", (int)i), 1;
    }
    for (int32_t i = 0; i < kPools; ++i) rlx_pool_destroy(pools[i]);
  }
  return 0;
}
