#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the completions for bash, zsh and fish beside this file, from the program's own --help.

    cli/completions/generate.py build/release/cli/taproot
"""

import pathlib
import re
import subprocess
import sys

HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Completion of taproot for {}. Written by generate.py.\n"


class Option:
    """One option of one command: its names, its help, and what follows it."""

    def __init__(self, names, value, text):
        self.names = names.split(",")
        self.long = next(name for name in self.names if name.startswith("--"))
        choices = re.search(r":\{(.*)\}", value)
        self.choices = choices.group(1).replace(",", " ") if choices else ""
        self.takes_file = value.split("=")[0] == "FILE"
        self.takes_value = bool(value)
        self.text = text


def rows(text, section):
    """The rows of a section of --help, each as (names and value, description)."""
    found = []
    inside = False
    for line in text.splitlines():
        if not line.strip():
            inside = False
        elif line.endswith(":") and not line.startswith(" "):
            inside = line == section + ":"
        elif inside and re.match(r"  \S", line):
            left, _, right = line[2:].partition("  ")
            found.append([left.strip(), right.strip()])
        elif inside and found:
            found[-1][1] = (found[-1][1] + " " + line.strip()).strip()
    return found


def options_of(program, command):
    text = subprocess.run([program, command, "--help"], check=True, capture_output=True, text=True).stdout
    found = []
    for left, right in rows(text, "Options"):
        names, _, value = left.partition(" ")
        value = value.replace("REQUIRED", "").replace("...", "").strip()
        found.append(Option(names, value, right))
    return found


def bash(commands):
    choices = {}  # option -> choices -> commands
    for command, (_, options) in commands.items():
        for option in options:
            if option.choices:
                choices.setdefault(option.long, {}).setdefault(option.choices, []).append(command)
    lines = [
        "_taproot() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options=\"\"",
        "  case $command:$before in",
    ]
    for option, by_choice in choices.items():
        # The choices of most commands come last, for all commands that are not named before.
        for names, users in sorted(by_choice.items(), key=lambda item: len(item[1])):
            last = len(users) == max(len(others) for others in by_choice.values())
            pattern = f"*:{option}" if last else "|".join(f"{user}:{option}" for user in users)
            lines += [f"    {pattern})", f"      mapfile -t COMPREPLY < <(compgen -W \"{names}\" -- \"$word\")", "      return ;;"]
    lines += [
        "  esac",
        "  if [ \"$COMP_CWORD\" = 1 ]; then",
        f"    mapfile -t COMPREPLY < <(compgen -W \"{' '.join(commands)} --help --version\" -- \"$word\")",
        "    return",
        "  fi",
        "  case $command in",
    ]
    for command, (_, options) in commands.items():
        names = " ".join(name for option in options for name in option.names)
        lines.append(f"    {command}) options=\"{names}\" ;;")
    lines += [
        "  esac",
        "  if [[ $word == -* ]]; then",
        "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")",
        "  else",
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")",
        "  fi",
        "}",
        "complete -o filenames -F _taproot taproot",
    ]
    return HEADER.format("bash") + "\n".join(lines) + "\n"


def zsh(commands):
    def quoted(text):
        return text.replace("\\", "\\\\").replace(":", "\\:").replace("[", "\\[").replace("]", "\\]").replace("'", "'\\''")

    lines = ["_taproot() {", "  local -a commands", "  commands=("]
    lines += [f"    '{command}:{quoted(what)}'" for command, (what, _) in commands.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe 'command' commands", "    return", "  fi", "  case $words[2] in"]
    for command, (_, options) in commands.items():
        lines += [f"    {command})", "      _arguments \\"]
        for option in options:
            value = f":name:({option.choices})" if option.choices else ":file:_files" if option.takes_file else ":value:" if option.takes_value else ""
            lines += [f"        '{name}[{quoted(option.text)}]{value}' \\" for name in option.names]
        lines.append("        '*:file:_files' ;;")
    lines += ["  esac", "}", "_taproot \"$@\""]
    return "#compdef taproot\n" + HEADER.format("zsh") + "\n".join(lines) + "\n"


def fish(commands):
    def quoted(text):
        return text.replace("\\", "\\\\").replace("'", "\\'")

    lines = [
        f"complete -c taproot -n __fish_use_subcommand -f -a {command} -d '{quoted(what)}'"
        for command, (what, _) in commands.items()
    ]
    users = {}  # Most options are the same for many commands: one line for all of them.
    for command, (_, options) in commands.items():
        for option in options:
            names = "".join(f" -s {name[1:]}" for name in option.names if not name.startswith("--")) + f" -l {option.long[2:]}"
            value = f" -x -a '{option.choices}'" if option.choices else " -r" if option.takes_file else " -x" if option.takes_value else ""
            users.setdefault(f"{names}{value} -d '{quoted(option.text)}'", []).append(command)
    for option, own in users.items():
        lines.append(f"complete -c taproot -n '__fish_seen_subcommand_from {' '.join(own)}'{option}")
    return HEADER.format("fish") + "\n".join(lines) + "\n"


def main():
    program = sys.argv[1]
    text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
    commands = {name: (what, options_of(program, name)) for name, what in rows(text, "Subcommands")}
    folder = pathlib.Path(__file__).parent
    (folder / "taproot.bash").write_text(bash(commands))
    (folder / "_taproot").write_text(zsh(commands))
    (folder / "taproot.fish").write_text(fish(commands))


if __name__ == "__main__":
    main()
