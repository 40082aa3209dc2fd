/* board.h: what start.c offers. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void print(const char* text);
void print_number(uint32_t value);
/* Ends the program; the exit code is 1 if it failed. */
void end(int failed);
/* The most bytes of stack that were in use so far. */
uint32_t stack_used(void);

#endif
