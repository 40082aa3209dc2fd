"""What code quantized networks become: without a floating-point unit it calls no function of floats, and other cores use
their own instructions. Where a machine multiplies signed bytes, data of TFLite's networks stays signed.

Networks of int8 with integer inputs and outputs: one with every kind of operator that the fixed-point forms know, and
those of MLPerf Tiny, from ONNX and from TFLite, where RELAXC_MODELS has them.

Usage: quantized_code_test.py RELAXC"""

import re
import sys
import tempfile
from pathlib import Path

from board import Board, run
from board_cases import DIGITS8, MODELS, REPOSITORY, TINY
from quantized_network import program
import rescaled_network

RELAXC = Path(sys.argv[1]).resolve()
CPUS = ["cortex-m0plus", "cortex-m3", "riscv32imac"]
# Of Arm's ABI (fadd, i2f, dmul, fcmplt), and of GCC's library (__addsf3, __fixsfsi, __ltdf2); fmaf is one of ours.
FLOATS = re.compile(r"__aeabi_(f|d|c?[fd]cmp|u?[il]2[fd]|u?l2)\w*$|__\w*[sd]f\w*$|rlx_fmaf?$|\w*(expf?|roundf?|nearbyintf?)$")

INSTRUCTIONS = {  # of network8: sums of products, bytes that are widened for them, and what stores their results
    "cortex-m4": ["smlad", "smuad", "uxtb16", r"ldm\w*\s+\w+!, \{r0, r1, r2, r3", r"vcvtr\.s32\.f32", "usat"],
    # Of four sums the next word, beside a product, and numbers by one load or two; a row's next bytes.
    "cortex-m7": [r"ldr(\.w)?\s+r10, \[r9, #4", r"ldrd\s+r2, r3, \[r4, #8", r"ldr\s+r1, \[r4, #\d+", r"uxtb16\s+r0, r10"],
    "cortex-m0plus": [r"add\s+r11"],
    "cortex-m55": [r"vmlav\.s8", r"vmlava\.s16", r"vcvtn\.s32\.f32"],
    "wasm32-simd": [r"i32x4\.dot_i16x8_s", r"f32x4\.nearest"],
}
RESCALING = {  # of integers that are scaled by integers: one product, or a rounded one, and nothing of 64 bits
    "cortex-m4": ["smlad", "smmla", "smmulr", r"ldm\w*\s+\w+!, \{r0, r1, r2, r3"],
    "cortex-m55": [r"vrmulh\.s32"],
}
WIDE = r"smull|smlal|adcs?\b|vmull\.s32"


SIGNED_DATA = {  # whether products take int8 as it is: sdot alone, smmla as well, vmladava; others read uint8
    "aarch64-v8.2": True, "aarch64-v8.6": True, "cortex-m55": True,
    "aarch64": False, "cortex-m4": False, "x86-64-v3": False,
}
CONVOLUTION = REPOSITORY / "tests/fuzz/corpus/import_tflite/conv_int8.tflite"


def models():
    yield "digits8", DIGITS8, ["--io=quantized"]
    yield "network8", None, []
    for name, (batch, _) in TINY.items():
        if (MODELS / name / "model.onnx").exists():
            yield f"{name}.onnx", MODELS / name / "model.onnx", ["--dim", f"{batch}=1"]
        if (MODELS / name / "model.tflite").exists():
            yield f"{name}.tflite", MODELS / name / "model.tflite", []


def missing_instructions(folder, network, instructions, others=None):
    """(CPU, instruction) of those that the network does not have, and of others that it has."""
    for cpu, names in instructions.items():
        run(RELAXC, network, "--target", cpu, "-O2", "-o", "m.s", folder=folder)
        text = (folder / "m.s").read_text()
        yield from ((cpu, name) for name in names if not re.search(rf"\b{name}\b", text))
        yield from ((cpu, name) for name in (re.findall(others, text) if others else []))


def data_of_other_sign(folder):
    """Machines for which a convolution of a TFLite model reads data of another sign than it should."""
    for cpu, is_signed in SIGNED_DATA.items():
        text = run(RELAXC, CONVOLUTION, "--target", cpu, "--print-after=recognize_quantization", "-o", "m.o", folder=folder)
        if ("uint8" in text) == is_signed:
            yield cpu, "data of the other sign"


def computed_constants(folder):
    """Kernels of the same network that compute one integer from nothing, where a constant would do."""
    text = run(RELAXC, "network8.relax", "--target", "cortex-m0plus", "--print-after=legalize", "-o", "m.o", folder=folder)
    return re.findall(r'def (\w+)\(y: T\.Buffer\(\(\), "int32"\)\)', text)


def main():
    failed = []
    with tempfile.TemporaryDirectory(prefix="relaxc-soft-float-") as folder:
        folder = Path(folder)
        (folder / "network8.relax").write_text(program())
        (folder / "rescaled.relax").write_text(rescaled_network.program())
        failed += missing_instructions(folder, "network8.relax", INSTRUCTIONS)
        failed += missing_instructions(folder, "rescaled.relax", RESCALING, WIDE)
        print(f"instructions that are not used, or should not be: {failed or 'none'}")
        failed += data_of_other_sign(folder)
        failed += [("cortex-m0plus", name) for name in computed_constants(folder)]
        boards = [Board(cpu, folder / "runtime") for cpu in CPUS]
        for board in boards:
            if missing := board.missing():
                print("skipped: there is no " + ", ".join(missing))
                return 77
            for name, source, flags in models():
                run(RELAXC, source or "network8.relax", *flags, "--target", board.cpu, "-Os", "--name", "m", "-o", "m.o",
                    folder=folder)
                symbols = run(board.cross + "nm", "-u", "m.o", folder=folder).split()
                calls = [symbol for symbol in symbols if FLOATS.match(symbol)]
                print(f"{board.cpu} {name}: {', '.join(calls) or 'no floats'}", flush=True)
                failed += [(board.cpu, name)] if calls else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
