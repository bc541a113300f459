#!/usr/bin/env python3
"""Draws how fast noesc is, and writes the tables and words that tell it.

All of it is made of bench/record/speed.tsv, which `cargo xtask bench --tsv` prints: the picture
speed.svg, the tables of docs/speed.md between their marks, and the words that stand for the
picture in README.md.
"""

import argparse
import math
import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True  # nothing beside the modules in the tree
from drawing import STYLE, document, rectangle, word
from make import HERE, compare
from terminal import audit

ROOT = HERE.parents[1]
RECORD = ROOT / "bench/record/speed.tsv"
BOUNDS = "memcpy", "simdutf8"
OURS = "noesc"
# Inputs of one call of so many bytes, of which the time is told.
CALL, CALL_BYTES = "-4k", 4096
# What the words for the picture tell of, where it was measured.
TOLD = {"log": "A log", "build": "build output in colour", "cjk": "Chinese, Japanese and Korean",
        "hostile": "output made to deceive"}

# In pixels: the plot, and where the columns beside it are.
WIDTH, LEFT, RIGHT, TOP, ROW, THICK = 960, 132, 636, 104, 25, 5
SPEED, TIMES, NAME = 718, 792, 808
LOOK = """
.small { font-size: 12px; }
.card { fill: #ffffff; stroke: #d1d9e0; }
.grid { stroke: #d1d9e0; }
.tick { stroke: #1f2328; stroke-width: 2; }
.memcpy { fill: #afb8c1; }
.peer { fill: #bf8700; }
.ours { fill: #0969da; }
.slower { fill: #b3261e; }
.faster { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .dim { fill: #9198a1; }
  .card { fill: #0d1117; stroke: #3d444d; }
  .grid { stroke: #3d444d; }
  .tick { stroke: #e6edf3; }
  .memcpy { fill: #59636e; }
  .peer { fill: #d29922; }
  .ours { fill: #4493f8; }
  .slower { fill: #ff8f85; }
}
"""


class Speed(NamedTuple):
    """How fast somebody was: 10⁹ bytes a second; the path is `-` where it is not ours."""

    peer: str
    gbps: float
    path: str


class Row(NamedTuple):
    """An input, and all that were measured on it."""

    name: str
    speeds: list

    def of(self, peer, path=None):
        """The speed of a peer over a path; over the one that a program takes where none is said,
        which is the first; None where it was not measured."""
        speeds = (s for s in self.speeds if s.peer == peer and path in (None, s.path))
        return next(speeds, None)

    @property
    def best(self):
        """The fastest of those that strip, which is the figure to reach."""
        others = (s for s in self.speeds if s.peer not in BOUNDS and not s.peer.startswith(OURS))
        return max(others, key=lambda s: s.gbps)

    @property
    def times(self):
        return self.of(OURS).gbps / self.best.gbps


def read(text):
    """The processor, and a row for each input, of what the bench printed."""
    comments = [line for line in text.splitlines() if line.startswith("#")]
    processor = comments[0].removeprefix("# processor: ")
    names, *lines = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    rows = {}
    for line in lines:
        told = dict(zip(names, line, strict=True))
        speed = Speed(told["peer"], float(told["gbps"]), told["path"])
        rows.setdefault(told["input"], []).append(speed)
    return processor, [Row(name, speeds) for name, speeds in rows.items()]


def figure(gbps):
    """As many places as say something."""
    return f"{gbps:.3f}" if gbps < 1 else f"{gbps:.2f}"


def ratio(times):
    return f"{times:.1f}" if times >= 10 else f"{times:.2f}"


def tell(rows):
    """The picture in words."""
    faster = sum(row.times >= 1 for row in rows)
    least = min(rows, key=lambda row: row.times)
    told = [f"{words}: {figure(row.of(OURS).gbps)} GB/s, {ratio(row.times)} times as fast"
            for name, words in TOLD.items() for row in rows if row.name == name]
    return (f"Bars for {len(rows)} inputs, on a logarithmic scale: copying, the fastest crate that "
            f"strips sequences, and noesc, which is at least as fast as that crate on {faster} of "
            f"them. {'; '.join(told)}. The least: {ratio(least.times)} times as fast, on "
            f"{least.name}.")


class Scale(NamedTuple):
    """Where a speed stands from left to right: between two whole powers of ten."""

    low: int
    high: int

    @classmethod
    def over(cls, speeds):
        return cls(math.floor(math.log10(min(speeds))), math.ceil(math.log10(max(speeds))))

    def x(self, gbps):
        return LEFT + (math.log10(gbps) - self.low) / (self.high - self.low) * (RIGHT - LEFT)


def line(kind, x, top, bottom):
    return f'<line class="{kind}" x1="{x:.1f}" y1="{top:g}" x2="{x:.1f}" y2="{bottom:g}"/>'


def bar(kind, scale, y, gbps):
    width = round(scale.x(gbps) - LEFT, 1)
    return rectangle(LEFT, y, width, THICK, "none", f' class="{kind}"')


def draw_row(scale, y, row):
    """Three bars, the figure to reach across the last, and what they come to."""
    ours, best = row.of(OURS), row.best
    middle, step = y + 13, THICK + 1
    yield word(LEFT - 10, middle, row.name, "", "end")
    for index, (kind, speed) in enumerate(
            (("memcpy", row.of("memcpy")), ("peer", best), ("ours", ours))):
        yield bar(kind, scale, y + index * step, speed.gbps)
    yield line("tick", scale.x(best.gbps), y + step, y + 3 * step + 1)
    yield word(SPEED, middle, figure(ours.gbps), "", "end")
    kind = "faster" if row.times >= 1 else "slower"
    yield word(TIMES, middle, f"{ratio(row.times)}×", kind, "end")
    yield word(NAME, middle, best.peer, "dim")


def draw_keys(y):
    """What each bar means."""
    keys = [(0, "memcpy", "copying (memcpy)"), (156, "peer", "the fastest crate that strips"),
            (380, "ours", "noesc, with its report")]
    for offset, kind, text in keys:
        yield rectangle(LEFT + offset, y - 9, 14, 9, "none", f' class="{kind}"')
        yield word(LEFT + offset + 21, y, text, "dim")
    yield line("tick", LEFT + 572, y - 11, y + 2)
    yield word(LEFT + 581, y, "the figure to reach", "dim")


def draw_axis(scale, bottom):
    """A line for each power of ten, and what it is."""
    for power in range(scale.low, scale.high + 1):
        x = scale.x(10.0 ** power)
        yield line("grid", x, TOP - 8, bottom)
        for y in (TOP - 14, bottom + 16):
            yield word(x, y, f"{10.0 ** power:g}", "small dim", "middle")


def draw(processor, rows):
    """The picture."""
    scale = Scale.over([s.gbps for row in rows
                        for s in (row.of("memcpy"), row.best, row.of(OURS))])
    bottom = TOP + len(rows) * ROW
    height = bottom + 30
    parts = [
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        word(16, 28, f"GB/s of one core of {processor}, on a logarithmic scale", "head"),
        *draw_keys(58),
        word(SPEED, TOP - 14, "noesc", "small dim", "end"),
        word(TIMES, TOP - 14, "times", "small dim", "end"),
        word(NAME, TOP - 14, "the fastest crate", "small dim"),
        *draw_axis(scale, bottom),
    ]
    for index, row in enumerate(rows):
        parts += draw_row(scale, TOP + index * ROW, row)
    title = "How fast noesc is, beside copying and the fastest crate that strips sequences"
    return document("speed.py", title, tell(rows), (WIDTH, height), STYLE + LOOK, parts)


def markdown(names, lines):
    """A table whose columns are as wide as what stands in them."""
    widths = [max(map(len, column)) for column in zip(names, *lines)]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for cells in (names, rule, *lines):
        first, *others = (pad(cell, width) for pad, cell, width
                          in zip((str.ljust, *(str.rjust for _ in widths)), cells, widths))
        yield f"| {' | '.join([first, *others])} |"


def compared(rows):
    """Ours over each path beside the figure to reach."""
    paths = list(dict.fromkeys(s.path for row in rows for s in row.speeds if s.peer == OURS))
    names = ["input", *BOUNDS, "to reach", "by", *(f"noesc {path}" for path in paths), "of memcpy"]
    lines = []
    for row in rows:
        ours = [row.of(OURS, path).gbps for path in paths]
        lines.append([
            row.name, *(figure(row.of(bound).gbps) for bound in BOUNDS),
            figure(row.best.gbps), row.best.peer,
            *(f"{figure(gbps)} ({ratio(gbps / row.best.gbps)}×)" for gbps in ours),
            f"{ours[0] / row.of('memcpy').gbps:.3f}"])
    return markdown(names, lines)


def everyone(rows, cell):
    """One column for each that was measured, ours over the path that a program takes."""
    peers = list(dict.fromkeys(s.peer for row in rows for s in row.speeds))
    lines = [[row.name, *(cell(row.of(peer)) if row.of(peer) else "-" for peer in peers)]
             for row in rows]
    return markdown(["input", *peers], lines)


def tables(processor, rows):
    """What stands between the marks of the page."""
    calls = [row for row in rows if row.name.endswith(CALL)]
    sets = [row for row in rows if row not in calls]
    yield f"Measured on one core of {processor}. GB/s; in brackets, times the figure to reach."
    yield from ("", *compared(sets), "", "GB/s of everyone.", "")
    yield from everyone(sets, lambda speed: figure(speed.gbps))
    if calls:
        yield from ("", f"ns for one call with {CALL_BYTES:,} bytes, beginning and end included.",
                    "", *everyone(calls, lambda speed: f"{CALL_BYTES / speed.gbps:.0f}"))


def put(path, pattern, made):
    """The text of a file with `made` in the one place where the pattern is."""
    text, count = re.subn(pattern, lambda _: made, path.read_text("utf-8"), flags=re.DOTALL)
    if count != 1:
        raise RuntimeError(f"{path.name}: {count} places for what is to be written, not one")
    return text


def main():
    about, more = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 when a file in the tree differs")
    arguments = parser.parse_args()
    processor, rows = read(RECORD.read_text("utf-8"))
    begin, end = "<!-- written by docs/pictures/speed.py -->\n\n", "\n\n<!-- up to here -->"
    page, readme = ROOT / "docs/speed.md", ROOT / "README.md"
    words = textwrap.wrap(f"![{tell(rows)}](docs/pictures/speed.svg)", 100,
                          break_long_words=False, break_on_hyphens=False)
    files = {
        HERE / "speed.svg": draw(processor, rows),
        page: put(page, f"{re.escape(begin)}.*?{re.escape(end)}",
                  begin + "\n".join(tables(processor, rows)) + end),
        readme: put(readme, r"!\[[^\]]*\]\(docs/pictures/speed\.svg\)", "\n".join(words)),
    }
    if arguments.check:
        same = [compare(path, made, RECORD.name) for path, made in files.items()]
        return 0 if all(same) else 1
    for path, made in files.items():
        path.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError, ValueError, LookupError) as error:
        print(f"speed.py: error: {audit(str(error))}", file=sys.stderr)
        sys.exit(2)
