/* kv_list.c: vm.builtin.attention_kv_cache_create, append, update and view: a tensor that grows along its first axis.
 *
 * Memory doubles when it is full, as TVM's does, so a view is valid until the next append. */
#include <stdlib.h>
#include <string.h>

#include "list.h"

#include "kv_cache.h"

typedef struct {
  rlx_object object; /* first: what a handle points to */
  float* rows;
  int64_t filled, reserved, heads, head_size;
} kv_list;

static int reserve(kv_list* list, int64_t rows) {
  int64_t reserved = list->reserved > 0 ? list->reserved : 1;
  while (reserved < rows) reserved *= 2;
  if (reserved == list->reserved) return 0;
  float* grown = realloc(list->rows, (size_t)(reserved * list->heads * list->head_size) * sizeof *grown);
  if (grown == NULL) return KV_NO_MEMORY;
  list->rows = grown, list->reserved = reserved;
  return 0;
}

static int put(kv_list* list, int64_t first, const rlx_tensor* rows) {
  const int64_t size = list->heads * list->head_size, count = rows->shape[0];
  if (rows->ndim != 3 || rows->shape[1] != list->heads || rows->shape[2] != list->head_size) return KV_WRONG_SHAPE;
  const int failed = reserve(list, first + count);
  if (failed) return failed;
  if (count > 0) memcpy(list->rows + first * size, rows->data, (size_t)(count * size) * sizeof(float));
  list->filled = first + count;
  return 0;
}

int32_t vm_builtin_attention_kv_cache_create(rlx_context* context, const rlx_tensor* initial, int64_t rows,
                                             int64_t heads, int64_t head_size, int64_t filled, rlx_object** result) {
  (void)context;
  kv_list* list = calloc(1, sizeof *list);
  if (list == NULL) return KV_NO_MEMORY;
  list->object.kind = RLX_OBJECT_OTHER;
  list->heads = heads, list->head_size = head_size;
  int failed = reserve(list, rows);
  if (!failed) failed = put(list, 0, initial);
  if (failed) {
    kv_list_free(&list->object);
    return failed;
  }
  if (filled >= 0) list->filled = filled;
  *result = &list->object;
  return 0;
}

int32_t vm_builtin_attention_kv_cache_append(rlx_context* context, rlx_object* object, const rlx_tensor* rows,
                                             rlx_object** result) {
  (void)context;
  kv_list* list = (kv_list*)object;
  *result = object;
  return put(list, list->filled, rows);
}

int32_t vm_builtin_attention_kv_cache_view(rlx_context* context, rlx_object* object, int64_t rows, int64_t heads,
                                           int64_t head_size, rlx_tensor* result) {
  (void)context;
  kv_list* list = (kv_list*)object;
  if (rows != list->filled || heads != list->heads || head_size != list->head_size) return KV_WRONG_SHAPE;
  result->data = list->rows;
  result->shape[0] = rows, result->shape[1] = heads, result->shape[2] = head_size;
  return 0;
}

void kv_list_popn(rlx_object* object, int64_t rows) {
  kv_list* list = (kv_list*)object;
  list->filled = rows < list->filled ? list->filled - rows : 0;
}

void kv_list_free(rlx_object* object) {
  if (object == NULL) return;
  free(((kv_list*)object)->rows);
  free(object);
}
