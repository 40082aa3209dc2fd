/* angles_main.c: runs the model `m` on a file of elements and writes its three outputs behind each other, NaN as one
 * pattern of bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "m.h"

static void* claim(size_t bytes) {
  void* memory = calloc(1, bytes + 64);
  if (memory == NULL) exit(3);
  return (char*)memory + (64 - (size_t)memory % 64);
}

/* Which pattern a NaN has is the CPU's affair. */
static void unify(unsigned char* data, size_t bytes, const rlx_tensor_spec* spec) {
  const unsigned bits = spec->dtype_bits;
  const unsigned digits = bits == 64 ? 52 : bits == 32 ? 23 : spec->dtype_code == RLX_DTYPE_BFLOAT ? 7 : 10;
  const uint64_t all = (UINT64_C(1) << (bits - 1)) - 1, infinity = all >> digits << digits;
  for (size_t at = 0; at < bytes; at += bits / 8) {
    uint16_t half;
    uint32_t single;
    uint64_t value;
    memcpy(&half, data + at, 2);
    memcpy(&single, data + at, bits >= 32 ? 4 : 2);
    memcpy(&value, data + at, bits == 64 ? 8 : 2);
    if (bits < 64) value = bits == 32 ? single : half;
    if ((value & all) > infinity) memset(data + at, 255, bits / 8);
  }
}

int main(int argc, char** argv) {
  const rlx_function* f = &m_model.functions[0];
  const size_t size = f->inputs[0].dtype_bits / 8u;
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return 4;
  (void)fseek(file, 0, SEEK_END);
  const size_t bytes = (size_t)ftell(file);
  rewind(file);
  int64_t shape[4][1], count = (int64_t)(bytes / size);
  rlx_tensor tensors[4];
  memset(tensors, 0, sizeof tensors);
  for (int i = 0; i < 4; i++) {
    shape[i][0] = count;
    tensors[i].data = claim(bytes);
    tensors[i].device_type = RLX_DEVICE_CPU;
    tensors[i].ndim = 1;
    tensors[i].dtype_code = f->inputs[0].dtype_code;
    tensors[i].dtype_bits = f->inputs[0].dtype_bits;
    tensors[i].dtype_lanes = 1;
    tensors[i].shape = shape[i];
  }
  if (fread(tensors[0].data, 1, bytes, file) != bytes) return 5;
  (void)fclose(file);
  int64_t symbols[4] = {count};
  uint64_t arena = 0;
  rlx_error error;
  rlx_context context = RLX_CONTEXT_INIT;
  if (f->bind(NULL, tensors, 1, symbols, &error) != RLX_OK || f->arena_bytes(symbols, &arena) != RLX_OK) return 6;
  context.arena = claim((size_t)arena + 1);
  context.arena_bytes = arena;
  context.error = &error;
  if (f->run(&context, tensors, 1, tensors + 1, 3) != RLX_OK) return 7;
  file = fopen(argv[2], "wb");
  if (file == NULL) return 8;
  for (int i = 1; i < 4; i++) unify(tensors[i].data, bytes, &f->outputs[i - 1]);
  for (int i = 1; i < 4; i++)
    if (fwrite(tensors[i].data, 1, bytes, file) != bytes) return 9;
  return fclose(file) == 0 ? 0 : 10;
}
