# SPDX-License-Identifier: Apache-2.0
"""Collects what was measured against what was promised, and prints it in the manner of TAP and as a table."""


class Checks:
    """The findings of one promise. Times are written down but not judged where the driver is emulated."""

    def __init__(self, judge_times):
        self.judge_times = judge_times
        self.rows = []  # (what, measured, bound, kept: True, False or None where it is not judged)

    def add(self, what, measured, bound, kept):
        self.rows.append((what, measured, bound, kept))

    def equal(self, what, measured, expected):
        self.add(what, str(measured), f"= {expected}", measured == expected)

    def true(self, what, measured, detail=""):
        self.add(what, detail or ("yes" if measured else "no"), "yes", bool(measured))

    def note(self, what, measured):
        self.add(what, measured, "", None)

    def time(self, what, milliseconds, at_most):
        kept = milliseconds <= at_most if self.judge_times else None
        self.add(what, f"{milliseconds:.1f} ms", f"≤ {at_most:g} ms", kept)

    def ratio(self, what, value, at_most=None, at_least=None):
        kept = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
        bound = f"≤ {at_most:g}" if at_most is not None else f"≥ {at_least:g}"
        self.add(what, f"{value:.2f}", bound, kept if self.judge_times else None)

    def broken(self, problem):
        self.add("could not be carried out", problem, "", False)

    def kept(self):
        """A promise nothing was checked for is not kept."""
        judged = [kept for _, _, _, kept in self.rows if kept is not None]
        return bool(judged) and all(judged)


WORDS = {True: "ok", False: "BROKEN", None: "-"}
CELL_MAX = 60


def show_promise(number, name, checks, seconds):
    print(f"{'ok' if checks.kept() else 'not ok'} {number} - {name} # {seconds:.1f} s")
    for what, measured, bound, kept in checks.rows:
        mark = "" if kept is not False else "  <-- broken"
        print(f"#   {what}: {measured}{f' ({bound})' if bound else ''}{mark}", flush=True)


def columns(rows):
    """Rows of text as lines with aligned columns; long cells are cut."""
    rows = [[cell if len(cell) <= CELL_MAX else cell[:CELL_MAX - 1] + "…" for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def table_lines(results):
    """What is worth reading of all promises: numbers and breaches in full, what was merely as expected as a count.
    `results` are (name, checks)."""
    rows = [("promise", "what", "measured", "bound", "")]
    for name, checks in results:
        plain = [row for row in checks.rows if row[2].startswith("=") or row[2] == "yes"]
        kept = sum(row[3] is True for row in plain)
        if kept:
            rows.append((name, "as expected", f"{kept} of {len(plain)}", "", WORDS[kept == len(plain)]))
        rows += [(name, what, measured, bound, WORDS[kept]) for what, measured, bound, kept in checks.rows
                 if kept is False or (what, measured, bound, kept) not in plain]
    return columns(rows)


def markdown_lines(results, heading):
    lines = [heading, "", "| promise | what | measured | bound | |", "|---|---|---|---|---|"]
    for name, checks in results:
        lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in (name, what, measured, bound, WORDS[kept])) + " |"
                  for what, measured, bound, kept in checks.rows]
    return lines
