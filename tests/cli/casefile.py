# SPDX-License-Identifier: Apache-2.0
"""Reads a case file: statements, each a line `word rest`, with the lines behind it that start with `|`."""
import re

WORDS = {"needs", "timeout", "env", "unset", "scenario", "file", "copy", "ptx", "do", "run", "exit", "stdout", "stderr"}
WITH_BLOCK = {"scenario", "file", "stdout", "stderr"}
WITHOUT_REST = {"scenario", "stdout", "stderr"}
EXPECTATIONS = {"exit", "stdout", "stderr"}


class CaseError(Exception):
    """A case file that does not make sense, or a setup line that cannot be carried out."""


class Statement:
    def __init__(self, word, rest="", block=None, line=0):
        self.word, self.rest, self.block, self.line = word, rest, block or [], line

    def lines(self):
        head = f"{self.word} {self.rest}".rstrip()
        return [head] + [f"| {text}".rstrip() if text else "|" for text in self.block]


class Comment(Statement):
    """A comment or an empty line; kept, so that an updated file differs only in what changed."""

    def __init__(self, text, line):
        super().__init__(None, text, None, line)

    def lines(self):
        return [self.rest]


def parse(text, name):
    """Statements of a case file in order."""
    statements, ran = [], False
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        if not line.strip() or line.startswith("#"):
            statements.append(Comment(line, number))
            continue
        if line.startswith("|"):
            owner = statements[-1] if statements else None
            if owner is None or owner.word not in WITH_BLOCK:
                raise CaseError(f"{where}: a `|` line belongs behind scenario, file, stdout or stderr")
            owner.block.append(line[2:] if line.startswith("| ") else line[1:])
            continue
        word, _, rest = line.partition(" ")
        if word not in WORDS:
            raise CaseError(f"{where}: `{word}` is none of {', '.join(sorted(WORDS))}")
        if bool(rest.strip()) == (word in WITHOUT_REST):
            raise CaseError(f"{where}: `{word}` {'stands alone' if rest.strip() else 'wants something behind it'}")
        if word in EXPECTATIONS:
            if not ran:
                raise CaseError(f"{where}: `{word}` without a `run` before it")
            if any(one.word == word for one in after_last_run(statements)):
                raise CaseError(f"{where}: a second `{word}` for one `run`")
        ran = ran or word == "run"
        statements.append(Statement(word, rest.strip(), None, number))
    if not statements or not isinstance(statements[0], Comment) or len(statements[0].rest) < 10:
        raise CaseError(f"{name}:1: the first line must be a comment that says what the case shows")
    if not ran:
        raise CaseError(f"{name}: no `run`: nothing is tested")
    return statements


def after_last_run(statements):
    last = max(index for index, one in enumerate(statements) if one.word == "run")
    return statements[last + 1:]


def format_case(statements):
    return "".join(line + "\n" for one in statements for line in one.lines())


def key_values(rest, allowed):
    """`PATH key=value …` as (path, dictionary)."""
    path, *pairs = rest.split()
    values = dict(allowed)
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in allowed:
            raise CaseError(f"`{pair}` is no {'=… or '.join(allowed)}=…")
        values[key] = value
    return path, values


def small_ptx(kernels="k", target="sm_75", version="6.4", pad="0"):
    """A valid PTX module with empty kernels; `pad` bytes of comment make it that much longer."""
    if not re.fullmatch(r"\d+", pad):
        raise CaseError(f"pad={pad} is no number of bytes")
    bodies = "".join(f".visible .entry {kernel}()\n{{\n\tret;\n}}\n" for kernel in kernels.split(",") if kernel)
    filler = "//" + "." * (int(pad) - 3) + "\n" if int(pad) > 3 else ""
    return f".version {version}\n.target {target}\n.address_size 64\n{filler}{bodies}"
