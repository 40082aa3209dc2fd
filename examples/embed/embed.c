/* Compiles a program that is a text in this file, and writes what comes out: an object and its header. */
#include <relaxc.h>
#include <stdio.h>
#include <string.h>

static const char model[] =
    "@R.function\n"
    "def main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n"
    "    with R.dataflow():\n"
    "        y = R.nn.relu(x)\n"
    "        R.output(y)\n"
    "    return y\n";

/* Writes a file of the result below `folder`. */
static int write_file(const char* folder, const relaxc_file* file) {
  char path[1024];
  FILE* out;
  size_t written;
  snprintf(path, sizeof path, "%s/%s", folder, file->path);
  out = fopen(path, "wb");
  if (out == NULL) return 0;
  written = fwrite(file->bytes, 1, file->size, out);
  if (fclose(out) != 0 || written != file->size) return 0;
  printf("wrote %s\n", file->path);
  return 1;
}

/* Writes all files; prints what is wrong if there are none. */
static int write_result(const char* folder, const relaxc_result* result) {
  size_t i;
  fputs(relaxc_result_text(result), stderr);
  for (i = 0; i < relaxc_result_files(result); ++i) {
    relaxc_file file = {sizeof file, NULL, NULL, 0};
    if (relaxc_result_file(result, i, &file) != RELAXC_OK || !write_file(folder, &file)) return 0;
  }
  return relaxc_result_status(result) == RELAXC_OK;
}

int main(int argc, char** argv) {
  relaxc_request* request = relaxc_request_create();
  relaxc_result* result;
  int done;
  relaxc_request_memory(request, "relu.relax", model, strlen(model));
  relaxc_request_input(request, "relu.relax");
  relaxc_request_option(request, "o", "relu.o");
  relaxc_request_option(request, "dim", "n=1..8");
  result = relaxc_compile(request); /* takes null as well, as all of these functions do */
  done = result != NULL && write_result(argc > 1 ? argv[1] : ".", result);
  relaxc_result_destroy(result);
  relaxc_request_destroy(request);
  return done ? 0 : 1;
}
