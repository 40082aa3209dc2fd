"""archive.py: builds the release archive relaxc-VERSION-linux-x86_64.tar.xz.

    python3 packaging/archive.py [FOLDER] [--build BUILD]

It holds the installation that the wheel has inside (wheel.py), which needs glibc 2.36 or later and no LLVM, with the
documentation and the licences of what is linked or copied in. Unpack it anywhere; bin/relaxc finds the rest beside it.
The same build gives the same bytes.
"""

import argparse
import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import wheel

LLVM = "libllvm22"  # whose code is in the library


def licences(build, folder):
    """Debian's copyright files of LLVM and of the libraries beside ours."""
    packages = {LLVM}
    for path in wheel.needed(build / "portable/lib/librelaxc.so.0").values():
        owner = subprocess.run(["dpkg", "-S", str(Path(path).resolve())], check=True, capture_output=True, text=True).stdout
        packages.add(owner.split(":")[0])
    folder.mkdir(parents=True)
    for package in sorted(packages):
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")


def pack(folder, archive):
    """Files in the order of their names, with fixed times and owners."""
    with lzma.open(archive, "wb", preset=6) as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for path in sorted(folder.rglob("*")):
            entry = out.gettarinfo(path, path.relative_to(folder.parent).as_posix())
            entry.mtime = entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mode = 0o755 if path.is_dir() or entry.mode & 0o100 else 0o644
            if path.is_file():
                with path.open("rb") as content:
                    out.addfile(entry, content)
            else:
                out.addfile(entry)


def make(directory, build):
    name = f"relaxc-{wheel.version()}-linux-x86_64"
    Path(directory).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / name
        wheel.build_tree(build, tree)
        shutil.copytree(wheel.ROOT / "packaging/python/relaxc", tree / "share/relaxc/python/relaxc",
                        ignore=shutil.ignore_patterns("__pycache__"))
        pages = tree / "share/doc/relaxc"
        shutil.copytree(wheel.ROOT / "docs", pages / "docs", dirs_exist_ok=True)
        for page in ("README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"):
            shutil.copyfile(wheel.ROOT / page, pages / page)
        licences(build, pages / "licences")
        pack(tree, Path(directory) / f"{name}.tar.xz")
    return f"{name}.tar.xz"


def main():
    parser = argparse.ArgumentParser(description="builds the release archive of relaxc")
    parser.add_argument("folder", nargs="?", default=wheel.ROOT / "dist", type=Path)
    parser.add_argument("--build", default=wheel.ROOT / "build", type=Path)
    options = parser.parse_args()
    print(options.folder / make(options.folder, options.build.resolve()))


if __name__ == "__main__":
    sys.exit(main())
