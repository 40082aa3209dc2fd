/* main.c: the main program that `relaxc model.onnx -o model` links with a model: it runs the model on files.
 *
 * It knows the model only by its table, to which the linker gives the name rlx_runner_model. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "call.h"
#include "relax_rt_hosted.h"

extern const rlx_model rlx_runner_model;
static const rlx_model* const kModel = &rlx_runner_model;

enum { DONE = 0, INPUT_AT_FAULT = 1, USAGE = 2 };

typedef struct arguments {
  const char *program, *folder, *weights, *function;
  int32_t threads, repeat;
  int num_files;
  char** files;
} arguments;

static void print_dims(FILE* to, const rlx_function* f, const rlx_tensor_spec* spec) {
  (void)fprintf(to, "[");
  for (int32_t i = 0; i < spec->ndim; ++i) {
    const int64_t dim = spec->dims[i];
    (void)fprintf(to, i == 0 ? "" : ", ");
    if (dim >= 0)
      (void)fprintf(to, "%" PRId64, dim);
    else if (dim == INT64_MIN)
      (void)fprintf(to, "?");
    else
      rlx_print_text(to, f->symbols[-1 - dim].name);
  }
  (void)fprintf(to, "]");
}

static void print_specs(const rlx_function* f, const char* role, const rlx_tensor_spec* specs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    char text[24];
    const rlx_tensor_spec* spec = rlx_spec_at(kModel, specs, i);
    (void)printf("  %s ", role);
    rlx_print_text(stdout, spec->name);
    (void)printf(": %s ", rlx_dtype_name(spec->dtype_code, spec->dtype_bits, text));
    print_dims(stdout, f, spec);
    (void)printf("\n");
  }
}

/* Flushes the output, since only then a full disk is noticed; returns the exit code. */
static int printed(void) {
  return fflush(stdout) == 0 && ferror(stdout) == 0 ? DONE : INPUT_AT_FAULT;
}

static int help(const char* program) {
  (void)printf("usage: %s [-o FOLDER] [--function NAME] [--threads N] [--repeat N] [--weights FILE] INPUT …\n\n",
               program);
  (void)printf(
      "Runs the model %s (%s, %s) on .npy or .pb files, in the order of\nits inputs or as NAME=FILE. "
      "-o writes every output to FOLDER/NAME.npy.\n",
      kModel->name, kModel->producer, kModel->target);
  for (uint32_t i = 0; i < kModel->num_functions; ++i) {
    const rlx_function* f = rlx_function_at(kModel, i);
    (void)printf("\n");
    rlx_print_text(stdout, f->name);
    (void)printf("\n");
    print_specs(f, "input ", f->inputs, f->num_inputs);
    print_specs(f, "output", f->outputs, f->num_outputs);
    for (uint32_t s = 0; s < f->num_symbols; ++s) {
      (void)printf("  dim    ");
      rlx_print_text(stdout, f->symbols[s].name);
      (void)printf(": %" PRId64 "..", f->symbols[s].lower);
      if (f->symbols[s].upper != INT64_MAX) (void)printf("%" PRId64, f->symbols[s].upper);
      (void)printf("\n");
    }
    if (f->arena_max != UINT64_MAX)
      (void)printf("  arena  at most %" PRIu64 " bytes\n", f->arena_max);
    else
      (void)printf("  arena  unbounded\n");
    for (uint32_t p = 0; p < f->num_pools; ++p)
      (void)printf("  pool   %s: %" PRIu64 " bytes\n", f->pools[p].name, f->pools[p].bytes);
  }
  return printed();
}

static int usage(const char* program, const char* what, const char* value) {
  (void)fprintf(stderr, "%s: error: %s", program, what);
  rlx_print_text(stderr, value);
  (void)fprintf(stderr, "; --help lists the flags\n");
  return USAGE;
}

/* Returns a number from 1 to 1000000, or 0 if the text is not one. */
static int32_t count_of(const char* text) {
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  return *text != 0 && *end == 0 && value >= 1 && value <= 1000000 ? (int32_t)value : 0;
}

static int parse(int argc, char** argv, arguments* a) {
  for (int i = 1; i < argc; ++i) {
    const char* flag = argv[i];
    const char** text = strcmp(flag, "-o") == 0           ? &a->folder
                        : strcmp(flag, "--weights") == 0  ? &a->weights
                        : strcmp(flag, "--function") == 0 ? &a->function
                                                          : NULL;
    int32_t* number = strcmp(flag, "--threads") == 0 ? &a->threads : strcmp(flag, "--repeat") == 0 ? &a->repeat : NULL;
    if (text == NULL && number == NULL) {
      if (flag[0] == '-') return usage(a->program, "there is no flag ", flag);
      a->files[a->num_files++] = argv[i];
      continue;
    }
    if (i + 1 == argc) return usage(a->program, "no value follows ", flag);
    if (text != NULL) *text = argv[++i];
    if (number != NULL && (*number = count_of(argv[++i])) == 0) return usage(a->program, "no number follows ", flag);
  }
  return DONE;
}

static const rlx_function* find_function(const char* name) {
  if (kModel->num_functions == 0) return NULL;
  for (uint32_t i = 0; i < kModel->num_functions; ++i)
    if (strcmp(rlx_function_at(kModel, i)->name, name == NULL ? "main" : name) == 0) return rlx_function_at(kModel, i);
  return name == NULL ? rlx_function_at(kModel, 0) : NULL;
}

/* Reads all inputs: NAME=FILE if NAME is that of an input, else FILE for the next input without data. */
static int read_inputs(const arguments* a, const rlx_function* f, rlx_array* inputs, char* given) {
  for (int k = 0; k < a->num_files; ++k) {
    const char* path = a->files[k];
    const char* equals = strchr(path, '=');
    uint32_t at = f->num_inputs;
    for (uint32_t i = 0; equals != NULL && i < f->num_inputs; ++i) {
      const char* name = rlx_spec_at(kModel, f->inputs, i)->name;
      if (strlen(name) == (size_t)(equals - path) && strncmp(name, path, strlen(name)) == 0) at = i;
    }
    if (at < f->num_inputs)
      path = equals + 1;
    else
      for (at = 0; at < f->num_inputs && given[at];) ++at;
    if (at == f->num_inputs || given[at]) return usage(a->program, "there is no input left for ", a->files[k]);
    const rlx_tensor_spec* spec = rlx_spec_at(kModel, f->inputs, at);
    const char* why = rlx_array_read(path, spec, &inputs[at]);
    if (why != NULL) {
      (void)fprintf(stderr, "%s: error: cannot read ", a->program);
      rlx_print_text(stderr, path);
      (void)fprintf(stderr, ": %s\n", why);
      return INPUT_AT_FAULT;
    }
    if (inputs[at].code != spec->dtype_code || inputs[at].bits != spec->dtype_bits) {
      char found[24], wanted[24];
      (void)fprintf(stderr, "%s: error: ", a->program);
      rlx_print_text(stderr, path);
      (void)fprintf(stderr, " holds %s, but input '", rlx_dtype_name(inputs[at].code, inputs[at].bits, found));
      rlx_print_text(stderr, spec->name);
      (void)fprintf(stderr, "' is %s\n", rlx_dtype_name(spec->dtype_code, spec->dtype_bits, wanted));
      return INPUT_AT_FAULT;
    }
    given[at] = 1;
  }
  for (uint32_t i = 0; i < f->num_inputs; ++i)
    if (!given[i]) return usage(a->program, "no file is given for input ", rlx_spec_at(kModel, f->inputs, i)->name);
  return DONE;
}

static void print_element(const rlx_array* array, size_t i) {
  const size_t size = rlx_element_bytes(array->code, array->bits);
  const uint8_t* at = (const uint8_t*)array->data + i * size;
  if (array->code == RLX_DTYPE_FLOAT && size == 4) {
    float value;
    memcpy(&value, at, sizeof value);
    (void)printf("%.9g", (double)value);
  } else if (array->code == RLX_DTYPE_FLOAT && size == 8) {
    double value;
    memcpy(&value, at, sizeof value);
    (void)printf("%.17g", value);
  } else if (array->code == RLX_DTYPE_INT && size <= 8) {
    int64_t value = (at[size - 1] & 0x80) != 0 ? -1 : 0;
    memcpy(&value, at, size);
    (void)printf("%" PRId64, value);
  } else if (size <= 8 && (array->code == RLX_DTYPE_UINT || array->code == RLX_DTYPE_BOOL)) {
    uint64_t value = 0;
    memcpy(&value, at, size);
    (void)printf("%" PRIu64, value);
  } else {
    (void)printf("0x");
    for (size_t k = size; k > 0; --k) (void)printf("%02x", at[k - 1]);
  }
}

/* Prints "y: float32 [2, 3] = 1 2 3 4 5 6", with at most eight elements. */
static void print_output(const rlx_tensor_spec* spec, const rlx_array* array) {
  char text[24];
  rlx_print_text(stdout, spec->name);
  (void)printf(": %s [", rlx_dtype_name(array->code, array->bits, text));
  for (int32_t i = 0; i < array->ndim; ++i) (void)printf("%s%" PRId64, i == 0 ? "" : ", ", array->dims[i]);
  (void)printf("] =");
  const size_t count = (size_t)rlx_array_elements(array);
  for (size_t i = 0; i < count && i < 8; ++i) {
    (void)printf(" ");
    print_element(array, i);
  }
  (void)printf(count > 8 ? " …\n" : "\n");
}

/* Returns the character for `c` in the name of a file. */
static char in_file_name(char c) {
  return c == '/' || (unsigned char)c < 0x20 || c == 0x7f ? '_' : c;
}

static int same_file_name(const char* a, const char* b) {
  for (; *a != 0 && in_file_name(*a) == in_file_name(*b); ++a) ++b;
  return *a == 0 && *b == 0;
}

/* Writes FOLDER/NAME.npy; characters that file names cannot have become underscores. If an earlier output has the same
 * file name, the number of the output is appended. */
static int write_output(const arguments* a, const rlx_function* f, uint32_t index, const rlx_array* array) {
  const rlx_tensor_spec* spec = rlx_spec_at(kModel, f->outputs, index);
  int taken = 0;
  for (uint32_t i = 0; i < index; ++i) taken |= same_file_name(spec->name, rlx_spec_at(kModel, f->outputs, i)->name);
  const size_t room = strlen(a->folder) + strlen(spec->name) + 32;
  char* path = malloc(room);
  if (path == NULL) return INPUT_AT_FAULT;
  const int start = snprintf(path, room, "%s/", a->folder);
  const char* name = spec->name;
  if (*name == 0)
    (void)snprintf(path + start, room - (size_t)start, "output_%" PRIu32 ".npy", index);
  else if (taken)
    (void)snprintf(path + start, room - (size_t)start, "%s_%" PRIu32 ".npy", name, index);
  else
    (void)snprintf(path + start, room - (size_t)start, "%s.npy", name);
  for (char* c = path + start; *c != 0; ++c) *c = in_file_name(*c);
  const char* why = rlx_npy_write(path, array);
  if (why != NULL) {
    (void)fprintf(stderr, "%s: error: cannot write ", a->program);
    rlx_print_text(stderr, path);
    (void)fprintf(stderr, ": %s\n", why);
  }
  free(path);
  return why == NULL ? DONE : INPUT_AT_FAULT;
}

/* Maps the weights file of the command line, or the one beside the program. */
static int map_weights(const arguments* a, const rlx_function* f, rlx_context* context) {
  if (kModel->weights_bytes == 0)
    return a->weights == NULL ? DONE : usage(a->program, "the model has no file of ", "weights");
  char* beside = malloc(strlen(a->program) + sizeof ".weights");
  if (beside == NULL) return INPUT_AT_FAULT;
  (void)sprintf(beside, "%s.weights", a->program);
  const int32_t status = rlx_weights_map(a->weights == NULL ? beside : a->weights, kModel, context);
  if (status != RLX_OK) {
    (void)fprintf(stderr, "%s: error: cannot use the weights in %s\n", a->program,
                  a->weights == NULL ? beside : a->weights);
    rlx_explain(kModel, f, status, context->error);
  }
  free(beside);
  return status == RLX_OK ? DONE : INPUT_AT_FAULT;
}

static int run(const arguments* a, const rlx_function* f, rlx_array* inputs, rlx_array* outputs) {
  rlx_error error = {0, -1, -1, -1, -1, 0, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.error = &error;
  context.alloc = rlx_allocate;
  int result = map_weights(a, f, &context);
  if (result != DONE) return result;
  rlx_pool* pool = a->threads > 1 ? rlx_pool_create(a->threads) : NULL;
  if (pool != NULL) rlx_pool_attach(pool, &context);
  int32_t status = RLX_OK;
  for (int32_t i = 0; i < a->repeat && status == RLX_OK; ++i) {
    for (uint32_t k = 0; k < f->num_outputs; ++k) {
      free(outputs[k].data);
      outputs[k].data = NULL;
    }
    status = rlx_call(kModel, f, &context, inputs, outputs);
  }
  rlx_pool_destroy(pool);
  if (status != RLX_OK) rlx_explain(kModel, f, status, &error);
  if (kModel->weights_bytes != 0) rlx_weights_unmap(&context);
  rlx_free_memory(&context);
  return status == RLX_OK ? DONE : INPUT_AT_FAULT;
}

static int run_on_files(const arguments* a, const rlx_function* f) {
  rlx_array* arrays = calloc((size_t)f->num_inputs + f->num_outputs + 1, sizeof *arrays);
  char* given = calloc((size_t)f->num_inputs + 1, 1);
  if (arrays == NULL || given == NULL) return INPUT_AT_FAULT;
  rlx_array* outputs = arrays + f->num_inputs;
  int result = read_inputs(a, f, arrays, given);
  if (result == DONE) result = run(a, f, arrays, outputs);
  if (result == DONE && a->folder != NULL) (void)mkdir(a->folder, 0777);
  for (uint32_t i = 0; result == DONE && i < f->num_outputs; ++i) {
    const rlx_tensor_spec* spec = rlx_spec_at(kModel, f->outputs, i);
    print_output(spec, &outputs[i]);
    if (a->folder != NULL) result = write_output(a, f, i, &outputs[i]);
  }
  for (uint32_t i = 0; i < f->num_inputs + f->num_outputs; ++i) free(arrays[i].data);
  free(arrays);
  free(given);
  return result == DONE ? printed() : result;
}

int main(int argc, char** argv) {
  arguments a = {argv[0], NULL, NULL, NULL, 1, 1, 0, calloc((size_t)argc + 1, sizeof(char*))};
  if (a.files == NULL) return INPUT_AT_FAULT;
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      free(a.files);
      return help(argv[0]);
    }
  int result = parse(argc, argv, &a);
  const rlx_function* f = find_function(a.function);
  if (result == DONE && f == NULL)
    result = usage(a.program, "the model has no function ", a.function == NULL ? "" : a.function);
  if (result == DONE) result = run_on_files(&a, f);
  free(a.files);
  return result;
}
