/* npy.c: NumPy's .npy: a magic, a version, a length, and a Python dict of 'descr', 'fortran_order' and 'shape'. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static const uint8_t kMagic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const struct {
  char kind;
  uint8_t code;
} kKinds[] = {{'i', RLX_DTYPE_INT},
              {'u', RLX_DTYPE_UINT},
              {'f', RLX_DTYPE_FLOAT},
              {'c', RLX_DTYPE_COMPLEX},
              {'b', RLX_DTYPE_BOOL}};

/* The text after `key` and its colon, or NULL. */
static const char* value_of(const char* dict, const char* key) {
  const char* at = strstr(dict, key);
  if (at == NULL) return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':') ++at;
  return at;
}

static const char* parse_descr(const char* text, const rlx_tensor_spec* wanted, rlx_array* array) {
  if (text == NULL || *text != '\'') return "the type is not one of plain numbers";
  const char order = text[1], kind = text[2];
  const long size = strtol(text + 3, NULL, 10);
  if (order == '>') return "the numbers are big-endian";
  if (size < 1 || size > 32) return "the type is not one of plain numbers";
  const size_t wanted_size = rlx_element_bytes(wanted->dtype_code, wanted->dtype_bits);
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) {
    if (kKinds[i].kind != kind) continue;
    array->code = kKinds[i].code;
    array->bits = (uint8_t)(8 * size);
    /* int4 and its kin have a byte each, here as there. */
    if (wanted->dtype_bits < 8 && size == 1 && array->code == wanted->dtype_code) array->bits = wanted->dtype_bits;
    return NULL;
  }
  if (kind != 'V' || (size_t)size != wanted_size) return "the type is not one of plain numbers";
  array->code = wanted->dtype_code;
  array->bits = wanted->dtype_bits;
  return NULL;
}

static const char* parse_shape(const char* text, rlx_array* array) {
  if (text == NULL || *text != '(') return "it has no shape";
  for (++text; *text != ')';) {
    if (*text == ' ' || *text == ',' || *text == 'L') {
      ++text;
      continue;
    }
    char* end = NULL;
    errno = 0;
    const long long dim = strtoll(text, &end, 10);
    if (end == text || dim < 0 || errno != 0) return "its shape cannot be read";
    if (array->ndim == RLX_MAX_RANK) return "it has more than 32 dims";
    array->dims[array->ndim++] = dim;
    text = end;
  }
  return NULL;
}

static const char* take_data(const uint8_t* data, size_t size, rlx_array* array) {
  const int64_t elements = rlx_array_elements(array);
  if (elements < 0) return "its size overflows";
  array->bytes = (size_t)elements * rlx_element_bytes(array->code, array->bits);
  if (size != array->bytes) return "it has not as many bytes as its shape and type say";
  array->data = malloc(array->bytes == 0 ? 1 : array->bytes);
  if (array->data == NULL) return "there is no memory for it";
  memcpy(array->data, data, array->bytes);
  return NULL;
}

const char* rlx_npy_parse(const uint8_t* bytes, size_t size, const rlx_tensor_spec* wanted, rlx_array* array) {
  if (size < 12 || memcmp(bytes, kMagic, sizeof kMagic) != 0) return "it is no .npy file";
  const size_t head = bytes[6] == 1 ? 10 : 12;
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (bytes[6] != 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (bytes[6] < 1 || bytes[6] > 3 || length > size - head) return "it is no .npy file of version 1, 2 or 3";
  char* dict = malloc(length + 1);
  if (dict == NULL) return "there is no memory for it";
  memcpy(dict, bytes + head, length);
  dict[length] = 0;
  const char* fortran = value_of(dict, "'fortran_order'");
  const char* why = parse_descr(value_of(dict, "'descr'"), wanted, array);
  if (why == NULL) why = parse_shape(value_of(dict, "'shape'"), array);
  if (why == NULL && (fortran == NULL || strncmp(fortran, "False", 5) != 0) && array->ndim > 1)
    why = "it is in Fortran's order; save it with numpy.ascontiguousarray";
  free(dict);
  return why != NULL ? why : take_data(bytes + head + length, size - head - length, array);
}

/* Little-endian on every machine. */
static void write_elements(const rlx_array* array, FILE* file) {
  const size_t size = rlx_number_bytes(array->code, array->bits);
  const uint8_t* bytes = array->data;
  if (array->bytes == 0) return;
  if (!RLX_BIG_ENDIAN || size < 2) {
    (void)fwrite(bytes, 1, array->bytes, file);
    return;
  }
  for (size_t at = 0; at + size <= array->bytes; at += size)
    for (size_t i = size; i > 0; --i) (void)fputc(bytes[at + i - 1], file);
}

const char* rlx_npy_write(const char* path, const rlx_array* array) {
  char kind = 'V', dict[1024];
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i)
    if (kKinds[i].code == array->code) kind = kKinds[i].kind;
  const int size = (int)rlx_element_bytes(array->code, array->bits);
  int at = snprintf(dict, sizeof dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                    size == 1 || kind == 'V' ? '|' : '<', kind, size);
  for (int32_t i = 0; i < array->ndim; ++i)
    at += snprintf(dict + at, sizeof dict - (size_t)at, "%s%" PRId64 "%s", i == 0 ? "" : ", ", array->dims[i],
                   array->ndim == 1 ? "," : "");
  at += snprintf(dict + at, sizeof dict - (size_t)at, "), }");
  while ((10 + at + 1) % 64 != 0) dict[at++] = ' ';
  dict[at++] = '\n';
  const uint8_t head[4] = {1, 0, (uint8_t)(at & 0xff), (uint8_t)(at >> 8)};
  FILE* file = fopen(path, "wb");
  if (file == NULL) return strerror(errno);
  (void)fwrite(kMagic, 1, sizeof kMagic, file);
  (void)fwrite(head, 1, sizeof head, file);
  (void)fwrite(dict, 1, (size_t)at, file);
  write_elements(array, file);
  const int failed = ferror(file);
  if (fclose(file) != 0 || failed) return "writing failed";
  return NULL;
}
