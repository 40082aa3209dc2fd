/* relaxc.h: the compiler as a library, for C99 and C++.
 *
 * A request says what to compile, relaxc_compile() compiles it, and a result holds the output bytes and the messages.
 * Options are the flags of the program without their dashes; docs/command-line.md describes them.
 * docs/embed-the-compiler.md has example programs.
 *
 * The library keeps no global state, handles no signal and prints nothing; only programs that some options start (the
 * linker of a shared library) may print. Requests and results are independent of each other: any number of threads may
 * compile at once, each with a stack as deep as a main thread's (8 MB). Functions do not throw.
 *
 * ABI: functions and constants stay as they are within one major version. Records grow only at their ends; their first
 * field says how many bytes the caller knows of, and the library fills no more. */
#ifndef RELAXC_H
#define RELAXC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a compilation, and what the functions below return. The first three are the program's exit codes.
 */
enum {
  RELAXC_OK = 0,
  RELAXC_REFUSED = 1,   /* the program that was read is invalid, or a file cannot be read or written */
  RELAXC_USAGE = 2,     /* the options are invalid */
  RELAXC_CANCELLED = 3, /* relaxc_request_cancel() or the watcher cancelled it */
  RELAXC_NO_MEMORY = 4,
  RELAXC_BAD_ARGUMENT = 5, /* a null pointer, an index out of range, a record that is too small */
  RELAXC_INTERNAL = 70     /* an error in relaxc itself; please report it */
};

/* The severity of a message. */
enum {
  RELAXC_ERROR = 0,
  RELAXC_WARNING = 1,
  RELAXC_REMARK = 2, /* information, and what options such as print-after print */
  RELAXC_NOTE = 3    /* belongs to the message before it */
};

/* Returns the version of the library, such as "0.1.0". */
const char* relaxc_version(void);

/* Returns a word for a status, such as "refused"; "unknown" for other numbers. */
const char* relaxc_status_name(int status);

/* ---- what to compile ---- */

typedef struct relaxc_request relaxc_request;

/* Returns null if there is not enough memory. */
relaxc_request* relaxc_request_create(void);
/* Accepts null. No compilation of the request may be running. */
void relaxc_request_destroy(relaxc_request* request);

/* Adds a file to compile: an ONNX model (.onnx), a TFLite model (.tflite, or recognized by its content) or a program in
 * the text IR. Several models become functions of one object. */
int relaxc_request_input(relaxc_request* request, const char* path);

/* Gives the contents of `path`, which is then read from memory and need not exist. This works for inputs, for files of
 * the options params, custom-op and external-patterns, and for files that a model or a program refers to (external
 * data, relaxc.load_params): those by the model's folder joined with their path relative to it. The bytes are not
 * copied; they must stay valid and unchanged until the request is destroyed. */
int relaxc_request_memory(relaxc_request* request, const char* path, const void* bytes, size_t size);

/* Adds an option: a flag of the program without its dashes, with its value, or null if it takes none: ("dim",
 * "n=1..12"), ("O", "3"), ("trace", NULL), ("W", "error"). "o" names the output, whose extension selects the format.
 * relaxc_compile() reports unknown flags, and flags that only the program has (check, time-limit, max-memory,
 * print-target, …), as errors. */
int relaxc_request_option(relaxc_request* request, const char* name, const char* value);

/* A callback that relaxc_compile() calls from time to time, in its thread, with the current step ("after fuse_ops").
 * Any result other than zero cancels this compilation. */
typedef int (*relaxc_watcher)(void* user, const char* what);
/* Sets the watcher; null removes it. */
int relaxc_request_watch(relaxc_request* request, relaxc_watcher watcher, void* user);

/* Cancels all compilations of the request, running and later ones. May be called from any thread. A compilation ends at
 * the next pass, or at the next piece of generated code. */
int relaxc_request_cancel(relaxc_request* request);

/* ---- compiling ---- */

typedef struct relaxc_result relaxc_result;

/* Compiles into memory; no file is written. Returns null only if the request is null or there is no memory for a
 * result. A request may be compiled again, also by several threads at once; only cancelling may change it then. */
relaxc_result* relaxc_compile(const relaxc_request* request);
/* Same, but writes all files to their paths, or none, as the program does. The result then holds no files. */
relaxc_result* relaxc_compile_to_files(const relaxc_request* request);

/* Accepts null. Frees everything that the result gave pointers to. The request may have been destroyed before. */
void relaxc_result_destroy(relaxc_result* result);

/* Returns RELAXC_OK, or the reason why there are no files. */
int relaxc_result_status(const relaxc_result* result);

/* ---- files ---- */

typedef struct relaxc_file {
  size_t struct_bytes; /* the caller's sizeof(relaxc_file) */
  const char* path;    /* where the program would write it: "digits.o", "digits.h" */
  const void* bytes;   /* never null */
  size_t size;
} relaxc_file;

/* Returns the number of files; the first is the output. A library for Windows also has an import library. */
size_t relaxc_result_files(const relaxc_result* result);
/* Fills the record for file `index`, or returns RELAXC_BAD_ARGUMENT. */
int relaxc_result_file(const relaxc_result* result, size_t index, relaxc_file* file);

/* ---- messages ---- */

/* Texts are never null; a text that does not apply is empty. Names from a model may contain any bytes except zero. */
typedef struct relaxc_diagnostic {
  size_t struct_bytes; /* the caller's sizeof(relaxc_diagnostic) */
  int32_t severity;
  uint32_t line;       /* of a text program, from 1; 0 if there is none */
  uint32_t column;     /* in bytes, from 1; 0 if there is none */
  uint32_t notes;      /* number of notes for relaxc_result_note() */
  const char* kind;    /* "shape_mismatch", "usage" …, as --check=json names them; "remark", "note", "internal" */
  const char* message; /* one sentence in lower case */
  const char* file;
  const char* node; /* name of the node in a model */
  const char* op;   /* operator of the node */
  int64_t opset;    /* opset version of the operator's domain; 0 if there is none */
} relaxc_diagnostic;

/* Returns the number of messages. They are in the order of reporting, with remarks at the end. */
size_t relaxc_result_diagnostics(const relaxc_result* result);
/* Fills the record for message `index`. */
int relaxc_result_diagnostic(const relaxc_result* result, size_t index, relaxc_diagnostic* diagnostic);
/* Fills the record for a note of message `index`. */
int relaxc_result_note(const relaxc_result* result, size_t index, size_t note, relaxc_diagnostic* diagnostic);

/* Returns errors and warnings as the program prints them, with source lines and carets. */
const char* relaxc_result_text(const relaxc_result* result);

#ifdef __cplusplus
}
#endif

#endif
