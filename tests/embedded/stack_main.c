/* stack_main.c: the most stack that calls of a model took, by all ways that a caller can choose, next to what its
 * header says: each place of the stack pointer, with and without tasks, and refused for each reason that a context can
 * give.
 *
 * Prints the status, bytes of calls that were not refused, bytes of all, tasks that were run, and M_RUN_STACK_MAX. */
#include "board.h"
#include "m.h"
#include "paint.h"
#include "stack_case.h"

static _Alignas(64) unsigned char arena[ARENA + 64];
static uint32_t most, of_all;
static _Alignas(64) unsigned char heap[HEAP];
static uintptr_t heap_next;

/* Takes no stack of its own; chunks are multiples of 64 bytes. */
static void* allocate(void* user, uint64_t bytes, uint64_t align) {
  const uintptr_t at = heap_next;
  (void)user;
  (void)align;
  if (bytes > sizeof heap - at) return 0;
  heap_next = at + (uintptr_t)bytes;
  return heap + at;
}

static int32_t measure(rlx_context* context, m_args* args) {
  int32_t status = 0;
  for (uint32_t shift = 0; shift < 64; shift += 8) {
    FILL; /* again, since a call leaves what it found in the dims of its outputs */
    heap_next = 0;
    tasks_seen = 0;
    uint32_t took = painted((painted_call*)(void*)m_run, context, args, shift, &status);
    if (tasks_seen != 0) took -= tasks_frame;
    if (status == 0 && took > most) most = took;
    if (took > of_all) of_all = took;
  }
  return status;
}

int main(void) {
  static rlx_error error;
  m_args args = ARGUMENTS, refused = ARGUMENTS;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = arena;
  context.arena_bytes = ARENA;
  context.alloc = allocate;
  const int32_t status = measure(&context, &args);
  context.error = &error;
  (void)measure(&context, &args);
  context.parallel_for = run_tasks;
  context.num_threads = 4;
  (void)measure(&context, &args);
  const uint32_t tasks = tasks_seen;
  context.arena_bytes = 0;
  (void)measure(&context, &args);
  context.arena_bytes = ARENA - 1;
  context.arena = arena + 1;
  (void)measure(&context, &args);
  context.arena = arena;
  context.arena_bytes = ARENA;
  context.alloc = 0;
  (void)measure(&context, &args);
  context.cpu_features = 1;
  (void)measure(&context, &args);
  context.cpu_features = 0;
  REFUSED(void) measure(0, 0);
  const uint32_t figures[] = {(uint32_t)status, most, of_all, tasks, M_RUN_STACK_MAX};
  for (int i = 0; i < 5; i++) {
    print_number(figures[i]);
    print(i < 4 ? " " : "\n");
  }
  return 0;
}
