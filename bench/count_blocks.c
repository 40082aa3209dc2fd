/* count_blocks.c: a plugin of QEMU 7.2 that counts how often each block of instructions runs, and how often a jump ends
 * it.
 *
 * It prints a line for each block when QEMU ends: address, address of the last instruction, runs, jumps. The
 * declarations are those of version 1 of QEMU's interface for plugins, whose header Debian does not package.
 *
 *   cc -shared -fPIC -O2 -o count_blocks.so bench/count_blocks.c
 *   qemu-system-arm ... -plugin ./count_blocks.so,out=counts.txt */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*executed)(unsigned int, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb*, executed, int flags, void*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);

EXPORT extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;

/* Blocks are kept until the end: QEMU may translate one again, which makes another block of the same addresses. */
struct block {
  uint64_t start, last, end, runs, jumps;
  struct block* next;
};

static struct block *blocks, *current;
static const char* path;

static void run_block(unsigned int cpu, void* data) {
  struct block* block = data;
  (void)cpu;
  if (current != NULL && current->end != block->start) current->jumps++;
  block->runs++;
  current = block;
}

static void translate_block(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  const struct qemu_plugin_insn* last = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
  struct block* block = calloc(1, sizeof *block);
  (void)id;
  if (block == NULL) abort();
  block->start = qemu_plugin_tb_vaddr(tb);
  block->last = qemu_plugin_insn_vaddr(last);
  block->end = block->last + qemu_plugin_insn_size(last);
  block->next = blocks;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, run_block, 0, block);
}

static void print_blocks(qemu_plugin_id_t id, void* data) {
  FILE* out = fopen(path, "w");
  (void)id;
  (void)data;
  if (out == NULL) abort();
  for (const struct block* block = blocks; block != NULL; block = block->next)
    fprintf(out, "%llx %llx %llu %llu\n", (unsigned long long)block->start, (unsigned long long)block->last,
            (unsigned long long)block->runs, (unsigned long long)block->jumps);
  fclose(out);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int count, char** arguments);
int qemu_plugin_install(qemu_plugin_id_t id, const void* info, int count, char** arguments) {
  (void)info;
  if (count != 1 || strncmp(arguments[0], "out=", 4) != 0) return -1;
  path = strdup(arguments[0] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
  qemu_plugin_register_atexit_cb(id, print_blocks, NULL);
  return 0;
}
