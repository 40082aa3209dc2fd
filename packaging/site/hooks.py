"""Makes the site of the pages in docs/ and of those at the root, without changing either.

Pages link to each other by their places in the repository. Here the pages of the root get names beside those of docs/,
links between pages follow, and links to what is no page (sources, folders) become plain text, since the site is of the
documentation alone.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md",
         "CHANGELOG.md": "changelog.md"}
PICTURES = {"bench/performance.png": "performance.png"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def on_files(files, config):
    for source, name in PAGES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text(encoding="utf-8")))
    for source, name in PICTURES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    origin = {name: source for source, name in PAGES.items()}
    here = page.file.src_uri
    folder = posixpath.dirname(origin.get(here, f"docs/{here}"))

    def link(match):
        picture, text, target = match.groups()
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or not path:
            return match.group()
        path = posixpath.normpath(posixpath.join(folder, path))
        name = PAGES.get(path) or PICTURES.get(path) or (path[len("docs/"):] if path.startswith("docs/") else None)
        if name is None:
            return text
        return f"{picture}[{text}]({posixpath.relpath(name, posixpath.dirname(here) or '.')}{hash_sign}{anchor})"

    parts, at = [], 0
    for block in CODE.finditer(markdown):
        parts += [LINK.sub(link, markdown[at:block.start()]), block.group()]
        at = block.end()
    return "".join(parts) + LINK.sub(link, markdown[at:])
