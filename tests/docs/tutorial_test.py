"""Runs a tutorial as it is, from an installed package: a block behind a line "`name`:" is a file, each line of an ```sh
block a command, and a ```text block without a name is only shown. net.onnx is the network of the digits example until the tutorial
exports one. What needs PyTorch is left out where there is none, and said so; where a program that the page runs is
missing, the test is skipped.

Usage: tutorial_test.py PAGE REPOSITORY BUILD"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE, ROOT, BUILD = (Path(argument).resolve() for argument in sys.argv[1:4])
BLOCK = re.compile(r"(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        prefix, folder = Path(scratch) / "prefix", Path(scratch) / "work"
        folder.mkdir()
        (folder / "net.onnx").write_bytes((ROOT / "examples/digits/digits.onnx").read_bytes())
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        environment = {**os.environ, "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        torch, done = importlib.util.find_spec("torch"), 0
        for name, language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            if name:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
                continue
            if language == "text":
                continue
            if language != "sh":
                sys.exit(f"{PAGE}: a block of {language} is neither a file nor commands")
            for command in text.splitlines():
                command = command.removeprefix("$ ")
                if command == "python3 export.py":
                    if torch is None:
                        print("left out: export.py, there is no torch")
                        continue
                    command = f"{sys.executable} export.py"
                program = command.split()[0]
                if shutil.which(program, path=environment["PATH"]) is None and not program.startswith("build/"):
                    print(f"skipped: there is no {program}")
                    sys.exit(77)
                ran = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
                                     check=False)
                if ran.returncode:
                    sys.exit(f"{PAGE}: {command}: exit {ran.returncode}\n{ran.stdout}{ran.stderr}")
                done, last = done + 1, ran.stdout
        if len(last.splitlines()) != 10:
            sys.exit(f"{PAGE}: the program prints {last}")
        print(f"{done} commands")


if __name__ == "__main__":
    main()
