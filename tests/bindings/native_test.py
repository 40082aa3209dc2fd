"""The examples in Go and in Zig, as their READMEs build them, without a registry. What has no compiler here is left out.

Usage: native_test.py RELAXC REPOSITORY go|zig"""

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


def main():
    tool = {"go": "go", "zig": ZIG[0]}[LANGUAGE]
    if shutil.which(tool) is None:
        print(f"skipped: there is no {tool}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("build", "target"))
        (folder / "runtime-lite").symlink_to(ROOT / "runtime-lite")
        done = {"go": by_go, "zig": by_zig}[LANGUAGE](folder)
        print(done.stdout + done.stderr)
        if (folder / "cache").exists():
            subprocess.run(["chmod", "-R", "u+w", folder / "cache"], check=True)
        return 0 if done.returncode == 0 and "12 of 12 right" in done.stdout + done.stderr else 1


if __name__ == "__main__":
    sys.exit(main())
