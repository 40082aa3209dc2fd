/* aligned_memory.c: counts the bytes of aligned memory that free has not taken back, now and at most.
 *
 * ONNX Runtime has no way to ask how much its tensors take at once. It asks for each of them aligned, and for nothing
 * else so, which lets memory.py load this library before it (LD_PRELOAD), with arenas off. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

extern void* __libc_memalign(size_t align, size_t size);
extern void __libc_free(void* memory);

enum { kSlots = 1 << 18 };
static struct {
  void* memory;
  size_t size;
} slots[kSlots];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t now, most;
static void* const kGone = (void*)1;

static size_t first_slot(const void* memory) {
  return ((uintptr_t)memory >> 6) * 2654435761u % kSlots;
}

static void* counted(void* memory, size_t size) {
  if (memory == NULL) return NULL;
  pthread_mutex_lock(&lock);
  size_t at = first_slot(memory);
  while (slots[at].memory != NULL && slots[at].memory != kGone) at = (at + 1) % kSlots;
  slots[at].memory = memory;
  slots[at].size = size;
  now += (int64_t)size;
  if (now > most) most = now;
  pthread_mutex_unlock(&lock);
  return memory;
}

void* aligned_alloc(size_t align, size_t size) {
  return counted(__libc_memalign(align, size), size);
}
void* memalign(size_t align, size_t size) {
  return counted(__libc_memalign(align, size), size);
}
int posix_memalign(void** out, size_t align, size_t size) {
  *out = counted(__libc_memalign(align, size), size);
  return *out == NULL ? ENOMEM : 0;
}

void free(void* memory) {
  if (memory != NULL && ((uintptr_t)memory & 15) == 0) {
    pthread_mutex_lock(&lock);
    for (size_t at = first_slot(memory); slots[at].memory != NULL; at = (at + 1) % kSlots)
      if (slots[at].memory == memory) {
        now -= (int64_t)slots[at].size;
        slots[at].memory = kGone;
        break;
      }
    pthread_mutex_unlock(&lock);
  }
  __libc_free(memory);
}

/* From here on: what comes on top of what there is. */
void aligned_memory_begin(void) {
  most = now = 0;
}
int64_t aligned_memory_most(void) {
  return most;
}
