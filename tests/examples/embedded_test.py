"""The packages of packaging/embedded.py: each lists exactly the files that it has, versions agree, descriptions have the form
that their tool chains read, nothing is written twice differently; their sources compile for Cortex-M4 and link with a
model, those of the layer for 64-bit Arm. Zephyr, ESP-IDF, PlatformIO, Keil and bitbake are no packages of Debian: what they
do with this is not tried here.

Usage: embedded_test.py REPOSITORY BUILD"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT, BUILD = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
FLAGS = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 -Os -ffunction-sections -fdata-sections -Wall -Wextra".split()
# CMake as the tool chains extend it: what a list of sources is given to prints it.
STUBS = """function(idf_component_register)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "" "SRCS;INCLUDE_DIRS")
  message("${of_SRCS};${of_INCLUDE_DIRS}")
endfunction()
function(zephyr_library_sources)
  message("${ARGN}")
endfunction()
function(zephyr_include_directories)
  message("${ARGN}")
endfunction()
function(zephyr_library_named)
endfunction()
function(zephyr_library_compile_options)
endfunction()
set(CONFIG_RELAX_RT y)
"""


class Embedded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        done = subprocess.run([sys.executable, ROOT / "packaging/embedded.py", cls.folder / "out"], check=True, capture_output=True, text=True)
        cls.out = cls.folder / "out"
        assert len(done.stdout.splitlines()) == 5
        cls.version = re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8").split("project(")[1])[1]

    def listed_by_cmake(self, path):
        """The files and folders that a CMakeLists.txt names, with what the tool chain defines replaced by prints."""
        script = self.folder / "list.cmake"
        script.write_text(STUBS + path.read_text(encoding="utf-8"), encoding="utf-8")
        done = subprocess.run(["cmake", "-P", script], check=True, capture_output=True, text=True)
        return [(path.parent / name).resolve() for name in re.split(r"[;\n]", done.stderr.strip())]

    def agree(self, package, listed):
        sources = {path.resolve() for path in package.rglob("*.c")}
        self.assertEqual({path for path in listed if path.suffix == ".c"}, sources)
        self.assertGreater(len(sources), 20)
        self.assertTrue(all(path.exists() for path in listed))
        self.assertTrue((package / "LICENSE").is_file())

    def test_lists_of_cmake_are_the_files(self):
        self.agree(self.out / "zephyr", self.listed_by_cmake(self.out / "zephyr/zephyr/CMakeLists.txt"))
        self.agree(self.out / "esp-idf/relax_rt", self.listed_by_cmake(self.out / "esp-idf/relax_rt/CMakeLists.txt"))

    def test_the_sources_are_those_that_the_runtime_is_built_of(self):
        built = {path.name for path in (ROOT / "runtime-lite/core").glob("*.c")} - {"memory.c"}
        for name in ("zephyr/core", "esp-idf/relax_rt/core", "arduino/src", "cmsis/core"):
            self.assertEqual({path.name for path in (self.out / name).glob("*.c")}, built)

    def test_zephyr(self):
        module = (self.out / "zephyr/zephyr/module.yml").read_text(encoding="utf-8")
        fields = dict(re.findall(r"^  (\w+): (\S+)$", module, re.M))
        self.assertEqual(set(fields), {"cmake", "kconfig"})
        self.assertTrue((self.out / "zephyr" / fields["cmake"] / "CMakeLists.txt").is_file())
        kconfig = (self.out / "zephyr" / fields["kconfig"]).read_text(encoding="utf-8")
        self.assertRegex(kconfig, r'^config RELAX_RT\n\tbool "[^"]+"\n\thelp\n(\t  .+\n)+$')

    def test_esp_idf(self):
        manifest = dict(line.split(": ", 1) for line in (self.out / "esp-idf/relax_rt/idf_component.yml").read_text().splitlines())
        self.assertEqual(manifest["version"], f'"{self.version}"')
        self.assertLessEqual({"description", "url", "license"}, set(manifest))

    def test_arduino_and_platformio(self):
        library = json.loads((self.out / "arduino/library.json").read_text(encoding="utf-8"))
        properties = dict(line.split("=", 1) for line in (self.out / "arduino/library.properties").read_text().splitlines())
        self.assertEqual((library["version"], properties["version"]), (self.version, self.version))
        self.assertRegex(library["name"], r"^[\w -]{1,50}$")
        self.assertLessEqual({"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"},
                             set(properties))
        self.assertIn(properties["category"], ("Communication", "Data Processing", "Data Storage", "Device Control", "Display", "Other",
                                               "Sensors", "Signal Input/Output", "Timing", "Uncategorized"))
        self.assertTrue((self.out / "arduino" / library["build"]["srcDir"] / library["headers"]).is_file())

    def test_cmsis(self):
        root = ElementTree.parse(self.out / "cmsis/relaxc.relax_rt.pdsc").getroot()
        self.assertEqual([child.tag for child in root], ["vendor", "name", "description", "url", "license", "releases", "conditions",
                                                         "components"])  # in the order of PACK.xsd
        self.assertEqual(root.find("releases/release").get("version"), self.version)
        component = root.find("components/component")
        self.assertEqual((component.get("Cversion"), component.get("condition")), (self.version, root.find("conditions/condition").get("id")))
        listed = [(self.out / "cmsis" / file.get("name")).resolve() for file in component.iter("file")]
        self.agree(self.out / "cmsis", listed)
        headers = {path.resolve() for path in (self.out / "cmsis/core").glob("*.h")}
        self.assertEqual({path for path in listed if path.suffix == ".h"}, headers)

    def test_sources_compile_for_a_board_and_a_model_links(self):
        if shutil.which("arm-none-eabi-gcc") is None:
            self.skipTest("there is no arm-none-eabi-gcc")
        subprocess.run([BUILD / "bin/relaxc", ROOT / "examples/digits/digits.onnx", "--dim", "n=1", "--target", "cortex-m4", "-o", "digits.o"],
                       cwd=self.folder, check=True, capture_output=True)
        # There is no C library for boards here: memory.c stands for that of the tool chain.
        for number, (core, include) in enumerate((("zephyr/core", "zephyr/include"), ("arduino/src", "arduino/src"))):
            with self.subTest(core=core):
                main = '#include "digits.h"\nint main(void) { return (int)sizeof(digits_args); }\n'
                main += "int32_t (*const keep)(rlx_context*, const digits_args*) = digits_run;\n"
                (self.folder / "main.c").write_text(main, encoding="utf-8")
                done = subprocess.run(["arm-none-eabi-gcc", *FLAGS, "main.c", "digits.o", *sorted((self.out / core).glob("*.c")), "-I.",
                                       f"-I{self.out / include}", "-ffreestanding", "-nostdlib", "-Wl,--gc-sections,-e,main",
                                       "-Wl,-u,keep", ROOT / "runtime-lite/core/memory.c", "-lgcc", "-o", f"board{number}.elf"], cwd=self.folder, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                self.assertNotIn("warning: unused", done.stderr)

    def test_yocto(self):
        layer = self.out / "meta-relaxc"
        recipes = list(layer.glob("recipes-*/*/*.bb"))
        self.assertEqual([recipe.name for recipe in recipes], [f"relax-rt_{self.version}.bb"])
        recipe = dict(re.findall(r'^([\w:${}]+) :?= "(.*)"$', recipes[0].read_text(encoding="utf-8"), re.M))
        self.assertLessEqual({"SUMMARY", "LICENSE", "LIC_FILES_CHKSUM", "SRC_URI", "S"}, set(recipe))
        sources = recipes[0].parent / recipe["SRC_URI"].removeprefix("file://")
        licence = hashlib.md5((sources / "LICENSE").read_bytes()).hexdigest()
        self.assertEqual(recipe["LIC_FILES_CHKSUM"], f"file://LICENSE;md5={licence}")
        conf = (layer / "conf/layer.conf").read_text(encoding="utf-8")
        self.assertRegex(conf, r'(?m)^LAYERSERIES_COMPAT_relaxc = "[a-z ]+"$')
        if shutil.which("aarch64-linux-gnu-gcc") is None:
            self.skipTest("there is no aarch64-linux-gnu-gcc")
        # As the class cmake of Yocto does: configured with a compiler for the device, built, installed into a folder.
        build, device = self.folder / "layer", self.folder / "device"
        for command in (["cmake", "-S", sources, "-B", build, "-D", "CMAKE_SYSTEM_NAME=Linux", "-D", "CMAKE_SYSTEM_PROCESSOR=aarch64",
                         "-D", "CMAKE_C_COMPILER=aarch64-linux-gnu-gcc", "-D", "CMAKE_BUILD_TYPE=MinSizeRel", "-D", "CMAKE_INSTALL_LIBDIR=lib"],
                        ["cmake", "--build", build, "-j2"], ["cmake", "--install", build, "--prefix", device / "usr"],
                        [BUILD / "bin/relaxc", ROOT / "examples/digits/digits.onnx", "--target", "aarch64", "-o", self.folder / "layer.o"]):
            subprocess.run(command, check=True, capture_output=True)
        (self.folder / "app.c").write_text('#include "layer.h"\n#include "relax_rt_hosted.h"\nint main(void) {\n'
                                           "  return layer_run == 0 || rlx_pool_create == 0;\n}\n", encoding="utf-8")
        subprocess.run(["aarch64-linux-gnu-gcc", f"-I{device}/usr/include", "app.c", "layer.o", f"-L{device}/usr/lib", "-lrelax_rt_hosted",
                        "-lrelax_rt", "-lpthread", "-lm", "-o", "app"], cwd=self.folder, check=True)

    def test_the_same_sources_give_the_same_bytes(self):
        subprocess.run([sys.executable, ROOT / "packaging/embedded.py", self.folder / "again"], check=True, capture_output=True)
        first, again = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
                        for folder in (self.out, self.folder / "again"))
        self.assertEqual(first, again)


if __name__ == "__main__":
    unittest.main()
