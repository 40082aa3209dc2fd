"""embedded.py: the runtime as a package of tool chains for microcontrollers, and as a layer of Yocto.

    python3 packaging/embedded.py FOLDER

writes FOLDER/zephyr (a module: add it to ZEPHYR_EXTRA_MODULES), FOLDER/esp-idf/relax_rt (a component: put it into
components/), FOLDER/arduino (a library for the Arduino IDE and PlatformIO: put it into lib/), FOLDER/cmsis (a CMSIS-Pack:
its description and what it lists, which packchk and zip make a .pack of) and FOLDER/meta-relaxc (a layer: add it by
bitbake-layers). All of them hold the same sources, those that `relax_rt` is built of, and the layer also those of
`relax_rt_hosted`; models are added to a project as objects or as C (docs/my-chip.md). The same sources give the same bytes.
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = ROOT / "runtime-lite"
ABOUT = "Runtime of neural networks that relaxc compiled"
LICENSE = "Apache-2.0"
HOME = "https://example.com/relaxc"


def version():
    return re.search(r"project\(\w+\s+VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def sources():
    """The freestanding core, without the functions of a C library, which these tool chains have."""
    return sorted(path.name for path in (RUNTIME / "core").glob("*.c") if path.name != "memory.c")


def headers():
    """Those of the core, private ones included; nothing that needs an operating system."""
    return sorted(path for folder in ("include", "core") for path in (RUNTIME / folder).glob("*.h") if "hosted" not in path.name)


def copy(folder, source_folder, header_folder):
    (folder / source_folder).mkdir(parents=True, exist_ok=True)
    (folder / header_folder).mkdir(parents=True, exist_ok=True)
    for name in sources():
        shutil.copyfile(RUNTIME / "core" / name, folder / source_folder / name)
    for path in headers():
        shutil.copyfile(path, folder / (header_folder if path.parent.name == "include" else source_folder) / path.name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def zephyr(folder):
    copy(folder, "core", "include")
    write(folder / "zephyr/module.yml", "name: relax_rt\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n")
    write(folder / "zephyr/Kconfig", f"""config RELAX_RT
\tbool "{ABOUT}"
\thelp
\t  Checks of arguments and error messages that the objects of relaxc are
\t  linked with. A model takes of it what it calls.
""")
    listed = "\n".join(f"    ../core/{name}" for name in sources())
    write(folder / "zephyr/CMakeLists.txt", f"""if(CONFIG_RELAX_RT)
  zephyr_include_directories(../include)
  zephyr_library_named(relax_rt)
  zephyr_library_compile_options(-ffunction-sections -fdata-sections)
  zephyr_library_sources(
{listed})
endif()
""")


def esp_idf(folder):
    copy(folder, "core", "include")
    listed = "\n".join(f'       "core/{name}"' for name in sources())
    write(folder / "CMakeLists.txt", f"""idf_component_register(
  SRCS
{listed}
  INCLUDE_DIRS "include")
""")
    write(folder / "idf_component.yml", f'version: "{version()}"\ndescription: {ABOUT}\nurl: {HOME}\nlicense: {LICENSE}\n')


def arduino(folder):
    copy(folder, "src", "src")
    described = {"name": "relax_rt", "version": version(), "description": ABOUT, "keywords": "neural network, inference, onnx",
                 "license": LICENSE, "homepage": HOME, "frameworks": "*", "platforms": "*", "headers": "relax_rt.h",
                 "build": {"srcDir": "src", "includeDir": "src"}}
    write(folder / "library.json", json.dumps(described, indent=2) + "\n")
    properties = {"name": "relax_rt", "version": version(), "author": "relaxc developers", "maintainer": "relaxc developers",
                  "sentence": ABOUT + ".", "paragraph": "Models are objects or C files that relaxc wrote; they are linked with this.",
                  "category": "Data Processing", "url": HOME, "architectures": "*", "includes": "relax_rt.h"}
    write(folder / "library.properties", "".join(f"{key}={value}\n" for key, value in properties.items()))


def cmsis(folder):
    copy(folder, "core", "include")
    files = ['<file category="include" name="include/"/>']
    files += [f'<file category="sourceC" name="core/{name}"/>' for name in sources()]
    files += [f'<file category="header" name="core/{path.name}"/>' for path in headers() if path.parent.name == "core"]
    listed = "\n".join(f"        {line}" for line in files)
    write(folder / "relaxc.relax_rt.pdsc", f"""<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>relaxc</vendor>
  <name>relax_rt</name>
  <description>{escape(ABOUT)}</description>
  <url>{HOME}/</url>
  <license>LICENSE</license>
  <releases>
    <release version="{version()}">See CHANGELOG.md of relaxc.</release>
  </releases>
  <conditions>
    <condition id="Cortex-M">
      <accept Dcore="Cortex-M0"/>
      <accept Dcore="Cortex-M0+"/>
      <accept Dcore="Cortex-M3"/>
      <accept Dcore="Cortex-M4"/>
      <accept Dcore="Cortex-M7"/>
      <accept Dcore="Cortex-M33"/>
      <accept Dcore="Cortex-M55"/>
    </condition>
  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="relaxc" Csub="Runtime" Cversion="{version()}" condition="Cortex-M">
      <description>{escape(ABOUT)}</description>
      <files>
{listed}
      </files>
    </component>
  </components>
</package>
""")


def yocto(folder):
    recipes = folder / "recipes-support/relax-rt"
    sources_of = recipes / "relax-rt"
    copy(sources_of, "core", "include")
    (sources_of / "hosted").mkdir()
    for path in [*(RUNTIME / "hosted").glob("*.[ch]"), RUNTIME / "include/relax_rt_hosted.h"]:
        shutil.copyfile(path, sources_of / path.parent.name / path.name)
    write(sources_of / "CMakeLists.txt", """cmake_minimum_required(VERSION 3.16)
project(relax_rt C)
set(CMAKE_C_STANDARD 99)
find_package(Threads REQUIRED)
include(GNUInstallDirs)
foreach(part IN ITEMS core hosted)
  file(GLOB sources ${part}/*.c)
  set(name $<IF:$<STREQUAL:${part},core>,relax_rt,relax_rt_hosted>)
  add_library(${part} STATIC ${sources})
  target_include_directories(${part} PRIVATE include)
  target_compile_options(${part} PRIVATE -ffunction-sections -fdata-sections)
  set_target_properties(${part} PROPERTIES OUTPUT_NAME ${name} C_EXTENSIONS OFF)
  install(TARGETS ${part} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
file(GLOB headers include/*.h)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
""")
    write(recipes / f"relax-rt_{version()}.bb", f"""SUMMARY = "{ABOUT}"
HOMEPAGE = "{HOME}"
LICENSE = "{LICENSE}"
LIC_FILES_CHKSUM = "file://LICENSE;md5={hashlib.md5((ROOT / 'LICENSE').read_bytes()).hexdigest()}"

# The files of the folder relax-rt beside this recipe.
S = "${{@d.getVar('UNPACKDIR') or d.getVar('WORKDIR')}}/relax-rt"
FILESEXTRAPATHS:prepend := "${{THISDIR}}:"
SRC_URI = "file://relax-rt"

inherit cmake

# Static libraries and headers alone: nothing of it is installed on a device.
ALLOW_EMPTY:${{PN}} = "1"
""")
    write(folder / "conf/layer.conf", """BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes-*/*/*.bb"
BBFILE_COLLECTIONS += "relaxc"
BBFILE_PATTERN_relaxc = "^${LAYERDIR}/"
BBFILE_PRIORITY_relaxc = "6"
LAYERDEPENDS_relaxc = "core"
LAYERSERIES_COMPAT_relaxc = "kirkstone scarthgap styhead walnascar"
""")


PACKAGES = {"zephyr": zephyr, "esp-idf/relax_rt": esp_idf, "arduino": arduino, "cmsis": cmsis, "meta-relaxc": yocto}


def make(folder):
    for name, maker in PACKAGES.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        maker(folder / name)


def main():
    parser = argparse.ArgumentParser(description="packages the runtime for tool chains of devices")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    make(folder)
    print("\n".join(str(folder / name) for name in PACKAGES))


if __name__ == "__main__":
    sys.exit(main())
