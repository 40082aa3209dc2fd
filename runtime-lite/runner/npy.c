/* npy.c: reads and writes .npy: a magic, a version, a length, and a dict of 'descr', 'fortran_order' and 'shape'. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"

static const uint8_t kMagic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The kinds of numbers, and the sizes of each: bit k is for 2^k bytes. */
static const struct {
  char kind;
  uint8_t code, sizes;
} kKinds[] = {{'i', RLX_DTYPE_INT, 0x0f},
              {'u', RLX_DTYPE_UINT, 0x0f},
              {'f', RLX_DTYPE_FLOAT, 0x0e},
              {'c', RLX_DTYPE_COMPLEX, 0x18},
              {'b', RLX_DTYPE_BOOL, 0x01}};

/* Returns the text after `key` and its colon, or NULL. */
static const char* value_of(const char* dict, const char* key) {
  const char* at = strstr(dict, key);
  if (at == NULL) return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':') ++at;
  return at;
}

/* Reads "'<f4'". A text that is too short ends with a 0, and nothing is read behind it. */
static const char* parse_descr(const char* text, const rlx_tensor_spec* wanted, rlx_array* array) {
  static const char* const kNotPlain = "the type is not one of plain numbers";
  if (text == NULL || text[0] != '\'' || text[1] == 0 || text[2] == 0) return kNotPlain;
  const char order = text[1], kind = text[2];
  size_t size = 0;
  const char* end = text + 3;
  for (; *end >= '0' && *end <= '9' && size <= 16; ++end) size = 10 * size + (size_t)(*end - '0');
  if (*end != '\'' || end == text + 3) return kNotPlain;
  if (order == '>') return "the numbers are big-endian";
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) {
    if (kKinds[i].kind != kind) continue;
    if (size == 0 || size > 16 || (size & (size - 1)) != 0) return kNotPlain;
    unsigned power = 0;
    while ((size_t)1 << power != size) ++power;
    if ((kKinds[i].sizes >> power & 1) == 0) return kNotPlain;
    array->code = kKinds[i].code;
    array->bits = (uint8_t)(8 * size);
    /* Elements such as int4 take a byte each, in the file and in memory. */
    if (wanted->dtype_bits < 8 && size == 1 && array->code == wanted->dtype_code) array->bits = wanted->dtype_bits;
    return NULL;
  }
  if (kind != 'V' || size != rlx_element_bytes(wanted->dtype_code, wanted->dtype_bits)) return kNotPlain;
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

const char* rlx_npy_parse_head(const uint8_t* bytes, size_t size, uint64_t total, const rlx_tensor_spec* wanted,
                               rlx_array* array, size_t* head_bytes) {
  if (size < 12 || memcmp(bytes, kMagic, sizeof kMagic) != 0) return "it is not an .npy file";
  const size_t head = bytes[6] == 1 ? 10 : 12;
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (bytes[6] != 1) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (bytes[6] < 1 || bytes[6] > 3 || length > size - head || size > total)
    return "it is not an .npy file of version 1, 2 or 3";
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
  if (why == NULL && !rlx_array_size(array, &array->bytes)) why = "its size overflows";
  *head_bytes = head + length;
  if (why == NULL && total - *head_bytes != array->bytes) why = "its number of bytes does not match its shape and type";
  return why;
}

const char* rlx_npy_parse(const uint8_t* bytes, size_t size, const rlx_tensor_spec* wanted, rlx_array* array) {
  size_t head = 0;
  const char* why = rlx_npy_parse_head(bytes, size, size, wanted, array, &head);
  if (why != NULL) return why;
  array->data = malloc(array->bytes == 0 ? 1 : array->bytes);
  if (array->data == NULL) return "there is no memory for it";
  memcpy(array->data, bytes + head, array->bytes);
  return NULL;
}

/* Writes the elements, little-endian on every machine. */
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

/* Writes the head of a .npy to `dict`, at most `room` bytes; returns its length. */
static size_t head_of(const rlx_array* array, char* dict, size_t room) {
  char kind = 'V';
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i)
    if (kKinds[i].code == array->code) kind = kKinds[i].kind;
  const int size = (int)rlx_element_bytes(array->code, array->bits);
  size_t at = (size_t)snprintf(dict, room, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                               size == 1 || kind == 'V' ? '|' : '<', kind, size);
  for (int32_t i = 0; i < array->ndim; ++i)
    at += (size_t)snprintf(dict + at, room - at, "%s%" PRId64 "%s", i == 0 ? "" : ", ", array->dims[i],
                           array->ndim == 1 ? "," : "");
  at += (size_t)snprintf(dict + at, room - at, "), }");
  while ((10 + at + 1) % 64 != 0) dict[at++] = ' ';
  dict[at++] = '\n';
  return at;
}

static const char* write_file(FILE* file, const rlx_array* array) {
  char dict[1024]; /* 32 dims of 20 digits, and what is between them */
  const size_t length = head_of(array, dict, sizeof dict);
  const uint8_t head[4] = {1, 0, (uint8_t)(length & 0xff), (uint8_t)(length >> 8)};
  errno = 0;
  (void)fwrite(kMagic, 1, sizeof kMagic, file);
  (void)fwrite(head, 1, sizeof head, file);
  (void)fwrite(dict, 1, length, file);
  write_elements(array, file);
  const int failed = fflush(file) != 0 || ferror(file);
  const int why = errno;
  return !failed ? NULL : why == 0 ? "writing failed" : strerror(why);
}

/* Writes a temporary file in the same folder and renames it, so that the file never appears in part. */
const char* rlx_npy_write(const char* path, const rlx_array* array) {
  static const char kPattern[] = ".rlx-XXXXXX";
  const char* slash = strrchr(path, '/');
  const size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  char* beside = malloc(folder + sizeof kPattern);
  if (beside == NULL) return "there is no memory for it";
  memcpy(beside, path, folder);
  memcpy(beside + folder, kPattern, sizeof kPattern);
  const char* why = NULL;
  const int descriptor = mkstemp(beside);
  FILE* file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  if (file == NULL) {
    why = strerror(errno);
    if (descriptor >= 0) (void)close(descriptor);
  } else {
    const mode_t mask = umask(0); /* mkstemp gives others no rights */
    (void)umask(mask);
    (void)fchmod(descriptor, 0666 & ~mask);
    why = write_file(file, array);
    if (fclose(file) != 0 && why == NULL) why = strerror(errno);
    if (why == NULL && rename(beside, path) != 0) why = strerror(errno);
  }
  if (why != NULL && descriptor >= 0) (void)unlink(beside);
  free(beside);
  return why;
}
