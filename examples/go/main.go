// Recognizes the twelve digits of examples/digits by the object that relaxc wrote of its network.
package main

/*
#include "libdigits.h"
#include "samples.h"
#include <stdlib.h>

// The pointers go by as arguments, so that none that Go owns is stored in memory of Go that C sees.
static int32_t classify(digits_arena* arena, const float* image, int64_t n, float* logits) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = arena;
  context.arena_bytes = sizeof *arena;
  digits_args args = {.n = n, .image = image, .logits = logits};
  return digits_run(&context, &args);
}

static const float* pixels(void) { return sample_pixels[0]; }
static int truth(int sample) { return sample_truth[sample]; }
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

const (
	pixels  = 64
	classes = 10
)

// classify gives ten scores for each picture of 64 numbers, or an error that names the status.
func classify(arena *C.digits_arena, images []float32) ([]float32, error) {
	if len(images) == 0 || len(images)%pixels != 0 {
		return nil, fmt.Errorf("%d numbers are no pictures of %d", len(images), pixels)
	}
	n := len(images) / pixels
	logits := make([]float32, n*classes)
	status := C.classify(arena, (*C.float)(&images[0]), C.int64_t(n), (*C.float)(&logits[0]))
	if status != C.RLX_OK {
		return nil, fmt.Errorf("digits: %s", C.GoString(C.rlx_status_name(status)))
	}
	return logits, nil
}

func main() {
	arena := (*C.digits_arena)(C.aligned_alloc(64, (C.sizeof_digits_arena+63)/64*64))
	defer C.free(unsafe.Pointer(arena))
	images := unsafe.Slice((*float32)(C.pixels()), C.SAMPLES*pixels)
	logits, err := classify(arena, images)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	right := 0
	for sample := 0; sample < C.SAMPLES; sample++ {
		best := 0
		for digit, score := range logits[sample*classes : (sample+1)*classes] {
			if score > logits[sample*classes+best] {
				best = digit
			}
		}
		if best == int(C.truth(C.int(sample))) {
			right++
		}
	}
	fmt.Printf("%d of %d right\n", right, int(C.SAMPLES))
}
