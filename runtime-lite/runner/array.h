/* array.h: reads tensors from NumPy's .npy and ONNX's TensorProto (.pb) files, and writes .npy. */
#ifndef RLX_RUNNER_ARRAY_H
#define RLX_RUNNER_ARRAY_H

#include <stdio.h>

#include "rlx_internal.h"

#define RLX_MAX_RANK 32

/* A compact row-major tensor that owns its memory. */
typedef struct rlx_array {
  uint8_t code, bits; /* DLPack's code and width */
  int32_t ndim;
  int64_t dims[RLX_MAX_RANK];
  void* data;
  size_t bytes;
} rlx_array;

/* Returns the bytes of an element in memory; elements of fewer than 8 bits take one byte each. */
size_t rlx_element_bytes(uint8_t code, uint8_t bits);
/* Returns "float32", "int8", "bool" …; `text` must have room for 24 characters. */
const char* rlx_dtype_name(uint8_t code, uint8_t bits, char* text);
/* Returns the bytes of one number; a complex element is two numbers. */
size_t rlx_number_bytes(uint8_t code, uint8_t bits);
/* Returns the number in up to 8 little-endian bytes. */
uint64_t rlx_little_endian(const uint8_t* bytes, size_t size);
/* Returns the number of elements, or -1 if it or the number of bytes overflows. */
int64_t rlx_array_elements(const rlx_array* array);
/* Sets the bytes of all elements; returns 0 if they are more than memory can have, else 1. */
int rlx_array_size(const rlx_array* array, size_t* bytes);
/* Returns whether all elements are valid for their type: a bool must be 0 or 1. */
int rlx_array_is_valid(const rlx_array* array);

/* Reads a file in the format of its extension, .npy or .pb. Returns NULL, or an error (a sentence without the file's
 * name, valid until the next call). The caller frees `array->data`. If a .npy has numbers that NumPy has no type for
 * ('V2'), they get the dtype of `wanted` if the sizes agree. */
const char* rlx_array_read(const char* path, const rlx_tensor_spec* wanted, rlx_array* array);
/* Writes a .npy. Returns NULL, or an error. */
const char* rlx_npy_write(const char* path, const rlx_array* array);

/* Parse the two formats; `bytes` is the whole file. Elements are left little-endian. */
const char* rlx_npy_parse(const uint8_t* bytes, size_t size, const rlx_tensor_spec* wanted, rlx_array* array);
/* Parses the head of a .npy: `bytes` are the first `size` of its `total` bytes. Sets the type, dims and size in bytes
 * of `array`, and the length `head` of the head; elements must take all bytes after it. Allocates no memory. */
const char* rlx_npy_parse_head(const uint8_t* bytes, size_t size, uint64_t total, const rlx_tensor_spec* wanted,
                               rlx_array* array, size_t* head);
const char* rlx_tensor_proto_parse(const uint8_t* bytes, size_t size, rlx_array* array);

#endif
