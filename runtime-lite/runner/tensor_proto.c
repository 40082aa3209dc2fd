/* tensor_proto.c: reads ONNX's TensorProto, as its backend tests store data, from protobuf's wire format. */
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* TensorProto.DataType, by number. */
static const struct {
  uint8_t code, bits;
} kTypes[] = {{0, 0},
              {RLX_DTYPE_FLOAT, 32},
              {RLX_DTYPE_UINT, 8},
              {RLX_DTYPE_INT, 8},
              {RLX_DTYPE_UINT, 16},
              {RLX_DTYPE_INT, 16},
              {RLX_DTYPE_INT, 32},
              {RLX_DTYPE_INT, 64},
              {0, 0}, /* string */
              {RLX_DTYPE_BOOL, 8},
              {RLX_DTYPE_FLOAT, 16},
              {RLX_DTYPE_FLOAT, 64},
              {RLX_DTYPE_UINT, 32},
              {RLX_DTYPE_UINT, 64},
              {RLX_DTYPE_COMPLEX, 64},
              {RLX_DTYPE_COMPLEX, 128},
              {RLX_DTYPE_BFLOAT, 16}};

/* The list that contains elements of a type, one number each or two (complex): its field's number, the wire type of an
 * unpacked number, and the bytes of a number in memory. float16 and similar types are bits in int32_data. */
typedef struct list {
  uint64_t field;
  unsigned wire;
  size_t bytes;
} list;

static list list_of(const rlx_array* array) {
  const int parts = array->code == RLX_DTYPE_COMPLEX, bits = parts ? array->bits / 2 : array->bits;
  const size_t bytes = (size_t)bits / 8;
  const list as_float = {4, 5, bytes}, as_double = {10, 1, bytes}, as_int32 = {5, 0, bytes}, as_int64 = {7, 0, bytes},
             as_uint64 = {11, 0, bytes};
  if (parts || (array->code == RLX_DTYPE_FLOAT && bits >= 32)) return bits == 32 ? as_float : as_double;
  if (array->code == RLX_DTYPE_UINT && bits >= 32) return as_uint64;
  return bits == 64 ? as_int64 : as_int32;
}

typedef struct cursor {
  const uint8_t *at, *end;
} cursor;

/* Reads a varint; returns 1 if it was complete. */
static int varint(cursor* c, uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
    const uint8_t byte = *c->at++;
    *value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return 1;
  }
  return 0;
}

typedef struct field {
  uint64_t number, value; /* value of a varint, or bits of a fixed-size number */
  unsigned wire;
  cursor content; /* of a length-delimited field */
} field;

/* Reads a field; returns 1 if it was complete. */
static int next_field(cursor* c, field* f) {
  uint64_t key = 0, length = 0;
  const field none = {0, 0, 0, {NULL, NULL}};
  *f = none;
  if (!varint(c, &key)) return 0;
  f->number = key >> 3;
  f->wire = (unsigned)(key & 7);
  if (f->wire == 0) return varint(c, &f->value);
  if (f->wire == 1 || f->wire == 5)
    length = f->wire == 1 ? 8 : 4;
  else if (f->wire != 2 || !varint(c, &length))
    return 0;
  if (length > (uint64_t)(c->end - c->at)) return 0;
  f->content.at = c->at;
  f->content.end = c->at += length;
  if (f->wire != 2) {
    f->value = rlx_little_endian(f->content.at, (size_t)length);
  }
  return 1;
}

/* Appends the low `size` bytes of `bits`, at most 8. Returns 0 if there are already as many as the shape says. */
static int append(rlx_array* array, size_t* filled, uint64_t bits, size_t size) {
  if (array->bytes - *filled < size) return 0;
  for (size_t i = 0; i < size; ++i, bits >>= 8) ((uint8_t*)array->data)[(*filled)++] = (uint8_t)bits;
  return 1;
}

/* Appends a list of numbers, packed or a single one. Returns 0 if it is not the list of the type, or does not fit. */
static int append_list(rlx_array* array, size_t* filled, const field* f) {
  const list numbers = list_of(array);
  if (f->number != numbers.field) return 0;
  if (f->wire != 2) return f->wire == numbers.wire && append(array, filled, f->value, numbers.bytes);
  cursor c = f->content;
  while (c.at < c.end) {
    uint64_t value = 0;
    if (numbers.wire != 0) {
      if ((size_t)(c.end - c.at) < numbers.bytes) return 0;
      value = rlx_little_endian(c.at, numbers.bytes);
      c.at += numbers.bytes;
    } else if (!varint(&c, &value)) {
      return 0;
    }
    if (!append(array, filled, value, numbers.bytes)) return 0;
  }
  return 1;
}

static const char* read_head(cursor c, rlx_array* array) {
  uint64_t type = 0;
  field f;
  while (c.at < c.end) {
    if (!next_field(&c, &f)) return "it is not a TensorProto";
    if (f.number == 14 && f.wire == 0 && f.value == 1) return "its data is in another file";
    if (f.number == 2 && f.wire == 0) type = f.value;
    if (f.number != 1) continue;
    if (f.wire != 0 && f.wire != 2) return "it is not a TensorProto";
    cursor dims = f.content;
    uint64_t dim = f.value;
    do {
      if (f.wire == 2 && dims.at == dims.end) break;
      if (f.wire == 2 && !varint(&dims, &dim)) return "it is not a TensorProto";
      if (array->ndim == RLX_MAX_RANK) return "it has more than 32 dims";
      array->dims[array->ndim++] = (int64_t)dim;
    } while (f.wire == 2);
  }
  if (type >= sizeof kTypes / sizeof kTypes[0] || kTypes[type].bits == 0)
    return "its type is not one of those that can be read; .npy has more";
  array->code = kTypes[type].code;
  array->bits = kTypes[type].bits;
  return NULL;
}

const char* rlx_tensor_proto_parse(const uint8_t* bytes, size_t size, rlx_array* array) {
  cursor c = {bytes, bytes + size};
  const char* why = read_head(c, array);
  if (why != NULL) return why;
  if (!rlx_array_size(array, &array->bytes)) return "its size overflows";
  /* An element takes at least one byte in the file, so a small file cannot ask for much memory. */
  if ((uint64_t)rlx_array_elements(array) > size) return "its number of elements does not match its shape";
  array->data = malloc(array->bytes == 0 ? 1 : array->bytes);
  if (array->data == NULL) return "there is no memory for it";
  size_t filled = 0;
  field f;
  int fits = 1;
  while (fits && c.at < c.end) {
    fits = next_field(&c, &f);
    if (!fits) break;
    if (f.number == 9 && f.wire == 2) {
      fits = (size_t)(f.content.end - f.content.at) == array->bytes;
      if (fits) memcpy(array->data, f.content.at, filled = array->bytes);
    } else if (f.number == 4 || f.number == 5 || f.number == 7 || f.number == 10 || f.number == 11) {
      fits = append_list(array, &filled, &f);
    }
  }
  return fits && filled == array->bytes ? NULL : "its number of elements does not match its shape";
}
