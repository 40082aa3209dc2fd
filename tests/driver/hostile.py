"""What tests of hostile input share: relaxc within 10 s and 1 GB, and files that were changed."""

import random
import resource
import struct
import subprocess

from program import RELAXC, ProgramTest

SECONDS, MEMORY = 10, 1 << 30


def limits(processor=None):
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if processor is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))


def mutated(content, numbers):
    """One to three small changes of bytes."""
    data = bytearray(content)
    for _ in range(numbers.choice((1, 1, 1, 2, 3))):
        if not data:
            break
        at, other = numbers.randrange(len(data)), numbers.randrange(len(data))
        how = numbers.randrange(7)
        if how == 0:
            del data[at:]
        elif how == 1:
            data[at] ^= 1 << numbers.randrange(8)
        elif how == 2:
            data[at] = numbers.choice((0, 1, 0x7f, 0x80, 0xff))
        elif how == 3:
            del data[at:at + numbers.randrange(1, 9)]
        elif how == 4:
            data[at:at] = data[other:other + numbers.randrange(1, 40)]
        elif how == 5:
            data[at:at] = numbers.choice((b"\xff" * 9 + b"\x01", b"\xff\xff\xff\xff\x07", b"\x00\x00\x00\x80", b"\x80" * 12))
        else:
            data[at:at + 4] = struct.pack("<i", numbers.choice((-1, 2**31 - 1, -2**31, 65536, len(data))))
    return bytes(data)


class HostileTest(ProgramTest):
    def answer(self, *arguments, codes=(0, 1), command=RELAXC, processor=None):
        """Runs relaxc, with at most `processor` seconds of the processor instead of 10 of time. It ends with one of the exit
        codes and says why, unless that is 0; then no file has come or changed."""
        before = self.stamps()
        done = subprocess.run([command, *map(str, arguments)], cwd=self.path, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS if processor is None else None, preexec_fn=lambda: limits(processor), check=False)
        self.assertIn(done.returncode, codes, done.stderr)
        self.assertEqual("error: " in done.stderr, done.returncode != 0, done.stderr)
        self.assertNotIn("internal error", done.stderr)
        if done.returncode != 0:
            self.assertEqual(self.stamps(), before)
        return done

    def stamps(self):
        return {name: (self.path / name).stat().st_mtime_ns for name in self.files()}
