"""The versions that docs/stability.md lists are those of the program, the headers, the objects and the package.

Usage: versions_test.py RELAXC RUNTIME [unittest's own]"""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import program
from program import RELAXC, ProgramTest

ROOT = Path(__file__).resolve().parents[2]


def listed():
    """What has a version -> the version, as the page says."""
    text = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
    table = text[text.index("## Versions"):]
    return dict(re.findall(r"^\| ([a-zC][\w ]+) \| ([\d.]+) \|", table[:table.index("\n## ")], re.M))


def macro(header, name):
    return re.search(rf"^#define {name} +(\d+)", (ROOT / header).read_text(encoding="utf-8"), re.M)[1]


class Versions(ProgramTest):
    def test_the_page_has_the_versions_there_are(self):
        page = listed()
        self.assertEqual(set(page), {"relaxc", "binary interface", "C library", "private tables", "schedule files"})
        self.assertEqual(self.compiles("--version").out, f"relaxc {page['relaxc']}\n")
        self.assertEqual(macro("runtime-lite/include/relax_rt.h", "RLX_ABI_VERSION"), page["binary interface"])
        self.assertEqual(macro("runtime-lite/include/rlx_internal.h", "RLX_PRIVATE_VERSION"), page["private tables"])
        self.compiles("relu.onnx", "-o", "m.o", "--write-schedules", "m.txt")
        self.assertEqual((self.path / "m.txt").read_text().splitlines()[0], f"relaxc schedules {page['schedule files']}")
        self.assertIn(f"relaxc {page['relaxc']}".encode() + b"\0", (self.path / "m.o").read_bytes())  # rlx_model.producer
        library = RELAXC.replace("bin/relaxc", f"lib/librelaxc.so.{page['C library']}")
        if Path(library).exists():
            self.assertIn(f"librelaxc.so.{page['C library']}]",
                          subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout)

    @unittest.skipIf(shutil.which("cmake") is None, "there is no cmake")
    def test_the_package_is_found_by_versions_of_the_same_minor_only(self):
        file = Path(RELAXC).parents[1] / "relaxc-config-version.cmake"
        if not file.exists():
            self.skipTest(f"there is no {file}")
        major, minor, patch = map(int, listed()["relaxc"].split("."))
        for asked, found in ((f"{major}.{minor}", True), (f"{major}.{minor}.{patch}", True),
                             (f"{major}.{minor}.{patch + 1}", False), (f"{major}.{minor + 1}", False), (f"{major + 1}.0", False),
                             ("0.0", False)):
            numbers = (asked + ".0").split(".")
            self.write("find.cmake", f"set(PACKAGE_FIND_VERSION {asked})\nset(PACKAGE_FIND_VERSION_MAJOR {numbers[0]})\n"
                       f"set(PACKAGE_FIND_VERSION_MINOR {numbers[1]})\ninclude({file})\n"
                       'message("compatible: ${PACKAGE_VERSION_COMPATIBLE}")\n')
            done = subprocess.run(["cmake", "-P", "find.cmake"], cwd=self.path, check=True, capture_output=True, text=True)
            self.assertIn(f"compatible: {'TRUE' if found else 'FALSE'}", done.stderr, asked)


if __name__ == "__main__":
    program.main()
