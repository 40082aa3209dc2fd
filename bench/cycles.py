"""cycles.py: estimated cycles of a program for a Cortex-M that QEMU ran.

These are estimates: QEMU counts instructions and knows no pipeline, and no chip is asked. count_blocks.c, a plugin of QEMU,
counts how often each block of instructions runs and how often a jump ends it. llvm-mca simulates each block, run again and
again, with LLVM's scheduling model of the core; the block's cycles are those times its runs. To these come what llvm-mca
does not know:

- Jumps. A Cortex-M3 or M4 takes 1 + P cycles for one, P from 1 to 3 (Cortex-M4 TRM, Arm DDI 0439, table 3-1, whose P is
  the refill of the pipeline); JUMP has 2 for it. For an M33 and M55, whose manuals (100230, 101051) have no such table, the
  same number stands in. An M7 and M85 predict branches (DDI 0489, 101924): a jump costs nothing more, and the wrong
  guesses at ends of loops are left out.
- LE of the low-overhead loops: an M55 and M85 repeat a loop that they know without executing its LE (Armv8-M Architecture
  Reference Manual, DDI 0553, "low overhead branch extension"), so neither it nor its jump counts.
- Loads before other instructions. A load takes two cycles on an M3 or M4, one of which the next load or store hides
  (DDI 0439, "load/store timings"); llvm-mca counts the second cycle where the next instruction reads what was
  loaded, so the others are added. An M33's pipeline has no such table; only what llvm-mca counts is counted.
- Several registers. LDM, LDRD, PUSH and the like take a cycle for each word, on cores with a bus of 64 bits for each two;
  llvm-mca counts one. On an M3 or M4 they take one more, which no load or store beside them hides (DDI 0439, table 3-1).

A vector instruction of 128 bits occupies its unit of an M55 for two cycles (101051, "beats"), and LLVM's model of it does so,
too: loads and multiplications overlap. Memory is taken to answer at once: flash with wait states and misses of caches
come on top."""

import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLUGIN = HERE / "count_blocks.c"

JUMP = {"cortex-m3": 2, "cortex-m4": 2, "cortex-m33": 2, "cortex-m55": 2, "cortex-m7": 0, "cortex-m85": 0}
LONE_LOADS = {"cortex-m3", "cortex-m4"}
WORDS_PER_CYCLE = {"cortex-m7": 2, "cortex-m55": 2, "cortex-m85": 2}
BRANCHES = re.compile(r"(b|bl|blx|bx|bxns|b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(\.[wn])?|b\.[wn]|cbn?z|le|letp|tb[bh]|"
                      r"wls(tp\.\d+)?)$")
LOADS = re.compile(r"v?ldr\w*(\.\w+)?$")
MEMORY = re.compile(r"v?(ldr|str|ldm|stm|push|pop)")
ITERATIONS = 100


def run(*command, text=None):
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr[-1000:]}")
    return done.stdout


def build_plugin(folder):
    plugin = Path(folder) / "count_blocks.so"
    if not plugin.exists():
        run("cc", "-shared", "-fPIC", "-O2", "-o", plugin, PLUGIN)
    return plugin


class Instruction:
    def __init__(self, address, text):
        self.address = address
        self.mnemonic, _, operands = text.partition("\t")
        self.operands = re.sub(r"\s*(@|<).*", "", operands).strip()
        self.count = self.jumps = 0

    def is_branch(self):
        return BRANCHES.match(self.mnemonic) is not None

    def registers(self):
        """How many words of registers it loads or stores beyond the first."""
        listed = re.search(r"\{(.*)\}", self.operands)
        if self.mnemonic.startswith(("ldrd", "strd")):
            return 1
        if listed is None or not re.match(r"v?(ldm|stm|push|pop)", self.mnemonic):
            return 0
        count = 0
        for part in listed[1].split(","):
            ends = [int(number) for number in re.findall(r"\d+", part)]
            words = 2 if part.strip().startswith("d") else 1
            count += words * (ends[1] - ends[0] + 1 if len(ends) == 2 else 1)
        return count - 1

    def text(self):
        """As llvm-mca reads it; where it jumps to does not matter."""
        operands = self.operands
        if self.is_branch() and "0x" in operands:
            operands = re.sub(r"#?-?0x[0-9a-f]+$", ".Lend", operands)
        return f"{self.mnemonic} {operands}"


def parse_listing(text):
    """(functions, instructions) of llvm-objdump's listing: functions as (address, name)."""
    functions, instructions = [], []
    for line in text.splitlines():
        if label := re.match(r"([0-9a-f]+) <(.+)>:$", line):
            functions.append((int(label[1], 16), label[2]))
        elif code := re.match(r"\s*([0-9a-f]+):\s+([a-z].*)$", line):
            instructions.append(Instruction(int(code[1], 16), code[2]))
    return functions, instructions


def add_counts(instructions, counts):
    """What count_blocks.c wrote, by instruction. \\return the addresses at which blocks begin"""
    places = {one.address: at for at, one in enumerate(instructions)}
    changes, starts = [0] * (len(instructions) + 1), set()
    for line in counts.splitlines():
        start, last, runs, jumps = line.split()
        start, last = int(start, 16), int(last, 16)
        if start not in places or last not in places:
            continue
        starts.add(start)
        changes[places[start]] += int(runs)
        changes[places[last] + 1] -= int(runs)
        instructions[places[last]].jumps += int(jumps)
    count = 0
    for one, change in zip(instructions, changes):
        count += change
        one.count = count
    return starts


def blocks_of(functions, instructions, starts, left_out=()):
    """(function's name, [Instruction]) of each block that ran, but not those of functions that are left out."""
    names, name, block, blocks = dict(functions), "", [], []
    for one in instructions:
        begins = one.address in names or one.address in starts or (block and block[-1].count != one.count)
        if block and (begins or block[-1].is_branch()):
            blocks.append((name, block))
            block = []
        name = names.get(one.address, name)
        block.append(one)
    blocks.append((name, block))
    return [(name, block) for name, block in blocks if block and block[0].count > 0 and name not in left_out]


def simulated(blocks, cpu):
    """Cycles of one run of each block, by llvm-mca."""
    text = []
    for at, (_, block) in enumerate(blocks):
        lines = [one.text() for one in block if one.mnemonic not in ("le", "letp")]
        text += [f"# LLVM-MCA-BEGIN b{at}", *(lines or ["nop"]), "# LLVM-MCA-END"]
    answer = json.loads(run("llvm-mca-22", "-mtriple=thumbv8.1m.main-none-eabi", "-mcpu=" + cpu, f"-iterations={ITERATIONS}",
                            "-skip-unsupported-instructions=any", "-call-latency=1", "-json", text="\n".join([*text, ".Lend:", ""])))
    cycles = [0.0] * len(blocks)
    for region in answer["CodeRegions"]:
        cycles[int(region["Name"][1:])] = region["SummaryView"]["TotalCycles"] / ITERATIONS
    return cycles


def added(block, cpu):
    """Cycles of one run that llvm-mca leaves out, but for jumps."""
    words = WORDS_PER_CYCLE.get(cpu, 1)
    cycles = sum(-(-(one.registers() + 1) // words) - 1 for one in block)
    if cpu not in LONE_LOADS:
        return cycles
    for one, after in zip(block, block[1:]):
        loaded = re.match(r"\w+", one.operands)
        stalls = loaded is not None and re.search(rf"\b{loaded[0]}\b", after.operands)
        alone = LOADS.match(one.mnemonic) and not MEMORY.match(after.mnemonic) and not stalls
        cycles += 1 if alone or one.registers() > 0 else 0
    return cycles


def estimate(functions, instructions, counts, cpu, left_out=()):
    """{function: (instructions, cycles)}"""
    blocks = blocks_of(functions, instructions, add_counts(instructions, counts), left_out)
    totals = {}
    for (name, block), cycles in zip(blocks, simulated(blocks, cpu)):
        runs = block[0].count
        jumps = sum(one.jumps for one in block if one.mnemonic not in ("le", "letp")) * JUMP[cpu]
        before = totals.get(name, (0, 0))
        totals[name] = (before[0] + runs * len(block), before[1] + runs * (cycles + added(block, cpu)) + jumps)
    return totals


def of_program(board, folder, plugin):
    """The same of m.elf in a folder, for a board of tests/embedded/board.py; without the start-up and what compares outputs."""
    board.run(folder, ["-plugin", f"{plugin},out=counts.txt"])
    own = [*board.runtime(), folder / "board_main.o"]
    left_out = set()
    for object_ in own:
        if Path(object_).name.startswith(("start", "board_main")):
            left_out |= {line.split()[-1] for line in run(board.cross + "nm", object_).splitlines() if " U " not in line}
    listing = run("llvm-objdump-22", "-d", "--no-show-raw-insn", "--mcpu=" + board.cpu, folder / "m.elf")
    return estimate(*parse_listing(listing), (folder / "counts.txt").read_text(), board.cpu, left_out)
