/* stream.c: says at which times of a recording somebody speaks: `stream recording.wav` (16 kHz, mono, 16 bits), or of a
 * second of sound that it makes itself.
 *
 * The model's states are two numbers here: each call reads and writes them in place, which --state allows. A model of a
 * hundred states would be called no other way. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "vad.h"

enum { RATE = 16000, FRAME = 160, LONGEST = 60 * RATE, WAV_HEAD = 44 };

static float sound[LONGEST];

/* Samples of a plain WAV file, or 0. */
static int read_wav(const char* path) {
  unsigned char head[WAV_HEAD], pair[2];
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  int fits = fread(head, 1, WAV_HEAD, file) == WAV_HEAD && memcmp(head, "RIFF", 4) == 0 && head[20] == 1 &&
             head[22] == 1 && (head[24] | head[25] << 8) == RATE && head[34] == 16 && memcmp(head + 36, "data", 4) == 0;
  int count = 0;
  while (fits && count < LONGEST && fread(pair, 1, 2, file) == 2)
    sound[count++] = (float)(int16_t)(pair[0] | pair[1] << 8) / 32768.0f;
  fclose(file);
  return count;
}

/* A second: quiet, but for a voice-like buzz from 0.30 s to 0.60 s. */
static int make_sound(void) {
  for (int i = 0; i < RATE; i++) {
    float hiss = 0.001f * (float)((i * 7919 + i / 7) % 17 - 8) / 8;
    float buzz = 0.2f * sinf(0.05f * (float)i) * sinf(0.4f * (float)i);
    sound[i] = hiss + (i >= 3 * RATE / 10 && i < 6 * RATE / 10 ? buzz : 0);
  }
  return RATE;
}

int main(int argc, char** argv) {
  int count = argc > 1 ? read_wav(argv[1]) : make_sound();
  if (count < FRAME) {
    fprintf(stderr, "stream: %s is no WAV file of 16 kHz, one channel and 16 bits\n", argv[1]);
    return 1;
  }
  static vad_arena arena;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  float energy = 0, floor = 1e-6f, speech = 0;
  int speaking = 0;
  for (int at = 0; at + FRAME <= count; at += FRAME) {
    vad_args args = {.frame = sound + at,
                     .energy_in = &energy,
                     .floor_in = &floor,
                     .speech = &speech,
                     .energy_out = &energy,
                     .floor_out = &floor};
    if (vad_run(&context, &args) != RLX_OK) return 1;
    if ((speech > 0.5f) == speaking) continue;
    speaking = !speaking;
    printf("%.2f s: %s\n", (double)at / RATE, speaking ? "speech" : "silence");
  }
  return 0;
}
