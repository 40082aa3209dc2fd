"""The examples in Go, Swift and Zig, as their READMEs build them, without a registry. What has no compiler here is left out,
but of Swift's the module is imported by clang, whose modules these are.

Usage: native_test.py RELAXC REPOSITORY go|swift|zig"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RELAXC, ROOT, LANGUAGE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
# Where Zig is a wheel of PyPI, an interpreter that has it stands in RELAXC_ZIG: "python -m ziglang".
ZIG = os.environ.get("RELAXC_ZIG", "zig").split()


def by_go(folder):
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOCACHE": str(folder / "cache")}
    return subprocess.run(["make", "-s", "run", f"RELAXC={RELAXC}"], cwd=folder / "examples/go", capture_output=True, text=True,
                          check=False, env=environment)


def by_zig(folder):
    command = [*ZIG, "build", "run", f"-Drelaxc={RELAXC}", f"-Dinclude={ROOT}/runtime-lite/include", f"-Dlibrary={RELAXC.parent.parent}/lib"]
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "global"), "ZIG_LOCAL_CACHE_DIR": str(folder / "local")}
    return subprocess.run(command, cwd=folder / "examples/zig", capture_output=True, text=True, check=False, env=environment)


# Objective-C imports modules as Swift does.
IMPORTS = """@import CDigits;
int main(void) {
  static digits_arena arena;
  static float logits[SAMPLES * 10];
  rlx_context context = digits_context();
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  digits_args arguments = {.n = SAMPLES, .image = digits_pixels(), .logits = logits};
  if (digits_run(&context, &arguments) != RLX_OK) return 1;
  int right = 0;
  for (int sample = 0; sample < SAMPLES; ++sample) {
    int best = 0;
    for (int digit = 0; digit < 10; ++digit)
      if (logits[sample * 10 + digit] > logits[sample * 10 + best]) best = digit;
    right += best == digits_truth(sample);
  }
  extern int printf(const char*, ...);
  printf("%d of %d right\\n", right, SAMPLES);
  return 0;
}
"""


def by_swift(folder):
    example = folder / "examples/swift"
    make = ["make", "-s", f"RELAXC={RELAXC}"]
    if shutil.which("swiftc"):
        return subprocess.run([*make, "run"], cwd=example, capture_output=True, text=True, check=False)
    subprocess.run([*make, "build/libdigits.a"], cwd=example, check=True)
    (example / "imports.m").write_text(IMPORTS, encoding="utf-8")
    subprocess.run([shutil.which("clang") or "clang-22", "-fmodules", f"-fmodules-cache-path={folder}/modules", "-I.", "-Ibuild", "-I../digits",
                    f"-I{ROOT}/runtime-lite/include", "-Wall", "-Werror", "imports.m", "build/libdigits.a",
                    RELAXC.parent.parent / "lib/librelax_rt.a", "-o", "build/imports"], cwd=example, check=True)
    return subprocess.run(["build/imports"], cwd=example, capture_output=True, text=True, check=False)


def main():
    tool = {"go": "go", "swift": shutil.which("swiftc") or shutil.which("clang") or "clang-22", "zig": ZIG[0]}[LANGUAGE]
    if shutil.which(tool) is None:
        print(f"skipped: there is no {tool}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("build", "target"))
        (folder / "runtime-lite").symlink_to(ROOT / "runtime-lite")
        done = {"go": by_go, "swift": by_swift, "zig": by_zig}[LANGUAGE](folder)
        print(done.stdout + done.stderr)
        if (folder / "cache").exists():
            subprocess.run(["chmod", "-R", "u+w", folder / "cache"], check=True)
        return 0 if done.returncode == 0 and "12 of 12 right" in done.stdout + done.stderr else 1


if __name__ == "__main__":
    sys.exit(main())
