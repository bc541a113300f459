#!/usr/bin/env python3
"""Makes the picture of the README from a real terminal.

Runs run-tests.sh in a tmux of its own, once bare and once behind `noesc run --`, and draws what
the two screens show, with the window's title and the clipboard as tmux tells them.
"""

import argparse
import contextlib
import difflib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "before-after.svg"
COMMAND = "./run-tests"
PROMPT = "$"

# The terminal. So wide that the longest line fits and a notice of noesc takes two.
COLUMNS, ROWS = 52, 18
TITLE, CLIPBOARD = "Terminal", "what you copied last"
PATIENCE_SECONDS = 30
TMUX_CONF = """
set -s set-clipboard on
set -s default-terminal screen
set -g status off
"""

# The picture, in pixels: a cell of the terminal, what is around it, and the two cards.
CELL, LINE, FONT = 8.4, 20, 14
PADDING, GAP, HEAD, BAR, FOOT = 16, 20, 40, 28, 118
CARD = COLUMNS * CELL + 2 * PADDING
UNSEEN, NOTICE, CHANGED, EDGE = "#fff1b8", "#dbeafe", "#b3261e", "#8c959f"

STYLE = f"""
text {{ fill: #1f2328; white-space: pre; }}
.cell {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
  "Liberation Mono", monospace; }}
.word {{ font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, "DejaVu Sans",
  sans-serif; }}
.small {{ font-size: 12px; }}
.head {{ font-weight: 600; font-size: 15px; }}
.dim {{ fill: #59636e; }}
.red {{ fill: {CHANGED}; }}
.green {{ fill: #1a7f37; }}
"""


class Cell(NamedTuple):
    """One character of a screen; its colour is a class of STYLE, or empty."""

    character: str
    colour: str = ""
    concealed: bool = False


class Screen(NamedTuple):
    """What a terminal shows after a command: rows of cells, and what tmux knows besides."""

    rows: list
    cursor: tuple
    title: str
    clipboard: str

    def texts(self, concealed=False):
        """The rows as text, of concealed cells or of the others."""
        for row in self.rows:
            yield "".join(c.character for c in row if c.concealed == concealed).rstrip()


def audit(text):
    """Printable ASCII as it is, every other byte as `\\xNN`."""
    kept = (chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in text.encode())
    return "".join(kept)


class Terminal:
    """A tmux server with one window, a shell in it, and nothing of the user's; a context."""

    def __init__(self, folder, noesc):
        self.folder = folder
        self.path = ["tmux", "-L", "picture", "-f", str(folder / "tmux.conf")]
        path = f"{folder / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        self.environment = {"PATH": path, "HOME": str(folder), "TMUX_TMPDIR": str(folder),
                            "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "TERM": "screen"}
        (folder / "tmux.conf").write_text(TMUX_CONF)
        (folder / "bin").mkdir()
        (folder / "bin/noesc").symlink_to(noesc)
        (folder / COMMAND).symlink_to(HERE / "run-tests.sh")

    def __enter__(self):
        size = ["-x", str(COLUMNS), "-y", str(ROWS), "-c", str(self.folder)]
        shell = f"exec env PS1='{PROMPT} ' bash --norc --noprofile +o history -i"
        self.tmux("new-session", "-d", *size, shell)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError):
            self.tmux("kill-server")

    def tmux(self, *arguments):
        """What a command to the server prints."""
        done = subprocess.run([*self.path, *arguments], env=self.environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"tmux {arguments[0]}: {audit(done.stderr.decode())}")
        return done.stdout.decode()

    def lines(self):
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def wait(self, first):
        """Until the first line is `first`, and the last one a prompt that waits for input."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            lines = self.lines()
            column = self.tmux("display-message", "-p", "#{cursor_x}").strip()
            if (lines[0].rstrip(), lines[-1].rstrip()) == (first, PROMPT) and column == "2":
                return
            time.sleep(0.02)
        raise RuntimeError("the terminal is not done: " + audit("\n".join(self.lines())))

    def run(self, command):
        """Types a command at the prompt, and gives the screen when it has ended."""
        self.wait(PROMPT)
        self.tmux("select-pane", "-T", TITLE)
        self.tmux("set-buffer", CLIPBOARD)
        self.tmux("send-keys", "-l", command)
        self.tmux("send-keys", "Enter")
        self.wait(f"{PROMPT} {command}")
        rows = self.tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")
        cursor = self.tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return Screen(rows=read_rows(rows), cursor=tuple(map(int, cursor)),
                      title=self.tmux("display-message", "-p", "#{pane_title}").rstrip("\n"),
                      clipboard=self.tmux("show-buffer"))


def take_screen(noesc, command):
    """The screen of a fresh terminal after `command`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with Terminal(Path(folder), noesc) as terminal:
            return terminal.run(command)


def read_rows(lines):
    """The cells of `capture-pane -e`: ASCII and the styles known here, else an error."""
    colours = {39: "", 31: "red", 32: "green"}
    colour, concealed, rows = "", False, []
    for line in lines:
        row = []
        for style, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if character:
                if not " " <= character <= "~":
                    raise RuntimeError(f"no cell of the picture: {audit(character)}")
                row.append(Cell(character, colour, concealed))
                continue
            for number in (int(n or 0) for n in style.split(";")):
                if number in colours:
                    colour = colours[number]
                elif number in (0, 8):
                    colour, concealed = ("", False) if number == 0 else (colour, True)
                elif number != 49:
                    raise RuntimeError(f"no style of the picture: {number}")
        rows.append(row)
    return rows


def rectangle(x, y, width, height, fill, more=""):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{more}/>'


def word(x, y, text, kind="", anchor="start"):
    kind = f"word {kind}".rstrip()
    return (f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">'
            f"{escape(text)}</text>")


def draw_cells(x, y, row):
    """One row of a screen as one text, as wide as its cells in whatever font."""
    shown = [Cell(" ") if c.concealed else c for c in row]
    while shown and shown[-1].character == " ":
        shown.pop()
    if not shown:
        return ""
    parts = []
    for colour, cells in itertools.groupby(shown, lambda c: c.colour):
        text = escape("".join(c.character for c in cells))
        parts.append(f'<tspan class="{colour}">{text}</tspan>' if colour else text)
    return (f'<text class="cell" x="{x:g}" y="{y:g}" textLength="{len(shown) * CELL:.1f}" '
            f'xml:space="preserve">{"".join(parts)}</text>')


def draw_screen(x, y, screen, tints):
    """The rows of a screen from `y` on, and its cursor; `tints` has a colour for some rows."""
    for colour, indices in itertools.groupby(range(len(screen.rows)), tints.get):
        top, *more = indices
        if colour:
            yield rectangle(x, y + top * LINE, CARD, LINE * (1 + len(more)), colour)
    for index, row in enumerate(screen.rows):
        yield draw_cells(x + PADDING, y + index * LINE + 15, row)
    column, row = screen.cursor
    yield rectangle(x + PADDING + column * CELL, y + row * LINE + 2, CELL, LINE - 4, EDGE)


def draw_facts(x, y, screen):
    """What tmux says of the window, below its screen; red is what the command has changed."""
    concealed = " ".join(filter(None, screen.texts(concealed=True)))
    facts = [("window title", screen.title, TITLE), ("clipboard", screen.clipboard, CLIPBOARD),
             ("concealed", concealed or "nothing", "nothing")]
    for index, (name, value, before) in enumerate(facts):
        yield word(x, y + index * 21, name, "dim")
        kind = "" if value == before else " red"
        yield (f'<text class="cell small{kind}" x="{x + 92:g}" y="{y + index * 21:g}">'
               f"{escape(audit(value))}</text>")


def draw_keys(x, y, keys):
    """What each colour means: its square and its words, `offset` to the right of `x`."""
    for offset, colour, text in keys:
        yield rectangle(x + offset, y - 10, 12, 12, colour, f' stroke="{EDGE}"')
        yield word(x + offset + 18, y, text, "dim")


def draw_card(x, height, head, screen, tints, keys):
    """A window with its heading, its title and its screen, and the facts below."""
    edge = f'x="{x + 0.5:g}" y="0.5" width="{CARD - 1:g}" height="{height - 1:g}" rx="8"'
    text, colour = head
    foot = height - FOOT
    yield f'<clipPath id="card{x:g}"><rect {edge}/></clipPath>'
    yield f'<g clip-path="url(#card{x:g})">'
    yield rectangle(x, 0, CARD, height, "#ffffff")
    yield rectangle(x, 0, CARD, HEAD, colour)
    yield rectangle(x, HEAD, CARD, BAR, "#eaeef2")
    yield rectangle(x, foot, CARD, FOOT, "#f6f8fa")
    yield word(x + PADDING, 26, text, "head")
    for index in range(3):
        yield f'<circle cx="{x + 22 + index * 16:g}" cy="{HEAD + 14}" r="5" fill="#c4ccd4"/>'
    yield word(x + CARD / 2, HEAD + 19, audit(screen.title), "", "middle")
    yield from draw_screen(x, HEAD + BAR + 10, screen, tints)
    yield from draw_facts(x + PADDING, foot + 25, screen)
    yield from draw_keys(x + PADDING, foot + 100, keys)
    yield "</g>"
    yield f'<rect {edge} fill="none" stroke="{EDGE}"/>'


def tint_rows(before, after):
    """Rows of `after` that `before` does not show, and those from noesc: each its colour."""
    seen, tints, said = set(before.texts()), {}, False
    for index, text in enumerate(after.texts()):
        said = (said or text.startswith("noesc: ")) and text != PROMPT
        if said:
            tints[index] = NOTICE
        elif index > 0 and text not in seen:
            tints[index] = UNSEEN
    return tints


def draw(before, after):
    """The picture of two screens, as SVG."""
    height = HEAD + BAR + max(len(before.rows), len(after.rows)) * LINE + 20 + FOOT
    width, right = 2 * CARD + GAP, CARD + GAP
    desc = (f"On the left {COMMAND} in a terminal, on the right with noesc run in front of it. "
            "Marked on the right is what was printed but is not seen on the left.")
    heads = (("Before: what a terminal shows", "#ffd8d3"),
             ("After: what noesc gives a reader", "#c5efcf"))
    set_by = (0, CHANGED, "set by what the command printed")
    unseen = (0, UNSEEN, "printed, but not seen on the left")
    notice = (252, NOTICE, "from noesc, on stderr")
    lines = [
        "<!-- @generated by docs/pictures/make.py -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="title desc">',
        '<title id="title">The same output, before and after noesc</title>',
        f'<desc id="desc">{escape(desc)}</desc>',
        f"<style>{STYLE}</style>",
        *draw_card(0, height, heads[0], before, {}, [set_by]),
        *draw_card(right, height, heads[1], after, tint_rows(before, after), [unseen, notice]),
        "</svg>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def compare(made):
    """Prints how the picture in the tree differs from `made`; True when it does not."""
    kept = PICTURE.read_text("utf-8", "backslashreplace") if PICTURE.exists() else ""
    sides = kept.split("\n"), made.split("\n")
    names = f"docs/pictures/{PICTURE.name}", "a real terminal"
    for line in difflib.unified_diff(*sides, *names, n=0, lineterm=""):
        print(audit(line))
    return kept == made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog=__doc__.split("\n\n")[1])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 when the picture in the tree differs")
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target"))
    parser.add_argument("--noesc", type=Path, default=target / "release/noesc", metavar="FILE",
                        help="the command to run (the release build of this tree)")
    arguments = parser.parse_args()
    noesc = arguments.noesc.resolve()
    for what in (noesc, "tmux", "bash"):
        if not shutil.which(what):
            parser.error(f"{what} is not there")
    before = take_screen(noesc, COMMAND)
    after = take_screen(noesc, f"noesc run -- {COMMAND}")
    made = draw(before, after)
    if arguments.check:
        return 0 if compare(made) else 1
    PICTURE.write_text(made)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        print(f"make.py: error: {audit(str(error))}", file=sys.stderr)
        sys.exit(2)
