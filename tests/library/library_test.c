/* library_test.c: relaxc.h as a program sees it, compiled as C99 and as C++.
 * Usage: library_test RELAXC MODEL.onnx; works in the current folder. */
#define _POSIX_C_SOURCE 200809L
#include <relaxc.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      ++failures;                                                               \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                           \
  } while (0)

static const char relu[] =
    "@R.function\n"
    "def main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n"
    "    with R.dataflow():\n"
    "        y = R.nn.relu(x)\n"
    "        R.output(y)\n"
    "    return y\n";

static const char wrong[] =
    "@R.function\n"
    "def main(x: R.Tensor((2, 4), \"float32\"), y: R.Tensor((2, 3), \"float32\")) -> R.Tensor((2, 4), \"float32\"):\n"
    "    with R.dataflow():\n"
    "        z = R.add(x, y)\n"
    "        R.output(z)\n"
    "    return z\n";

static const char weighted[] =
    "@R.function\n"
    "def main(x: R.Tensor((1, 2), \"float32\"), w: R.Tensor((2,), \"float32\")) -> R.Tensor((1, 2), \"float32\"):\n"
    "    with R.dataflow():\n"
    "        y = R.add(x, w)\n"
    "        R.output(y)\n"
    "    return y\n";

static relaxc_request* request_of(const char* path, const char* text, const char* output) {
  relaxc_request* request = relaxc_request_create();
  CHECK(request != NULL);
  CHECK(relaxc_request_memory(request, path, text, strlen(text)) == RELAXC_OK);
  CHECK(relaxc_request_input(request, path) == RELAXC_OK);
  CHECK(relaxc_request_option(request, "o", output) == RELAXC_OK);
  return request;
}

static relaxc_file file_at(const relaxc_result* result, size_t index) {
  relaxc_file file = {sizeof(relaxc_file), NULL, NULL, 0};
  CHECK(relaxc_result_file(result, index, &file) == RELAXC_OK);
  return file;
}

static relaxc_diagnostic empty_diagnostic(void) {
  relaxc_diagnostic empty;
  memset(&empty, 0, sizeof empty);
  empty.struct_bytes = sizeof empty;
  return empty;
}

static relaxc_diagnostic diagnostic_at(const relaxc_result* result, size_t index) {
  relaxc_diagnostic diagnostic = empty_diagnostic();
  CHECK(relaxc_result_diagnostic(result, index, &diagnostic) == RELAXC_OK);
  return diagnostic;
}

/* The content of a file; the caller frees it. */
static char* content(const char* path, size_t* size) {
  FILE* in = fopen(path, "rb");
  char* bytes;
  long end;
  CHECK(in != NULL);
  if (in == NULL) exit(1);
  fseek(in, 0, SEEK_END);
  end = ftell(in);
  rewind(in);
  bytes = (char*)malloc((size_t)end + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)end, in) != (size_t)end) exit(1);
  bytes[end] = 0;
  fclose(in);
  *size = (size_t)end;
  return bytes;
}

static void write_text(const char* path, const char* text) {
  FILE* out = fopen(path, "wb");
  CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

static int is_file(const char* path) {
  FILE* in = fopen(path, "rb");
  if (in != NULL) fclose(in);
  return in != NULL;
}

/* Whether each file of the result holds what the file of its path holds. */
static void check_same_files(const relaxc_result* result) {
  size_t i;
  for (i = 0; i < relaxc_result_files(result); ++i) {
    relaxc_file file = file_at(result, i);
    size_t size;
    char* bytes = content(file.path, &size);
    CHECK(size == file.size && memcmp(bytes, file.bytes, size) == 0);
    free(bytes);
  }
}

static void test_names(void) {
  CHECK(relaxc_version()[0] >= '0' && relaxc_version()[0] <= '9');
  CHECK(strcmp(relaxc_status_name(RELAXC_CANCELLED), "cancelled") == 0);
  CHECK(strcmp(relaxc_status_name(-1), "unknown") == 0);
}

/* The bytes are the program's, for each form, from memory, and written to files. */
static void test_same_bytes(const char* relaxc, const char* model) {
  static const char* const outputs[] = {"relu.o", "relu.s", "relu.c", "relu.a", "relu.bc", "relu.dot"};
  char command[4096];
  size_t i, size;
  char* bytes = content(model, &size);
  write_text("relu.relax", relu);
  for (i = 0; i < sizeof outputs / sizeof *outputs; ++i) {
    relaxc_request* request = request_of("relu.relax", relu, outputs[i]);
    relaxc_result* result;
    relaxc_request_option(request, "dim", "n=1..8");
    relaxc_request_option(request, "O", "1");
    relaxc_request_option(request, "trace", NULL);
    remove(outputs[i]);
    result = relaxc_compile(request);
    CHECK(relaxc_result_status(result) == RELAXC_OK);
    CHECK(!is_file(outputs[i]));
    CHECK(relaxc_result_files(result) >= 1 && strcmp(file_at(result, 0).path, outputs[i]) == 0);
    snprintf(command, sizeof command, "'%s' relu.relax -o %s --dim n=1..8 -O1 --trace", relaxc, outputs[i]);
    CHECK(system(command) == 0);
    check_same_files(result);
    remove(outputs[i]);
    relaxc_result_destroy(result);
    result = relaxc_compile_to_files(request);
    CHECK(relaxc_result_status(result) == RELAXC_OK && relaxc_result_files(result) == 0 && is_file(outputs[i]));
    relaxc_result_destroy(result);
    relaxc_request_destroy(request);
  }
  {
    relaxc_request* request = relaxc_request_create();
    relaxc_result* result;
    relaxc_request_memory(request, "memory/digits.onnx", bytes, size);
    relaxc_request_input(request, "memory/digits.onnx");
    relaxc_request_option(request, "o", "digits.o");
    relaxc_request_option(request, "manifest", "digits.json");
    result = relaxc_compile(request);
    CHECK(relaxc_result_status(result) == RELAXC_OK && relaxc_result_files(result) == 3);
    snprintf(command, sizeof command, "'%s' '%s' -o digits.o --manifest digits.json", relaxc, model);
    CHECK(system(command) == 0);
    check_same_files(result);
    relaxc_request_destroy(request);
    CHECK(file_at(result, 0).size > 1000); /* it needs the request no more */
    relaxc_result_destroy(result);
  }
  free(bytes);
}

static void test_files_beside_the_input(void) {
  static const char head[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
  unsigned char file[8 + sizeof head - 1 + 8] = {0};
  relaxc_request* request = request_of("weighted.relax", weighted, "weighted.c");
  relaxc_result* result;
  file[0] = (unsigned char)(sizeof head - 1);
  memcpy(file + 8, head, sizeof head - 1);
  relaxc_request_memory(request, "./w.safetensors", file, sizeof file);
  relaxc_request_option(request, "params", "w.safetensors");
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_OK);
  CHECK(strcmp(relaxc_result_text(result), "") == 0);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

static int holds(relaxc_file file, const char* text) {
  size_t length = strlen(text), at;
  for (at = 0; at + length <= file.size; at++)
    if (memcmp((const char*)file.bytes + at, text, length) == 0) return 1;
  return 0;
}

static void test_patterns_from_memory(void) {
  static const char patterns[] = "relaxc external patterns 1\npattern a\n  match add(x, w)\n  call lib_add(x, w)\n";
  static const char unknown[] = "relaxc external patterns 1\npattern a\n  match plus(x, w)\n  call lib_add(x, w)\n";
  relaxc_request* request = request_of("weighted.relax", weighted, "weighted.c");
  relaxc_result* result;
  relaxc_request_memory(request, "lib.txt", patterns, strlen(patterns));
  relaxc_request_option(request, "external-patterns", "lib.txt");
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_OK);
  CHECK(holds(file_at(result, 0), "lib_add("));
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);

  request = request_of("weighted.relax", weighted, "weighted.c");
  relaxc_request_memory(request, "lib.txt", unknown, strlen(unknown));
  relaxc_request_option(request, "external-patterns", "lib.txt");
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_REFUSED);
  CHECK(strcmp(diagnostic_at(result, 0).file, "lib.txt") == 0 && diagnostic_at(result, 0).line == 3);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

static void test_errors(void) {
  relaxc_request* request = request_of("wrong.relax", wrong, "wrong.o");
  relaxc_result* result = relaxc_compile(request);
  relaxc_diagnostic found;
  CHECK(relaxc_result_status(result) == RELAXC_REFUSED && relaxc_result_files(result) == 0);
  CHECK(relaxc_result_diagnostics(result) == 1);
  found = diagnostic_at(result, 0);
  CHECK(found.severity == RELAXC_ERROR && strcmp(found.kind, "shape_mismatch") == 0);
  CHECK(strcmp(found.file, "wrong.relax") == 0 && found.line == 4 && found.column > 1);
  CHECK(found.message[0] != 0 && strcmp(found.node, "") == 0 && found.opset == 0);
  CHECK(strstr(relaxc_result_text(result), "wrong.relax:4:") != NULL);
  CHECK(strchr(relaxc_result_text(result), '^') != NULL);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);

  request = request_of("m.onnx", "no model", "m.o");
  result = relaxc_compile(request);
  found = diagnostic_at(result, 0);
  CHECK(relaxc_result_status(result) == RELAXC_REFUSED);
  CHECK(strcmp(found.kind, "malformed_model") == 0 && strcmp(found.file, "m.onnx") == 0 && found.notes == 1);
  found = empty_diagnostic();
  CHECK(relaxc_result_note(result, 0, 0, &found) == RELAXC_OK);
  CHECK(found.severity == RELAXC_NOTE && strstr(found.message, "text file") != NULL && found.notes == 0);
  CHECK(relaxc_result_note(result, 0, 1, &found) == RELAXC_BAD_ARGUMENT);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

static void check_usage(const char* option, const char* value, const char* text) {
  relaxc_request* request = request_of("relu.relax", relu, "relu.o");
  relaxc_result* result;
  CHECK(relaxc_request_option(request, option, value) == RELAXC_OK);
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_USAGE);
  CHECK(strstr(diagnostic_at(result, 0).message, text) != NULL);
  CHECK(strcmp(diagnostic_at(result, 0).kind, "usage") == 0);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

static void test_options(void) {
  relaxc_request* request = relaxc_request_create();
  relaxc_result* result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_USAGE);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
  check_usage("no-such-flag", NULL, "no-such-flag");
  check_usage("dim", "n", "NAME=RANGE");
  check_usage("O", "7", "7");
  check_usage("time-limit", "1", "time-limit"); /* the program's own */
  check_usage("help", NULL, "help");
  check_usage("stop-after", "fuse_ops", "stop-after");
}

/* The same flag refuses the same as in the program. */
static void test_untrusted(void) {
  relaxc_request* request = request_of("relu.relax", relu, "relu.o");
  relaxc_result* result;
  relaxc_request_option(request, "untrusted", NULL);
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) != RELAXC_OK && relaxc_result_files(result) == 0);
  CHECK(strstr(diagnostic_at(result, 0).message, "--untrusted refuses text programs") != NULL);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

/* What the program would print is a remark. */
static void test_remarks(void) {
  relaxc_request* request = request_of("relu.relax", relu, "relu.o");
  relaxc_result* result;
  relaxc_request_option(request, "pass-statistics", NULL);
  result = relaxc_compile(request);
  CHECK(relaxc_result_status(result) == RELAXC_OK && relaxc_result_diagnostics(result) == 1);
  CHECK(diagnostic_at(result, 0).severity == RELAXC_REMARK);
  CHECK(strstr(diagnostic_at(result, 0).message, "kernels") != NULL);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

static void test_bad_arguments(void) {
  relaxc_request* request = request_of("relu.relax", relu, "relu.c");
  relaxc_result* result = relaxc_compile(request);
  relaxc_file file = {sizeof file, NULL, NULL, 0};
  relaxc_diagnostic diagnostic = empty_diagnostic();
  CHECK(relaxc_compile(NULL) == NULL && relaxc_compile_to_files(NULL) == NULL);
  relaxc_request_destroy(NULL);
  relaxc_result_destroy(NULL);
  CHECK(relaxc_request_input(NULL, "a") == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_input(request, NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_input(request, "") == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_memory(request, "a", NULL, 1) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_memory(request, NULL, "", 0) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_option(request, NULL, NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_option(request, "", NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_option(request, "--dim", "n=1") == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_option(request, "dim=n=1 --trace", NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_watch(NULL, NULL, NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_request_cancel(NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_status(NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_files(NULL) == 0 && relaxc_result_diagnostics(NULL) == 0);
  CHECK(strcmp(relaxc_result_text(NULL), "") == 0);
  CHECK(relaxc_result_status(result) == RELAXC_OK);
  CHECK(relaxc_result_file(result, relaxc_result_files(result), &file) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_file(result, (size_t)-1, &file) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_file(result, 0, NULL) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_diagnostic(result, 0, &diagnostic) == RELAXC_BAD_ARGUMENT);
  CHECK(relaxc_result_note(result, 0, 0, &diagnostic) == RELAXC_BAD_ARGUMENT);
  CHECK(file.path == NULL && file.bytes == NULL);
  /* A caller that knows less of a record gets less; the rest of its memory stays. */
  file.struct_bytes = 0;
  CHECK(relaxc_result_file(result, 0, &file) == RELAXC_BAD_ARGUMENT);
  file.struct_bytes = offsetof(relaxc_file, bytes);
  CHECK(relaxc_result_file(result, 0, &file) == RELAXC_OK);
  CHECK(strcmp(file.path, "relu.c") == 0 && file.bytes == NULL && file.size == 0);
  /* One that knows more than there is keeps what it has. */
  file.struct_bytes = sizeof file + 64;
  CHECK(relaxc_result_file(result, 0, &file) == RELAXC_OK && file.size != 0);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
}

struct watching {
  relaxc_request* request;
  int calls, end_at; /* end_at: the call that says no */
  int generating;    /* calls while code is generated */
  pthread_t other;   /* cancels at call end_at, and is waited for */
};

static int count(void* user, const char* what) {
  struct watching* watching = (struct watching*)user;
  CHECK(what != NULL && *what != 0);
  watching->generating += strcmp(what, "generating code") == 0;
  return ++watching->calls == watching->end_at;
}

static void* cancel(void* request) {
  CHECK(relaxc_request_cancel((relaxc_request*)request) == RELAXC_OK);
  return NULL;
}

static int cancel_elsewhere(void* user, const char* what) {
  struct watching* watching = (struct watching*)user;
  (void)what;
  if (++watching->calls != watching->end_at) return 0;
  CHECK(pthread_create(&watching->other, NULL, cancel, watching->request) == 0);
  CHECK(pthread_join(watching->other, NULL) == 0);
  return 0;
}

static int status_of_watched(relaxc_request* request, relaxc_watcher watcher, struct watching* watching) {
  relaxc_result* result;
  int status;
  relaxc_request_watch(request, watcher, watching);
  result = relaxc_compile(request);
  status = relaxc_result_status(result);
  if (status != RELAXC_OK) {
    CHECK(relaxc_result_files(result) == 0);
    CHECK(strcmp(diagnostic_at(result, 0).kind, "cancelled") == 0);
  }
  relaxc_result_destroy(result);
  return status;
}

static void test_cancel(void) {
  relaxc_request* request = request_of("relu.relax", relu, "relu.o");
  struct watching watching;
  int all, at;
  memset(&watching, 0, sizeof watching);
  watching.request = request;
  CHECK(status_of_watched(request, count, &watching) == RELAXC_OK);
  CHECK(watching.calls > 10 && watching.generating > 0);
  all = watching.calls;
  for (at = 1; at <= all; at += all / 5) { /* the watcher's answer is for this compilation alone */
    watching.calls = 0, watching.end_at = at;
    CHECK(status_of_watched(request, count, &watching) == RELAXC_CANCELLED);
    CHECK(watching.calls == at);
  }
  CHECK(status_of_watched(request, NULL, NULL) == RELAXC_OK);
  watching.calls = 0, watching.end_at = all / 2;
  CHECK(status_of_watched(request, cancel_elsewhere, &watching) == RELAXC_CANCELLED);
  CHECK(status_of_watched(request, NULL, NULL) == RELAXC_CANCELLED); /* it stays cancelled */
  relaxc_request_destroy(request);
}

struct job {
  const relaxc_request* request;
  relaxc_result* result;
};

static void* compile_job(void* job) {
  ((struct job*)job)->result = relaxc_compile(((struct job*)job)->request);
  return NULL;
}

/* Two compilations of one request and one of another at once: nothing of one is in another. */
static void test_threads(void) {
  relaxc_request *good = request_of("relu.relax", relu, "relu.o"), *bad = request_of("wrong.relax", wrong, "wrong.o");
  struct job jobs[3];
  pthread_t threads[3];
  relaxc_result* alone = relaxc_compile(good);
  size_t i;
  for (i = 0; i < 3; ++i) {
    jobs[i].request = i < 2 ? good : bad;
    CHECK(pthread_create(&threads[i], NULL, compile_job, &jobs[i]) == 0);
  }
  for (i = 0; i < 3; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  for (i = 0; i < 2; ++i) {
    relaxc_file one = file_at(jobs[i].result, 0), other = file_at(alone, 0);
    CHECK(one.size == other.size && memcmp(one.bytes, other.bytes, one.size) == 0);
    CHECK(relaxc_result_diagnostics(jobs[i].result) == 0);
  }
  CHECK(relaxc_result_status(jobs[2].result) == RELAXC_REFUSED);
  for (i = 0; i < 3; ++i) relaxc_result_destroy(jobs[i].result);
  relaxc_result_destroy(alone);
  relaxc_request_destroy(good);
  relaxc_request_destroy(bad);
}

static void test_signals(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGSEGV, SIGALRM, SIGXFSZ, SIGPIPE};
  struct sigaction before[8], after;
  size_t i;
  relaxc_request* request = request_of("relu.relax", relu, "relu.a");
  for (i = 0; i < 8; ++i) sigaction(signals[i], NULL, &before[i]);
  relaxc_result_destroy(relaxc_compile(request));
  relaxc_result_destroy(relaxc_compile_to_files(request));
  for (i = 0; i < 8; ++i) {
    sigaction(signals[i], NULL, &after);
    CHECK(after.sa_handler == before[i].sa_handler);
  }
  relaxc_request_destroy(request);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  test_names();
  test_same_bytes(argv[1], argv[2]);
  test_files_beside_the_input();
  test_patterns_from_memory();
  test_errors();
  test_options();
  test_untrusted();
  test_remarks();
  test_bad_arguments();
  test_cancel();
  test_threads();
  test_signals();
  return failures == 0 ? 0 : 1;
}
