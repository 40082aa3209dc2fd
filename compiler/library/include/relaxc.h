/* relaxc.h: the compiler as a library, for C99 and C++.
 *
 * A request says what to compile, relaxc_compile() compiles it, and a result holds the bytes and the messages. Options
 * are the flags of the program without their dashes, so docs/command-line.md describes them. docs/embed-the-compiler.md
 * shows programs.
 *
 * The library keeps no state of its own, handles no signal and prints nothing; only what it starts for options that say
 * so (the linker of a shared library) may print. Requests and results are independent of each other: any number of
 * threads may compile at once, each as deep a stack as a main thread's (8 MB). Functions do not throw.
 *
 * ABI: functions and constants stay as they are within one major version. Records grow at their ends only; their first
 * field says how many bytes the caller knows of, and the library fills no more. */
#ifndef RELAXC_H
#define RELAXC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a compilation came to, and what the functions below return. The first three are the exit codes of the program.
 */
enum {
  RELAXC_OK = 0,
  RELAXC_REFUSED = 1,   /* the program that was read is at fault, or a file cannot be read or written */
  RELAXC_USAGE = 2,     /* the options are at fault */
  RELAXC_CANCELLED = 3, /* relaxc_request_cancel() or the watcher ended it */
  RELAXC_NO_MEMORY = 4,
  RELAXC_BAD_ARGUMENT = 5, /* a null pointer, an index beyond the end, a record that is too small */
  RELAXC_INTERNAL = 70     /* relaxc is at fault; please report it */
};

/* How grave a message is. */
enum {
  RELAXC_ERROR = 0,
  RELAXC_WARNING = 1,
  RELAXC_REMARK = 2, /* what is worth knowing, and what options print, such as print-after */
  RELAXC_NOTE = 3    /* belongs to the message before it */
};

/* The version of the library: "0.1.0". */
const char* relaxc_version(void);

/* A word for a status, "refused"; "unknown" for other numbers. */
const char* relaxc_status_name(int status);

/* ---- what to compile ---- */

typedef struct relaxc_request relaxc_request;

/* Null if there is no memory. */
relaxc_request* relaxc_request_create(void);
/* Takes null as well. No compilation of the request may be running. */
void relaxc_request_destroy(relaxc_request* request);

/* Adds the file to compile: an ONNX model (.onnx), a TFLite model (.tflite, or by its content) or a program in the
 * text IR. Several models become functions of one object. */
int relaxc_request_input(relaxc_request* request, const char* path);

/* Says what `path` holds: it is read from memory and need not exist. For inputs, for the files of the options
 * params, custom-op and external-patterns, and for those that a model or a program refers to (external data,
 * relaxc.load_params), by their paths relative to the model's folder joined to that folder. The bytes are not copied:
 * they stay as they are until the request is destroyed. */
int relaxc_request_memory(relaxc_request* request, const char* path, const void* bytes, size_t size);

/* Adds an option: a flag of the program without its dashes, with its value, or null where it takes none: ("dim",
 * "n=1..12"), ("O", "3"), ("trace", NULL), ("W", "error"). "o" names the output, whose extension selects the format.
 * Flags that only the program has (check, time-limit, max-memory, print-target, …) are refused, as unknown ones are,
 * when the request is compiled. */
int relaxc_request_option(relaxc_request* request, const char* name, const char* value);

/* Is called now and then by relaxc_compile(), in its thread, with what is done now ("after fuse_ops"). Zero: go on;
 * anything else cancels this compilation. */
typedef int (*relaxc_watcher)(void* user, const char* what);
/* Null: no watcher. */
int relaxc_request_watch(relaxc_request* request, relaxc_watcher watcher, void* user);

/* Cancels the compilations of the request, those that run and those that begin later. From any thread. They end at the
 * next pass, or the next piece of code that is generated. */
int relaxc_request_cancel(relaxc_request* request);

/* ---- compiling ---- */

typedef struct relaxc_result relaxc_result;

/* Compiles into memory; nothing is written. Null only if there is no memory for a result, or no request. A request may
 * be compiled again, and by several threads at once; it is not changed meanwhile, but by relaxc_request_cancel(). */
relaxc_result* relaxc_compile(const relaxc_request* request);
/* The same, and writes the files to their paths, all or none, as the program does. The result holds no files. */
relaxc_result* relaxc_compile_to_files(const relaxc_request* request);

/* Takes null as well. Everything that the result gave pointers to goes with it. The request need not exist any more. */
void relaxc_result_destroy(relaxc_result* result);

/* RELAXC_OK, or why there are no files. */
int relaxc_result_status(const relaxc_result* result);

/* ---- files ---- */

typedef struct relaxc_file {
  size_t struct_bytes; /* sizeof(relaxc_file), by the caller */
  const char* path;    /* where the program would have written it: "digits.o", "digits.h" */
  const void* bytes;   /* not null */
  size_t size;
} relaxc_file;

/* How many files there are; the output is the first, and with a library for Windows its import library. */
size_t relaxc_result_files(const relaxc_result* result);
/* Fills the record. */
int relaxc_result_file(const relaxc_result* result, size_t index, relaxc_file* file);

/* ---- messages ---- */

/* Texts are never null, and empty where there is nothing to say. Names from a model may be any bytes but zero. */
typedef struct relaxc_diagnostic {
  size_t struct_bytes; /* sizeof(relaxc_diagnostic), by the caller */
  int32_t severity;
  uint32_t line;       /* of a text program, from 1; 0: none */
  uint32_t column;     /* in bytes, from 1; 0: none */
  uint32_t notes;      /* how many relaxc_result_note() gives */
  const char* kind;    /* "shape_mismatch", "usage" …, as --check=json names them; "remark", "note", "internal" */
  const char* message; /* one sentence in lower case */
  const char* file;
  const char* node; /* of an ONNX model: its name */
  const char* op;   /* of the node: its operator */
  int64_t opset;    /* of the operator's domain; 0: none */
} relaxc_diagnostic;

/* How many messages there are, in the order of reporting, remarks at the end. */
size_t relaxc_result_diagnostics(const relaxc_result* result);
/* Fills the record. */
int relaxc_result_diagnostic(const relaxc_result* result, size_t index, relaxc_diagnostic* diagnostic);
/* Fills the record with a note of message `index`. */
int relaxc_result_note(const relaxc_result* result, size_t index, size_t note, relaxc_diagnostic* diagnostic);

/* Errors and warnings as the program prints them, with source lines and carets. */
const char* relaxc_result_text(const relaxc_result* result);

#ifdef __cplusplus
}
#endif

#endif
