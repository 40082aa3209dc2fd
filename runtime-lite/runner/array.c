/* array.c: reads tensors from files: selects the format, and what both formats share.
 *
 * Files are not trusted: a file must be a regular one, and no memory is allocated for elements before its head agrees
 * with its size. */
#define _XOPEN_SOURCE 700

#include "array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const kNoMemory = "there is no memory for it";

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

/* Reads `size` bytes from the current position; returns NULL, or an error. */
static const char* read_bytes(int file, void* bytes, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t got = read(file, (uint8_t*)bytes + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return strerror(errno);
    if (got == 0) return "it became shorter while it was read";
    at += (size_t)got;
  }
  return NULL;
}

/* Returns whether there are more elements than the tensor can have, so that no memory should be allocated. */
static int is_too_large(const rlx_tensor_spec* wanted, const rlx_array* array) {
  enum { kSmall = 1 << 24 }; /* bytes; below that, a guard of the model reports the size more precisely */
  int64_t room = 1;
  for (int32_t i = 0; i < wanted->ndim; ++i) {
    const int64_t dim = wanted->dims[i];
    if (dim < 0) return 0;
    room = dim != 0 && room > INT64_MAX / dim ? INT64_MAX : room * dim;
  }
  return array->bytes > kSmall && rlx_array_elements(array) > room;
}

static const char* read_npy(int file, uint64_t size, const rlx_tensor_spec* wanted, rlx_array* array) {
  enum { kLongestHead = (1 << 16) + 12 }; /* NumPy reads heads of 10,000 bytes */
  const size_t beginning = size < kLongestHead ? (size_t)size : kLongestHead;
  uint8_t* bytes = malloc(kLongestHead);
  if (bytes == NULL) return kNoMemory;
  const char* why = read_bytes(file, bytes, beginning);
  size_t head = 0;
  if (why == NULL) why = rlx_npy_parse_head(bytes, beginning, size, wanted, array, &head);
  if (why == NULL && is_too_large(wanted, array)) why = "it has more elements than the tensor";
  if (why == NULL && (array->data = malloc(array->bytes == 0 ? 1 : array->bytes)) == NULL) why = kNoMemory;
  if (why == NULL) {
    const size_t there = beginning - head < array->bytes ? beginning - head : array->bytes;
    memcpy(array->data, bytes + head, there);
    why = read_bytes(file, (uint8_t*)array->data + there, array->bytes - there);
  }
  free(bytes);
  return why;
}

static const char* read_tensor_proto(int file, uint64_t size, rlx_array* array) {
  if (size > INT32_MAX) return "it has more than 2 GiB, which no protobuf has";
  uint8_t* bytes = malloc(size == 0 ? 1 : (size_t)size);
  if (bytes == NULL) return kNoMemory;
  const char* why = read_bytes(file, bytes, (size_t)size);
  if (why == NULL) why = rlx_tensor_proto_parse(bytes, (size_t)size, array);
  free(bytes);
  return why;
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

/* Converts from little-endian, which files are, to the byte order of the machine. */
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
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe would wait */
  if (file < 0) return strerror(errno);
  struct stat status;
  const char* why = fstat(file, &status) != 0  ? strerror(errno)
                    : !S_ISREG(status.st_mode) ? "it is not a regular file"
                    : npy                      ? read_npy(file, (uint64_t)status.st_size, wanted, array)
                                               : read_tensor_proto(file, (uint64_t)status.st_size, array);
  (void)close(file);
  if (why == NULL && !rlx_array_is_valid(array)) why = "it has a bool that is neither 0 nor 1";
  if (why == NULL) to_native(array);
  if (why != NULL) {
    free(array->data);
    array->data = NULL;
  }
  return why;
}
