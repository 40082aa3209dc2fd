/* start_onnxruntime.c: a program that does nothing but load a model into ONNX Runtime, run it once and print a number:
 * what start.py holds against the program that relaxc writes.
 *
 * usage: start_onnxruntime LIBRARY MODEL OUTPUT [NAME TYPE BYTES.bin RANK DIM …] …
 *
 * The Python package ships the library and no header, so the functions are taken from the table of the C API by their
 * places, which never change (new functions are added behind). TYPE: a number of ONNXTensorElementDataType. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  kApiVersion = 12,
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithData = 49,
  kGetTensorMutableData = 51,
  kCreateCpuMemoryInfo = 69,
  kMostInputs = 64,
  kMostDims = 16
};

typedef void (*function)(void);
typedef struct api_base {
  const function* (*get_api)(uint32_t version);
} api_base;

static const function* api;

static void check(void* status) {
  if (status == NULL) return;
  const char* (*message)(const void*) = (const char* (*)(const void*))api[kGetErrorMessage];
  (void)fprintf(stderr, "%s\n", message(status));
  exit(1);
}

static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(1);
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*bytes + 1);
  if (data == NULL || fread(data, 1, *bytes, file) != *bytes) exit(1);
  (void)fclose(file);
  return data;
}

int main(int argc, char** argv) {
  void* library = argc > 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  const api_base* (*base)(void) = library ? (const api_base* (*)(void))dlsym(library, "OrtGetApiBase") : NULL;
  if (base == NULL) return 2;
  api = base()->get_api(kApiVersion);
  void *environment, *options, *session, *memory, *inputs[kMostInputs], *output = NULL;
  const char* names[kMostInputs];
  check(((void* (*)(int, const char*, void**))api[kCreateEnv])(3, "start", &environment));
  check(((void* (*)(void**))api[kCreateSessionOptions])(&options));
  check(((void* (*)(void*, int))api[kSetIntraOpNumThreads])(options, 1));
  check(((void* (*)(void*, const char*, void*, void**))api[kCreateSession])(environment, argv[2], options, &session));
  check(((void* (*)(int, int, void**))api[kCreateCpuMemoryInfo])(0, 0, &memory));
  size_t count = 0;
  for (int at = 4; at + 4 <= argc && count < kMostInputs; ++count) {
    names[count] = argv[at];
    int type = atoi(argv[at + 1]), rank = atoi(argv[at + 3]);
    size_t bytes = 0;
    void* data = read_file(argv[at + 2], &bytes);
    int64_t dims[kMostDims];
    for (int i = 0; i < rank && i < kMostDims; ++i) dims[i] = atoll(argv[at + 4 + i]);
    check(((void* (*)(void*, void*, size_t, const int64_t*, size_t, int, void**))api[kCreateTensorWithData])(
        memory, data, bytes, dims, (size_t)rank, type, &inputs[count]));
    at += 4 + rank;
  }
  const char* wanted[] = {argv[3]};
  check(((void* (*)(void*, void*, const char* const*, void**, size_t, const char* const*, size_t, void**))api[kRun])(
      session, NULL, names, inputs, count, wanted, 1, &output));
  float* result = NULL;
  check(((void* (*)(void*, void**))api[kGetTensorMutableData])(output, (void**)&result));
  (void)printf("%g\n", (double)result[0]);
  (void)fflush(stdout);
  _Exit(0); /* the answer is there; taking ONNX Runtime down is not what is measured */
}
