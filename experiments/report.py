# SPDX-License-Identifier: Apache-2.0
"""REPORT.md from the experiments' READMEs: all verdicts in a table, then every result with its plots inline.

usage: report.py FOLDER    the folder with the READMEs: experiments/, or where --quick wrote
"""

import pathlib
import re
import sys

import harness


def title_of(text: str) -> str:
    return text.splitlines()[0].lstrip("# ").strip()


def verdict_of(text: str, name: str) -> str:
    found = re.search(r"^\*\*Verdict:\*\* (.+)$", text, re.MULTILINE)
    if not found:
        sys.exit(f"{name}: no verdict")
    return found[1]


def main(folder: pathlib.Path) -> None:
    readmes = {path.parent.name: path.read_text() for path in sorted(folder.glob("[0-9]*/README.md"))}
    lines = ["# The paper's claims, and ours, reproduced", ""]
    lines += [
        "`scripts/reproduce.sh` wrote this page. Each result's machine is in the header of its CSV; the last run:",
        "",
    ]
    lines += [f"- {key}: {value}" for key, value in harness.environment().items()]
    lines += ["", "| experiment | verdict |", "| --- | --- |"]
    lines += [f"| [{title_of(text)}]({name}/README.md) | {verdict_of(text, name)} |" for name, text in readmes.items()]
    for name, text in readmes.items():
        body = text.replace("](results/", f"]({name}/results/").replace(harness.BEGIN, "").replace(harness.END, "")
        lines += ["", re.sub(r"^#", "##", body.strip(), flags=re.MULTILINE)]
    (folder / "REPORT.md").write_text(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
