/* weights.c: maps a weights file into memory.
 *
 * The mapping is shared and read-only: pages are loaded when a kernel accesses them, and processes that run the same
 * model share them. The header is checked here and again by the generic run; the typed call relies on this check only.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "relax_rt_hosted.h"

static int32_t fail(rlx_context* context, rlx_status code, int32_t axis, int64_t expected, int64_t actual) {
  if (context->error != NULL) {
    const rlx_error found = {(int32_t)code, -1, axis, -1, -1, expected, actual};
    *context->error = found;
  }
  return (int32_t)code;
}

static int32_t check_header(const rlx_weights_header* header, uint64_t bytes, const rlx_model* model,
                            rlx_context* context) {
  if (memcmp(header->magic, RLX_WEIGHTS_MAGIC, sizeof header->magic) != 0)
    return fail(context, RLX_FILE_FORMAT, -1, 0, 0);
  if (header->abi_version != RLX_ABI_VERSION)
    return fail(context, RLX_ABI_MISMATCH, -1, RLX_ABI_VERSION, header->abi_version);
  if (header->bytes != model->weights_bytes)
    return fail(context, RLX_WEIGHTS_SIZE, -1, (int64_t)model->weights_bytes, (int64_t)header->bytes);
  if (bytes < header->bytes) return fail(context, RLX_WEIGHTS_SIZE, -1, (int64_t)header->bytes, (int64_t)bytes);
  for (int32_t i = 0; i < 32; ++i)
    if (header->hash[i] != model->hash[i]) return fail(context, RLX_WEIGHTS_HASH, i, model->hash[i], header->hash[i]);
  return RLX_OK;
}

static int32_t map_file(int file, const rlx_model* model, rlx_context* context) {
  struct stat status;
  if (fstat(file, &status) != 0) return fail(context, RLX_FILE_IO, -1, 0, errno);
  if (!S_ISREG(status.st_mode)) return fail(context, RLX_FILE_IO, -1, 0, EINVAL);
  const uint64_t bytes = (uint64_t)status.st_size;
  if (bytes < sizeof(rlx_weights_header)) return fail(context, RLX_FILE_FORMAT, -1, 0, 0);
  if (bytes > SIZE_MAX) return fail(context, RLX_SIZE_OVERFLOW, -1, (int64_t)PTRDIFF_MAX, (int64_t)bytes);
  void* data = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return fail(context, RLX_FILE_IO, -1, 0, errno);
  const int32_t result = check_header((const rlx_weights_header*)data, bytes, model, context);
  if (result != RLX_OK) {
    (void)munmap(data, (size_t)bytes);
    return result;
  }
  context->weights = data;
  context->weights_bytes = bytes;
  return RLX_OK;
}

int32_t rlx_weights_map(const char* path, const rlx_model* model, rlx_context* context) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe would wait */
  if (file < 0) return fail(context, RLX_FILE_IO, -1, 0, errno);
  const int32_t result = map_file(file, model, context);
  (void)close(file);
  return result;
}

void rlx_weights_unmap(rlx_context* context) {
  if (context->weights == NULL) return;
  (void)munmap((void*)(uintptr_t)context->weights, (size_t)context->weights_bytes);
  context->weights = NULL;
  context->weights_bytes = 0;
}
