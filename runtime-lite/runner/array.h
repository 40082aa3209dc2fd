/* array.h: tensors in files: NumPy's .npy and ONNX's TensorProto (.pb), read to what a model's table wants. */
#ifndef RLX_RUNNER_ARRAY_H
#define RLX_RUNNER_ARRAY_H

#include <stdio.h>

#include "rlx_internal.h"

#define RLX_MAX_RANK 32

/* One tensor with memory of its own; compact and row-major. */
typedef struct rlx_array {
  uint8_t code, bits; /* DLPack's */
  int32_t ndim;
  int64_t dims[RLX_MAX_RANK];
  void* data;
  size_t bytes;
} rlx_array;

/* Bytes of one element in memory: those of fewer than 8 bits have one each. */
size_t rlx_element_bytes(uint8_t code, uint8_t bits);
/* "float32", "int8", "bool" …; `text` has room for 24 characters. */
const char* rlx_dtype_name(uint8_t code, uint8_t bits, char* text);
/* Bytes of one number: a complex element is two. */
size_t rlx_number_bytes(uint8_t code, uint8_t bits);
/* The number that up to 8 bytes of a file are. */
uint64_t rlx_little_endian(const uint8_t* bytes, size_t size);
/* The number of elements, or -1 if it or its bytes overflow. */
int64_t rlx_array_elements(const rlx_array* array);
/* The bytes of all elements; 0 if they are more than memory can have, else 1. */
int rlx_array_size(const rlx_array* array, size_t* bytes);
/* Whether all elements are values of the type: a bool is 0 or 1. */
int rlx_array_is_valid(const rlx_array* array);

/* Reads a file by its extension, .npy or .pb. NULL, or why it cannot be (a sentence without the file's name, valid
 * until the next call). The caller frees `array->data`. A .npy of numbers that NumPy has no type for ('V2') has the
 * code of `wanted` if the sizes agree. */
const char* rlx_array_read(const char* path, const rlx_tensor_spec* wanted, rlx_array* array);
/* Writes a .npy. NULL or why not. */
const char* rlx_npy_write(const char* path, const rlx_array* array);

/* The two forms; `bytes` is the whole file. The elements are left little-endian. */
const char* rlx_npy_parse(const uint8_t* bytes, size_t size, const rlx_tensor_spec* wanted, rlx_array* array);
/* The head of a .npy: `bytes` are the first `size` of `total` bytes. `array` gets type, dims and the number of bytes
 * that its elements take, all that are behind the `head` bytes of the head; no memory is taken for them. */
const char* rlx_npy_parse_head(const uint8_t* bytes, size_t size, uint64_t total, const rlx_tensor_spec* wanted,
                               rlx_array* array, size_t* head);
const char* rlx_tensor_proto_parse(const uint8_t* bytes, size_t size, rlx_array* array);

#endif
