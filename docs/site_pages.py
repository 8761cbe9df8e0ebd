# SPDX-License-Identifier: Apache-2.0
"""What the site takes from elsewhere when it is built: the help of programs, the comments at the top of headers, and
pages of the repository that lie outside of docs/."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import inspect
from sphinx.util.docutils import SphinxDirective
from sphinx.util.inspect import stringify_signature

ROOT = Path(__file__).resolve().parents[1]

# Pages of the site that are files outside of docs/. The page in docs/ has their place in the table of contents only.
ELSEWHERE = {
    "project/changelog": "CHANGELOG.md",
    "project/contributing": "CONTRIBUTING.md",
    "project/experiments": "experiments/README.md",
    "project/hacking": "HACKING.md",
}
SHOWN = {path: f"/{page}.md" for page, path in ELSEWHERE.items()} | {"docs/README.md": "/index.md"}


def output_of(*command: str) -> str:
    """What a command prints; a command that fails is an error."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()


def fenced(text: str) -> str:
    return f"```text\n{text}\n```\n"


def as_tables(help_text: str) -> str:
    """The help of a program as Markdown: what is indented becomes tables, so that long lines wrap."""
    lines: list[str] = []
    row: list[str] = []

    def end_row() -> None:
        if row:
            name, meaning = (piece.replace("|", "\\|") for piece in (row[0], " ".join(row[1:])))
            lines.append(f"| `{name}` | {meaning} |")
            row.clear()

    for line in help_text.splitlines():
        entry = re.fullmatch(r"  (\S.*?)(?:\s{2,}(\S.*))?", line)
        if entry is not None:
            end_row()
            row.extend(piece for piece in entry.groups() if piece)
        elif line.startswith("    "):
            row.append(line.strip())
        else:
            end_row()
            if line.endswith(":"):
                lines += ["", f"**{line[:-1]}**", "", "| | |", "| --- | --- |"]
            elif line.startswith(("Usage: ", "Example: ")):
                lines += ["", re.sub(r"^(\w+): (.*)", r"\1: `\2`", line)]
            elif line:
                lines += ["", line[0].upper() + line[1:] + "."]
    end_row()
    return "\n".join(lines) + "\n"


class ProgramSummary(SphinxDirective):
    """The help of the command line itself."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(as_tables(output_of(self.config.taproot_program, "--help")))


class ProgramHelp(SphinxDirective):
    """The help of its commands: one section per command, in its own order."""

    def run(self) -> list[nodes.Node]:
        program = self.config.taproot_program
        commands = re.findall(r"^  (\w+) ", output_of(program, "--help").split("Subcommands:")[1], re.MULTILINE)
        text = ""
        for command in commands:
            described = as_tables(output_of(program, command, "--help"))
            text += f"\n(taproot-{command})=\n## taproot {command}\n\n{described}"
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class ModuleHelp(SphinxDirective):
    """The help of `python -m MODULE`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = output_of(sys.executable, "-m", self.arguments[0], "--help")
        return self.parse_text_to_nodes(fenced(text))


class Header(SphinxDirective):
    """A public header: the comment at its top, its classes, and the rest that it declares, from Doxygen's XML."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        path = ROOT / "include/taproot" / name
        self.env.note_dependency(str(path))
        lines = path.read_text().split("#pragma once")[0].splitlines()[1:]
        text = "\n".join(line.removeprefix("//").removeprefix(" ") for line in lines)
        xml = Path(self.config.breathe_projects["taproot"]) / (name.replace("_", "__").replace(".", "_8") + ".xml")
        described = ElementTree.parse(xml)
        text += "\n\n```{cpp:namespace} NULL\n```\n"
        for inner in described.iter("innerclass"):
            kind = "struct" if inner.attrib["refid"].startswith("struct") else "class"
            if (inner.text or "").count("::") == 1:
                text += f"\n```{{doxygen{kind}}} {inner.text}\n:members:\n:undoc-members:\n```\n"
        if described.find(".//memberdef") is not None:
            # A file's functions have no qualified names in the XML.
            sections = "enum typedef func var"
            text += f"\n```{{cpp:namespace}} taproot\n```\n\n```{{doxygenfile}} {name}\n:sections: {sections}\n```\n"
        return self.parse_text_to_nodes(text)


def list_parameters(app: Sphinx, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Turns the section "Parameters" of a docstring, in NumPy's style, into a list. It ends with its last entry."""
    for start in range(len(lines) - 1):
        if lines[start].strip() == "Parameters" and set(lines[start + 1].strip()) == {"-"}:
            break
    else:
        return
    found, at = [".. rubric:: Parameters", ""], start + 2
    while at + 1 < len(lines) and lines[at].strip() and lines[at + 1].startswith(" "):
        found.append(", ".join(f"``{parameter}``" for parameter in lines[at].strip().split(", ")))
        at += 1
        while at < len(lines) and (lines[at].startswith(" ") or not lines[at].strip()):
            found.append(lines[at])
            at += 1
    lines[start:at] = [*found, ""]


def name_types(app: Sphinx, what: str, name: str, of: Any, options: Any, signature: str, returned: str) -> Any:
    """Shows the names of types in signatures, not how autodoc stands in for them."""

    def plain(text: str | None) -> str | None:
        return text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text)

    if what == "class" and signature == "(*args: Any, **kwargs: Any)":  # The base class is not installed.
        signature = stringify_signature(inspect.signature(of.__init__, bound_method=True), unqualified_typehints=True)
    return plain(signature), plain(returned)


def on_site(target: str, folder: str, forge: str) -> str | None:
    """Where a link of a page in `folder` leads on the site; None if the site does not have it."""
    path, mark, anchor = target.partition("#")
    place = os.path.normpath(os.path.join(folder, path))
    if place in SHOWN:
        return SHOWN[place] + mark + anchor
    if place.startswith("docs/"):
        return "/" + place.removeprefix("docs/") + mark + anchor
    assert (ROOT / place).exists(), f"a link leads to {place}, which does not exist"
    return f"{forge}/{place}" if forge else None


def bring_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Fills pages that are files elsewhere, and lets links between files of the repository lead to pages."""
    path = ELSEWHERE.get(page, f"docs/{page}.md")
    if page in ELSEWHERE:
        app.env.note_included(str(ROOT / path))
        app.env.note_dependency(str(ROOT / path))
        source[0] = (ROOT / path).read_text()

    def rewritten(link: re.Match[str]) -> str:
        text, target = link.groups()
        place = on_site(target, os.path.dirname(path), app.config.taproot_forge)
        return text if place is None else f"[{text}]({place})"

    source[0] = re.sub(r"(?<![!`])\[([^][]+)\]\((?![a-z]+:|#|/)([^()\s]+)\)", rewritten, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("taproot_program", "taproot", "env")
    app.add_config_value("taproot_forge", "", "env")
    app.add_directive("program-summary", ProgramSummary)
    app.add_directive("program-help", ProgramHelp)
    app.add_directive("module-help", ModuleHelp)
    app.add_directive("header", Header)
    app.connect("source-read", bring_in)
    app.connect("autodoc-process-docstring", list_parameters)
    app.connect("autodoc-process-signature", name_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
