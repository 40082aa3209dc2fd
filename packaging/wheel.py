"""wheel.py: builds the wheel of relaxc, as pip's backend (pyproject.toml) and as a program.

    pip wheel --no-deps --wheel-dir dist .
    python3 packaging/wheel.py [FOLDER] [--build BUILD]

It builds the target relaxc_portable (CMakeLists.txt beside this file) in BUILD (build/ by default), installs the build
into the package's folder tree/, puts the portable library and programs in place of those that need LLVM's shared
library, and zips everything. Nothing but Python's own library is needed. The same build gives the same bytes.

Debian 12 has glibc 2.36, hence the platform's tag; what the library needs beside glibc is inside of it or beside it.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TAG = "py3-none-manylinux_2_36_x86_64"
# What every Linux of that tag has.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libz\.so\.1$"
                    r"|libstdc\+\+\.so\.6$|libgcc_s\.so\.1$)")
DEPENDENCIES = ["numpy>=1.23"]


def version():
    return re.search(r"project\(relaxc VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True)


def build_tree(build, tree):
    """The installation that goes into the wheel."""
    if not (build / "build.ninja").exists():
        run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release", "-D",
            "CMAKE_UNITY_BUILD=ON", "-D", "RELAXC_TESTS=OFF")
    run("cmake", "--build", build, "--target", "relaxc", "relaxc_portable")
    run("cmake", "--install", build, "--prefix", tree, "--strip")
    shutil.rmtree(tree / "share/relaxc/python/relaxc")  # the package around it is the same
    for old in (tree / "lib").glob("librelaxc.so*"):
        old.unlink()
    for part in sorted((build / "portable").rglob("*")):
        if part.is_file() and not part.is_symlink():
            place = tree / part.relative_to(build / "portable")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(part, place)
            subprocess.run(["strip", str(place)], check=True)
    # Wheels have no links: the library is called as programs look for it.
    for file in (tree / "lib/cmake/relaxc").glob("*.cmake"):
        file.write_text(re.sub(r"librelaxc\.so\.\d+\.\d+\.\d+", "librelaxc.so.0", file.read_text(encoding="utf-8")),
                        encoding="utf-8")
    for name, path in needed(tree / "lib/librelaxc.so.0").items():
        shutil.copy2(path, tree / "lib" / name)


def needed(library):
    """Paths of the shared libraries that are not part of every Linux, by name."""
    listed = subprocess.run(["ldd", str(library)], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", listed, re.M))
    return {name: path for name, path in found.items() if not SYSTEM.match(name)}


def package(tree_of_package, build):
    """The folder relaxc/ as it is in the wheel."""
    shutil.copytree(ROOT / "packaging/python/relaxc", tree_of_package, ignore=shutil.ignore_patterns("__pycache__"))
    build_tree(build, tree_of_package / "tree")
    shutil.copy2(ROOT / "runtime-lite/python/relax_rt.py", tree_of_package / "relax_rt.py")
    threads = tree_of_package / "tree/lib/relaxc/librelax_rt_threads.so"
    shutil.copy2(threads, tree_of_package / threads.name)  # where relax_rt.py looks


def metadata():
    requires = "".join(f"Requires-Dist: {name}\n" for name in DEPENDENCIES)
    return (f"Metadata-Version: 2.1\nName: relaxc\nVersion: {version()}\n"
            "Summary: An ahead-of-time compiler for tensor programs: ONNX, TFLite and Relax to machine code\n"
            f"License: Apache-2.0\nRequires-Python: >=3.10\n{requires}Description-Content-Type: text/markdown\n\n"
            + (ROOT / "docs/python.md").read_text(encoding="utf-8"))


def dist_info(folder):
    """Writes relaxc-VERSION.dist-info without its RECORD; its name."""
    name = f"relaxc-{version()}.dist-info"
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "METADATA").write_text(metadata(), encoding="utf-8")
    (place / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: relaxc\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    (place / "entry_points.txt").write_text("[console_scripts]\nrelaxc = relaxc._places:main\n\n"
                                           "[torch_dynamo_backends]\nrelaxc = relaxc._torch:backend\n")
    shutil.copy2(ROOT / "LICENSE", place / "LICENSE")
    return name


def pack(folder, wheel, info):
    """Zips the folder, RECORD last, with fixed times."""
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (stat.S_IFREG | (0o755 if mode & 0o111 else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)

        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            data, name = path.read_bytes(), path.relative_to(folder).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
            add(name, data, path.stat().st_mode)
        add(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]), 0)


def make(directory, build):
    name = f"relaxc-{version()}-{TAG}.whl"
    Path(directory).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        package(folder / "relaxc", build)
        pack(folder, Path(directory) / name, dist_info(folder))
    return name


# The functions that pip calls.
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = Path((config_settings or {}).get("build") or os.environ.get("RELAXC_BUILD") or ROOT / "build")
    return make(wheel_directory, build.resolve())


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    return dist_info(metadata_directory)


def get_requires_for_build_wheel(config_settings=None):
    return []


def main():
    parser = argparse.ArgumentParser(description="builds the wheel of relaxc")
    parser.add_argument("folder", nargs="?", default=ROOT / "dist", type=Path)
    parser.add_argument("--build", default=ROOT / "build", type=Path)
    options = parser.parse_args()
    print(options.folder / make(options.folder, options.build.resolve()))


if __name__ == "__main__":
    sys.exit(main())
