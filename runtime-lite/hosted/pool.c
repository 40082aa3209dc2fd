/* pool.c: a thread pool for parallel_for.
 *
 * The problem: a model makes many short parallel calls, some of 20 microseconds. Waking a sleeping thread costs about
 * as much, so a worker first spins for a while, and a caller never waits for a worker that has not woken up: it runs
 * the tasks itself.
 *
 * The method: tasks are claimed from one 64-bit ticket, which has the call's number in its upper half and the next task
 * in its lower half. A claim is a compare-and-swap of both, so a late worker with an old call number claims nothing,
 * and the caller only waits until all tasks have ended, not until all workers have seen the call. Between calls the
 * ticket is closed, so that no claim can mix fields of two calls. Rejected: a barrier of all threads per call, which
 * waits for the slowest to wake up; one queue per thread with stealing, which only pays for nested work.
 *
 * A thread that is about to sleep announces it first and then looks for news again; a thread with news publishes it
 * first and then looks for sleepers. In a single order of all these accesses (hence SEQ_CST), one of the two sees the
 * other. So the mutex and the kernel are entered only for threads that do sleep: between consecutive calls none does.
 *
 * Release and acquire on `ended` make the call a full barrier for what the tasks wrote. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>

#include "relax_rt_hosted.h"

typedef int32_t (*task_function)(void* arg, int32_t index);

/* Spins before a thread sleeps: some tens of microseconds. */
enum { kSpins = 4000 };

/* The lower half of a ticket from which no task can be claimed. */
static const uint64_t kClosed = 0xffffffffu;

struct rlx_pool {
  pthread_mutex_t busy;  /* held during a parallel_for */
  pthread_mutex_t mutex; /* for the two conditions and `stop` */
  pthread_cond_t work, done;
  uint64_t ticket; /* call << 32 | next task */
  task_function task;
  void* arg;
  int32_t tasks;
  int32_t ended;    /* tasks of this call that have ended */
  uint64_t failure; /* index << 32 | status of the failing task of the lowest index; UINT64_MAX: none */
  int32_t stop;
  int32_t sleepers;    /* workers that have announced that they wait for `work` */
  int32_t waiting;     /* whether the caller has announced that it waits for `done` */
  int32_t num_workers; /* threads besides the caller */
  pthread_t workers[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void note_failure(rlx_pool* pool, int32_t index, int32_t status) {
  const uint64_t mine = (uint64_t)(uint32_t)index << 32 | (uint32_t)status;
  uint64_t seen = __atomic_load_n(&pool->failure, __ATOMIC_RELAXED);
  while (mine < seen &&
         !__atomic_compare_exchange_n(&pool->failure, &seen, mine, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

/* Runs tasks of the current call until none can be claimed. */
static void run_tasks(rlx_pool* pool) {
  uint64_t ticket = __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE);
  for (;;) {
    const task_function task = __atomic_load_n(&pool->task, __ATOMIC_ACQUIRE);
    void* const arg = __atomic_load_n(&pool->arg, __ATOMIC_ACQUIRE);
    const int32_t tasks = __atomic_load_n(&pool->tasks, __ATOMIC_ACQUIRE);
    const uint64_t index = ticket & kClosed;
    if (index >= (uint64_t)tasks) return;
    /* The ticket is closed before a field changes, so this fails if any field read above belongs to a later call. */
    if (!__atomic_compare_exchange_n(&pool->ticket, &ticket, ticket + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    const int32_t status = task(arg, (int32_t)index);
    if (status != RLX_OK) note_failure(pool, (int32_t)index, status);
    if (__atomic_add_fetch(&pool->ended, 1, __ATOMIC_SEQ_CST) == tasks &&
        __atomic_load_n(&pool->waiting, __ATOMIC_SEQ_CST)) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->done);
      pthread_mutex_unlock(&pool->mutex);
    }
    ticket = __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE);
  }
}

/* Returns whether there may be tasks to claim in a call other than `seen`. */
static int is_new(rlx_pool* pool, uint32_t seen) {
  const uint64_t ticket = __atomic_load_n(&pool->ticket, __ATOMIC_SEQ_CST);
  return (uint32_t)(ticket >> 32) != seen && (ticket & kClosed) != kClosed;
}

static void* worker(void* argument) {
  rlx_pool* pool = (rlx_pool*)argument;
  uint32_t seen = 0;
  for (;;) {
    int spins = 0;
    while (!is_new(pool, seen) && ++spins < kSpins) pause_briefly();
    if (spins == kSpins) {
      pthread_mutex_lock(&pool->mutex);
      __atomic_add_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
      while (!is_new(pool, seen) && !pool->stop) pthread_cond_wait(&pool->work, &pool->mutex);
      __atomic_sub_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
      const int stop = pool->stop;
      pthread_mutex_unlock(&pool->mutex);
      if (stop) return NULL;
    }
    seen = (uint32_t)(__atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE) >> 32);
    run_tasks(pool);
  }
}

/* Publishes a call to the workers. It takes two call numbers: a closed one while the fields change, and an open one. */
static void publish(rlx_pool* pool, int32_t tasks, task_function task, void* arg) {
  const uint64_t closed = (__atomic_load_n(&pool->ticket, __ATOMIC_RELAXED) | kClosed) + 1;
  __atomic_store_n(&pool->ticket, closed | kClosed, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->task, task, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->arg, arg, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->tasks, tasks, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->ended, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->failure, UINT64_MAX, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->waiting, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&pool->ticket, (closed | kClosed) + 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST) == 0) return;
  pthread_mutex_lock(&pool->mutex);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_end(rlx_pool* pool, int32_t tasks) {
  int spins = 0;
  while (__atomic_load_n(&pool->ended, __ATOMIC_ACQUIRE) != tasks && ++spins < kSpins) pause_briefly();
  if (spins < kSpins) return;
  pthread_mutex_lock(&pool->mutex);
  __atomic_store_n(&pool->waiting, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&pool->ended, __ATOMIC_SEQ_CST) != tasks) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

static int32_t run_serially(int32_t tasks, task_function task, void* arg) {
  int32_t result = RLX_OK;
  for (int32_t index = 0; index < tasks; ++index) {
    const int32_t status = task(arg, index);
    if (result == RLX_OK) result = status;
  }
  return result;
}

int32_t rlx_pool_parallel_for(void* user, int32_t tasks, task_function task, void* arg) {
  rlx_pool* pool = (rlx_pool*)user;
  if (tasks <= 1 || pool->num_workers == 0 || pthread_mutex_trylock(&pool->busy) != 0)
    return run_serially(tasks, task, arg);
  publish(pool, tasks, task, arg);
  run_tasks(pool);
  wait_for_end(pool, tasks);
  const uint64_t failure = __atomic_load_n(&pool->failure, __ATOMIC_ACQUIRE);
  pthread_mutex_unlock(&pool->busy);
  return failure == UINT64_MAX ? RLX_OK : (int32_t)(uint32_t)(failure & 0xffffffffu);
}

rlx_pool* rlx_pool_create(int32_t threads) {
  if (threads < 1) return NULL;
  const int32_t workers = threads - 1;
  rlx_pool* pool = (rlx_pool*)calloc(1, sizeof(rlx_pool) + (size_t)workers * sizeof(pthread_t));
  if (pool == NULL) return NULL;
  pool->ticket = kClosed;
  if (pthread_mutex_init(&pool->busy, NULL) != 0 || pthread_mutex_init(&pool->mutex, NULL) != 0 ||
      pthread_cond_init(&pool->work, NULL) != 0 || pthread_cond_init(&pool->done, NULL) != 0) {
    free(pool);
    return NULL;
  }
  for (; pool->num_workers < workers; ++pool->num_workers)
    if (pthread_create(&pool->workers[pool->num_workers], NULL, worker, pool) != 0) {
      rlx_pool_destroy(pool);
      return NULL;
    }
  return pool;
}

void rlx_pool_destroy(rlx_pool* pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->mutex);
  pool->stop = 1;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < pool->num_workers; ++i) pthread_join(pool->workers[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pthread_mutex_destroy(&pool->busy);
  free(pool);
}

void rlx_pool_attach(rlx_pool* pool, rlx_context* context) {
  context->parallel_for = rlx_pool_parallel_for;
  context->parallel_user = pool;
  context->num_threads = pool->num_workers + 1;
}
