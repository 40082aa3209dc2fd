/* array.c: which form a file has, and what both forms share. */
#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t rlx_element_bytes(uint8_t code, uint8_t bits) {
  (void)code;
  return bits < 8 ? 1 : (size_t)bits / 8;
}

const char* rlx_dtype_name(uint8_t code, uint8_t bits, char* text) {
  static const struct {
    uint8_t code;
    const char* name;
  } kNames[] = {{RLX_DTYPE_INT, "int"},       {RLX_DTYPE_UINT, "uint"},       {RLX_DTYPE_FLOAT, "float"},
                {RLX_DTYPE_BFLOAT, "bfloat"}, {RLX_DTYPE_COMPLEX, "complex"}, {RLX_DTYPE_HANDLE, "handle"}};
  if (code == RLX_DTYPE_BOOL) return "bool";
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i)
    if (kNames[i].code == code) {
      (void)snprintf(text, 24, "%s%d", kNames[i].name, (int)bits);
      return text;
    }
  (void)snprintf(text, 24, "dtype %d of %d bits", (int)code, (int)bits);
  return text;
}

int64_t rlx_array_elements(const rlx_array* array) {
  int64_t count = 1;
  for (int32_t i = 0; i < array->ndim; ++i) {
    const int64_t dim = array->dims[i];
    if (dim == 0) return 0;
    if (dim < 0 || count > INT64_MAX / 32 / dim) return -1;
    count *= dim;
  }
  return count;
}

int rlx_array_size(const rlx_array* array, size_t* bytes) {
  const int64_t elements = rlx_array_elements(array);
  const size_t element = rlx_element_bytes(array->code, array->bits);
  if (elements < 0 || (uint64_t)elements > PTRDIFF_MAX / element) return 0;
  *bytes = (size_t)elements * element;
  return 1;
}

int rlx_array_is_valid(const rlx_array* array) {
  if (array->code != RLX_DTYPE_BOOL) return 1;
  const uint8_t* bytes = array->data;
  for (size_t i = 0; i < array->bytes; ++i)
    if (bytes[i] > 1) return 0;
  return 1;
}

/* The whole file, or NULL with errno set. */
static uint8_t* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  uint8_t* bytes = NULL;
  size_t room = 0;
  *size = 0;
  for (;;) {
    if (*size == room) {
      uint8_t* more = room > PTRDIFF_MAX / 2 ? NULL : realloc(bytes, room == 0 ? 1 << 16 : 2 * room);
      if (more == NULL) {
        errno = ENOMEM;
        break;
      }
      bytes = more;
      room = room == 0 ? 1 << 16 : 2 * room;
    }
    const size_t got = fread(bytes + *size, 1, room - *size, file);
    *size += got;
    if (got == 0) {
      if (ferror(file)) break;
      (void)fclose(file);
      return bytes;
    }
  }
  const int why = errno;
  free(bytes);
  (void)fclose(file);
  errno = why;
  return NULL;
}

static int ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

uint64_t rlx_little_endian(const uint8_t* bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

size_t rlx_number_bytes(uint8_t code, uint8_t bits) {
  const size_t element = rlx_element_bytes(code, bits);
  return code == RLX_DTYPE_COMPLEX ? element / 2 : element;
}

/* Files are little-endian, memory is as the machine wants it. */
static void to_native(const rlx_array* array) {
  const size_t size = rlx_number_bytes(array->code, array->bits);
  uint8_t* bytes = array->data;
  if (!RLX_BIG_ENDIAN || size < 2) return;
  for (size_t at = 0; at + size <= array->bytes; at += size)
    for (size_t i = 0; i < size / 2; ++i) {
      const uint8_t byte = bytes[at + i];
      bytes[at + i] = bytes[at + size - 1 - i];
      bytes[at + size - 1 - i] = byte;
    }
}

const char* rlx_array_read(const char* path, const rlx_tensor_spec* wanted, rlx_array* array) {
  static const rlx_array kNone = {0};
  *array = kNone;
  const int npy = ends_with(path, ".npy");
  if (!npy && !ends_with(path, ".pb")) return "the extension selects no format; .npy and .pb can be read";
  size_t size = 0;
  uint8_t* bytes = read_file(path, &size);
  if (bytes == NULL) return strerror(errno);
  const char* why = npy ? rlx_npy_parse(bytes, size, wanted, array) : rlx_tensor_proto_parse(bytes, size, array);
  free(bytes);
  if (why == NULL && !rlx_array_is_valid(array)) why = "it has a bool that is neither 0 nor 1";
  if (why == NULL) to_native(array);
  if (why != NULL) {
    free(array->data);
    array->data = NULL;
  }
  return why;
}
