"""Builds the static site of the documentation with --strict: every page is in its contents, and every link leads
somewhere. Also looks that the search has words of the pages, and that no page loads anything from elsewhere.

Usage: site_test.py REPOSITORY. Exits with 77 where there is no mkdocs."""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()

if importlib.util.find_spec("mkdocs") is None:
    print("skipped: there is no mkdocs (tests/requirements.txt)")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", ROOT / "packaging/site/mkdocs.yml",
                            "-d", folder], capture_output=True, text=True, check=False)
    if built.returncode:
        sys.exit(built.stdout + built.stderr)
    site = Path(folder)
    pages = list(site.rglob("*.html"))
    found = {entry["location"].split("#")[0] for entry in json.loads((site / "search/search_index.json").read_text())["docs"]}
    for word in ("abi.html", "index.html", "tutorials/on-a-microcontroller.html"):
        if word not in found:
            sys.exit(f"the search does not know {word}")
    for page in pages:
        loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?://[^"]+)"', page.read_text(encoding="utf-8"))
        if loaded := [url for url in loaded if "relaxc" not in url]:
            sys.exit(f"{page.name} loads {loaded}")
    print(f"{len(pages)} pages")
