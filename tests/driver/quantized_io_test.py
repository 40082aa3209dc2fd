"""--io=quantized: inputs and outputs that are quantized stay integers, and the object says what they stand for.

Usage: quantized_io_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import struct
import subprocess

import program
import wire
from program import LINK_FLAGS, RUNTIME, ProgramTest

# A quantized product, as exporters write it: integers between dequantizations and quantizations.
NET = """@R.function
def main(image: R.Tensor((2, 8), "float32")) -> R.Tensor((2, 4), "float32"):
    with R.dataflow():
        s = R.const(0.0625, "float32")
        z = R.const(-3, "int8")
        q = R.quantize(image, s, z, axis=-1, out_dtype="int8")
        x = R.dequantize(q, s, z, axis=-1)
        w = R.dequantize(R.const([[1, 2, -3, 4], [5, -6, 7, 8], [9, 1, -1, 2], [3, -4, 5, -6], [7, 8, 9, -1],
                                  [2, 3, -4, 5], [-6, 7, 8, 9], [1, -2, 3, 4]], "int8"), R.const(0.03125, "float32"),
                         R.const(0, "int8"), axis=-1)
        y = R.matmul(x, w)
        t = R.const(0.125, "float32")
        p = R.quantize(y, t, R.const(7, "uint8"), axis=-1, out_dtype="uint8")
        scores = R.dequantize(p, t, R.const(7, "uint8"), axis=-1)
        R.output(scores)
    return scores
"""

# Both interfaces on the same numbers: floats that become the stored integers, and back.
MAIN = """#include <math.h>
#include <stdio.h>
#include "f.h"
#include "q.h"
int main(void) {
  static f_arena fa; static q_arena qa;
  float image[16], scores[8];
  int8_t stored[16];
  uint8_t out[8];
  int bad = 0;
  for (int i = 0; i < 16; i++) {
    image[i] = 0.37f * (float)((i * 7 + 3) % 16) - 2.6f;
    float r = nearbyintf(image[i] / Q_IMAGE_SCALE) + (float)Q_IMAGE_ZERO_POINT;
    stored[i] = (int8_t)(r < -128 ? -128 : r > 127 ? 127 : r);
  }
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &fa; context.arena_bytes = sizeof fa;
  f_args f = {image, scores};
  bad += f_run(&context, &f) != RLX_OK;
  context.arena = &qa; context.arena_bytes = sizeof qa;
  q_args q = {stored, out};
  bad += q_run(&context, &q) != RLX_OK;
  for (int i = 0; i < 8; i++) bad += scores[i] != ((float)out[i] - (float)Q_SCORES_ZERO_POINT) * Q_SCORES_SCALE;
  const rlx_tensor_spec *a = &q_model.functions[0].inputs[0], *b = &q_model.functions[0].outputs[0];
  printf("%d %d %d %d %g %d | %d %d %u %g %d\\n", bad, a->dtype_code, a->dtype_bits, a->quant->axis,
         (double)a->quant->scale[0], a->quant->zero_point[0], b->dtype_code, b->dtype_bits, b->quant->count,
         (double)b->quant->scale[0], b->quant->zero_point[0]);
  return f_model.functions[0].inputs[0].quant != NULL;
}
"""


def npy(descr, shape, data):
    head = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(11 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


class QuantizedIo(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("net.relax", NET)

    def test_the_numbers_are_those_of_the_float_interface(self):
        self.write("main.c", MAIN)
        for extension in (".o", ".c"):
            for level in ("-O0", "-O2"):
                self.compiles("net.relax", "-o", "f" + extension, level)
                self.compiles("net.relax", "-o", "q" + extension, level, "--io=quantized")
                subprocess.run(["cc", "-std=c99", "-ffp-contract=off", "-I", str(program.INCLUDE), "main.c", "f" + extension,
                                "q" + extension, *LINK_FLAGS, RUNTIME, "-lm", "-o", "run"], cwd=self.path, check=True)
                done = subprocess.run(["./run"], cwd=self.path, check=True, capture_output=True, text=True)
                self.assertEqual(done.stdout, "0 0 8 -1 0.0625 -3 | 1 8 1 0.125 7\n", (extension, level))

    def test_the_header_and_the_manifest_say_what_integers_represent(self):
        self.compiles("net.relax", "-o", "q.o", "--io=quantized", "--manifest", "q.json")
        header = (self.path / "q.h").read_text()
        for text in ("input  image: int8 [2, 8], represents (stored + 3) * 0.0625", "#define Q_IMAGE_SCALE 0.0625f\n",
                     "#define Q_IMAGE_ZERO_POINT (-3)\n", "#define Q_SCORES_ZERO_POINT 7\n", "  const int8_t* image;",
                     "  uint8_t* scores;"):
            self.assertIn(text, header)
        found = json.loads((self.path / "q.json").read_text())["functions"][0]["inputs"][0]["quantization"]
        self.assertEqual(found, {"axis": -1, "scale": [0.0625], "zero_point": [-3]})
        self.assertIn("image: int8 [2, 8], represents (stored + 3) * 0.0625",
                      self.compiles("inspect", "net.relax", "--io=quantized").out)

    def test_no_quantization_is_left_in_the_object(self):
        kernels = {}
        for name, flags in (("f", []), ("q", ["--io=quantized"])):
            self.compiles("net.relax", "-o", f"{name}.o", "--manifest", f"{name}.json", *flags)
            function = json.loads((self.path / f"{name}.json").read_text())["functions"][0]
            kernels[name] = [node["name"] for node in function["profiles"][0]["nodes"]]
        found = {name: [k for k in all_of if re.search("(^|_)(de)?quantize", k)] for name, all_of in kernels.items()}
        self.assertTrue(found["f"] and not found["q"], kernels)

    def test_tools_take_floats_and_integers_and_agree_with_the_interpreter(self):
        values = [0.37 * ((i * 7 + 3) % 16) - 2.6 for i in range(16)]
        stored = [max(-128, min(127, round(struct.unpack("<f", struct.pack("<f", v))[0] / 0.0625) - 3)) for v in values]
        self.write("floats.npy", npy("<f4", (2, 8), struct.pack("<16f", *values)))
        self.write("bytes.npy", npy("|i1", (2, 8), struct.pack("<16b", *stored)))
        common = ["net.relax", "--io=quantized", "--runtime", RUNTIME]
        runs = [self.compiles("run", *common, file, *more).out for file in ("floats.npy", "bytes.npy")
                for more in ([], ["--interpret"])]
        self.assertEqual(len(set(runs)), 1, runs)
        self.assertRegex(runs[0], r"^scores: uint8 \[2, 4\] = \d")
        self.assertIn("1.000000000", self.compiles("verify", *common, "--seed", "5").out)
        self.compiles("net.relax", "--io=quantized", "--verify-semantics", "-o", "m.o")
        self.compiles("net.relax", "--io=quantized", "--emit-selftest", "--selftest-data", "floats.npy", "-o", "m.o")
        done = self.relaxc("verify", *common, "--bisect")
        self.assertEqual(done.code, 2)
        self.assertIn("omit --io=quantized", done.err)

    def test_a_model_without_a_quantized_interface_is_reported(self):
        self.refuses(1, "there is nothing that could stay quantized", "relu.relax", "-o", "m.o", "--io=quantized")

    def test_quantization_written_by_hand(self):
        text = program.TEXT.replace('"float32"', '"int8"').replace("    with", '    R.func_attr({"quantized": [%s]})\n    with')
        self.write("by_hand.relax", text % '"input 0: axis 1 scale 0.5, 1, 2, 4 zero 0, 1, 2, 3"')
        self.assertIn("both along axis 1", self.compiles("inspect", "by_hand.relax", "--dim", "n=1..4").out)
        for wrong, message in (('"input 1: scale 1 zero 0"', "must name inputs and outputs that are integers"),
                               ('"input 0: axis 1 scale 1, 2 zero 0, 0"', "or as many as its axis has places"),
                               ('"input 0: scale one zero 0"', "'quantized' is a list of quantizations"),
                               ('"input 0: scale 1 zero 0", "input 0: scale 1 zero 0"', "a list of quantizations")):
            self.write("wrong.relax", text % wrong)
            self.refuses(1, message, "wrong.relax", "--dim", "n=1..4", "-o", "m.o")


if __name__ == "__main__":
    program.main()
