# SPDX-License-Identifier: Apache-2.0
"""Compares output with what a case expects, and makes expectations from output.

In an expected line `*` stands for any characters, `* ms` for any duration (on a slow machine it is written in seconds) with
the blanks before it, `\\*` for a star. Two blanks between columns stand for any number above one: how wide a column is
depends on what was measured. A line that is `...` alone stands for any number of lines, `\\...` for itself."""
import difflib
import re

NO_NEWLINE = "\\ no line end"
DURATION = r"\d+(?:\.\d+)? (?:ms|s|min \d+ s|h \d+ min)"
# What differs at every run: times, and what is worked out from them. An update writes a pattern for them, and for the blanks
# before it where a column is as wide as its widest cell.
VARYING = re.compile(rf"(?:(?<=  ) *|\b)(?:(?P<duration>{DURATION})\b|\d+(?:\.\d+)?(?=x\b))")
REGEX = {"*": ".*", "\\*": r"\*", "* ms": rf" *{DURATION}"}


def to_lines(text):
    """Lines of output; a marker is added where the last one does not end."""
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines.append(NO_NEWLINE)
    return lines


def narrow(text):
    """The text with two blanks wherever there are more, but for those that it begins with."""
    return re.sub(r"(?<=\S) {2,}", "  ", text)


def line_matches(pattern, line):
    if pattern == "\\...":
        return line == "..."
    pattern, line = narrow(pattern), narrow(line)
    parts = re.split(r"(\\\*|\* ms\b|\*)", pattern)
    regex = "".join(REGEX.get(part, re.escape(part)) for part in parts)
    return re.fullmatch(regex, line) is not None


def lines_match(patterns, lines):
    """Whether all lines are accounted for; `...` may take any number of them."""
    reachable = {0}
    for pattern in patterns:
        if pattern == "...":
            reachable = set(range(min(reachable), len(lines) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(lines) and line_matches(pattern, lines[at])}
    return len(lines) in reachable


def as_pattern(line):
    if line == "...":
        return "\\..."
    return VARYING.sub(lambda found: "* ms" if found["duration"] else "*", line.replace("*", "\\*"))


def updated(patterns, lines):
    """New expectation for `lines`, keeping every old pattern that still fits its line."""
    left, result = [pattern for pattern in patterns if pattern != "..."], []
    for line in lines:
        kept = next((pattern for pattern in left if line_matches(pattern, line)), None)
        if kept is not None:
            left = left[left.index(kept) + 1:]
        result.append(kept if kept is not None else as_pattern(line))
    return result


def difference(name, patterns, lines):
    """Where the expected and the actual lines of one stream differ, with two lines around each place."""
    shown = [f"{name} is not as expected"]
    if not patterns or not lines:
        for sign, some in (("-", patterns), ("+", lines)):
            shown += [f"{sign} {line}" for line in some] or [f"{sign} (nothing)"]
        return shown
    # Lines that fit a pattern count as equal to it.
    matcher = difflib.SequenceMatcher(None, patterns, updated(patterns, lines), autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(2)):
        shown += ["…"] if number else []
        for word, one, one_end, other, other_end in group:
            if word == "equal":
                shown += [f"  {line}" for line in lines[other:other_end]]
            else:
                shown += [f"- {line}" for line in patterns[one:one_end]]
                shown += [f"+ {line}" for line in lines[other:other_end]]
    return shown
