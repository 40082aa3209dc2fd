"""A folder of compiled models, bounded and shared by processes.

An entry is a folder named by a hash of all that decides what is in it. It is made beside its place and renamed into it,
so no process sees half of one; of two that make the same one, the later throws its own away. An entry that is removed
while a process uses it stays in that process, since its files are mapped. Which entries go is decided under a lock: those
that were not used for longest.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Callable, Iterable

DEFAULT_BYTES = 2 << 30
DAY = 24 * 3600  # seconds; no compilation takes as long


def folder() -> Path:
    """RELAXC_CACHE, or relaxc/ in the user's folder for such things."""
    named = os.environ.get("RELAXC_CACHE")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "relaxc"


def limit() -> int:
    """Bytes that the entries may take together: RELAXC_CACHE_BYTES, or 2 GiB."""
    return int(os.environ.get("RELAXC_CACHE_BYTES") or DEFAULT_BYTES)


def key(parts: Iterable[bytes]) -> str:
    made = hashlib.sha256()
    for part in parts:
        made.update(len(part).to_bytes(8, "little") + part)
    return made.hexdigest()


def is_usable() -> bool:
    """Whether there is a folder to write to; a home may be read-only."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder(), os.W_OK | os.X_OK)


def find_or_make(name: str, make: Callable[[Path], None]) -> Path:
    """The entry `name`, which `make(folder)` fills if it is not there. The cache is usable."""
    root = folder()
    entry = root / name
    with contextlib.suppress(FileNotFoundError):
        os.utime(entry)  # it was used now
        return entry
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        make(made)
        with contextlib.suppress(OSError):  # another process was faster
            made.rename(entry)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    evict(root, entry)
    return entry


def evict(root: Path, keep: Path) -> None:
    """Removes what was not used for longest until the rest fits, but never `keep`; and what killed processes left."""
    with open(root / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        entries = []
        for entry in root.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if entry.name.startswith((".new-", ".gone-")) and entry.stat().st_mtime < time.time() - DAY:
                    shutil.rmtree(entry, ignore_errors=True)
                elif entry.is_dir() and not entry.name.startswith("."):
                    entries.append((entry.stat().st_mtime_ns, sum(f.stat().st_size for f in entry.iterdir()), entry))
        total = sum(size for _, size, _ in entries)
        for _, size, entry in sorted(entries):
            if total <= limit():
                break
            if entry != keep:
                gone = root / f".gone-{entry.name}-{os.getpid()}"
                with contextlib.suppress(OSError):
                    entry.rename(gone)
                    total -= size
                shutil.rmtree(gone, ignore_errors=True)
