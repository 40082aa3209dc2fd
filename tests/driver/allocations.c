/* allocations.c: preloaded before the C library, it lets allocations of the program fail.
 *
 * FAIL_AT=N: the Nth allocation after main() began gives NULL; FAIL_ALWAYS: so does every later one. COUNT_TO=FILE:
 * FILE gets the number of allocations when the program ends. What programs that it starts (linkers) allocate is left
 * alone. Before main() nothing can be reported yet.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_int running;
static atomic_long count;
static long fail_at;
static int fail_always;
static int (*next_main)(int, char**, char**);

static int fails(void) {
  if (!atomic_load(&running)) return 0;
  const long number = atomic_fetch_add(&count, 1) + 1;
  if (fail_at == 0 || number < fail_at || (number > fail_at && !fail_always)) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t size) {
  return fails() ? NULL : __libc_malloc(size);
}
void* calloc(size_t many, size_t size) {
  return fails() ? NULL : __libc_calloc(many, size);
}
void* realloc(void* old, size_t size) {
  return fails() ? NULL : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** made, size_t alignment, size_t size) {
  *made = memalign(alignment, size);
  return *made == NULL ? ENOMEM : 0;
}

static void report(void) {
  const char* path = getenv("COUNT_TO");
  atomic_store(&running, 0);
  if (path == NULL) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld", atomic_load(&count));
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0) (void)!write(file, text, (size_t)length), (void)close(file);
}

static int first_main(int argc, char** argv, char** environment) {
  const char* name = strrchr(argv[0], '/');
  if (strcmp(name == NULL ? argv[0] : name + 1, "relaxc") == 0) {
    const char* at = getenv("FAIL_AT");
    fail_at = at == NULL ? 0 : atol(at);
    fail_always = getenv("FAIL_ALWAYS") != NULL;
    (void)atexit(report);
    atomic_store(&running, 1);
  }
  return next_main(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*) = NULL;
  *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
  next_main = program;
  return next(first_main, argc, argv, init, fini, loader_fini, stack_end);
}
