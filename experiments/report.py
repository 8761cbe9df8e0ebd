# SPDX-License-Identifier: Apache-2.0
"""REPORT.md from the experiments' READMEs: all verdicts in a table, then every result with its figure.

usage: report.py FOLDER OUT    FOLDER has the READMEs: experiments/, or where --quick wrote them; OUT is the page

The table of verdicts in FOLDER/README.md, if there is one, is written anew.
"""

import os
import pathlib
import re
import sys

import harness

BEGIN, END = "<!-- verdicts: written by report.py -->", "<!-- end of verdicts -->"


def title_of(text: str) -> str:
    return text.splitlines()[0].lstrip("# ").strip()


def verdict_of(text: str, name: str) -> str:
    found = re.search(r"^\*\*Verdict:\*\* (.+?)\n\n", text, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"{name}: no verdict")
    return found[1].replace("\n", " ")


def verdicts(readmes: dict[str, str], prefix: str) -> list[str]:
    rows = [f"| [{title_of(text)}]({prefix}{name}) | {verdict_of(text, name)} |" for name, text in readmes.items()]
    return ["| experiment | verdict |", "| --- | --- |", *rows]


def write_index(path: pathlib.Path, readmes: dict[str, str]) -> None:
    before, _, rest = path.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest:
        sys.exit(f"{path}: the marks of the table are missing")
    path.write_text(before + "\n".join([BEGIN, "", *verdicts(readmes, ""), "", END]) + after)


def main(folder: pathlib.Path, out: pathlib.Path) -> None:
    readmes = {path.parent.name: path.read_text() for path in sorted(folder.glob("[0-9]*/README.md"))}
    prefix = os.path.relpath(folder, out.parent) + "/"
    lines = ["# The paper's claims and ours, reproduced", ""]
    lines += ["`scripts/reproduce.sh` wrote this page. The last run's environment:", ""]
    lines += [f"- {key}: {value}" for key, value in harness.environment().items()]
    lines += ["", *verdicts(readmes, prefix)]
    for name, text in readmes.items():
        body = text.replace("](results/", f"]({prefix}{name}/results/")
        body = body.replace(harness.BEGIN, "").replace(harness.END, "")
        lines += ["", re.sub(r"^#", "##", body.strip(), flags=re.MULTILINE)]
    out.write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n")
    if (folder / "README.md").exists():
        write_index(folder / "README.md", readmes)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(pathlib.Path, sys.argv[1:]))
