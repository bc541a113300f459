#!/usr/bin/env python3
"""Makes the pictures of the documents from a real terminal.

Runs each command in a tmux of its own, once with what a terminal does by itself and once behind
noesc, and draws what the two screens show, with what tmux says of the window.
"""

import argparse
import difflib
import os
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # nothing beside the modules in the tree
from drawing import CHANGED, Look, Side, draw
from terminal import CLIPBOARD, PROMPT, TITLE, audit, take_screen

HERE = Path(__file__).resolve().parent
BAD, GOOD = "#ffd8d3", "#c5efcf"

# So wide that the longest line fits and a notice of noesc takes two.
LIGHT = Look(columns=52, paper="#ffffff", ink="#1f2328", unseen="#fff1b8", notice="#dbeafe",
             colours={31: CHANGED, 32: "#1a7f37"})
# The colours of the example's code are for a dark screen.
DARK = Look(columns=64, paper="#22272e", ink="#dfe3e8", unseen="#4a4020", notice="#1f3a5f",
            colours={31: "#ff8f85", 32: "#7ee08f", 33: "#f2cc60", 34: "#8cc0ff",
                     35: "#e0a8ff", 36: "#76dce6"})


def tell(screen, own_title):
    """Facts about the window that both pictures show."""
    concealed = " ".join(filter(None, screen.texts(concealed=True)))
    return [("window title", screen.title, screen.title != own_title),
            ("clipboard", screen.clipboard, screen.clipboard != CLIPBOARD),
            ("concealed", concealed or "nothing", concealed != "")]


def tell_more(screen, own_title):
    """The same, with what the example's transcript does besides."""
    which = "the alternate one, left on: the main one is hidden"
    return [*tell(screen, own_title),
            ("screen", which if screen.is_alternate else "the main one", screen.is_alternate),
            ("typed", screen.typed or "nothing", screen.typed != "")]


def tint_rows(look, before, after):
    """Rows of `after` that `before` does not show, and those from noesc: each its colour."""
    seen, tints, said = set(before.texts()), {}, False
    for index, text in enumerate(after.texts()):
        said = (said or text.startswith("noesc: ")) and text != PROMPT
        if said:
            tints[index] = look.notice
        elif index > 0 and text not in seen and text != PROMPT:
            tints[index] = look.unseen
    return tints


def draw_run(programs):
    """The picture of the README: a test run, bare and behind `noesc run`."""
    command = "./run-tests"
    files = {command: HERE / "run-tests.sh", "bin/noesc": programs["noesc"]}
    before = take_screen((LIGHT.columns, 18), files, command)
    after = take_screen((LIGHT.columns, 18), files, f"noesc run -- {command}")
    told = (f"On the left {command} in a terminal, on the right with noesc run in front of it. "
            "Marked on the right is what was printed but is not seen on the left.")
    keys = [(0, LIGHT.unseen, "printed, but not seen on the left"),
            (252, LIGHT.notice, "from noesc, on stderr")]
    return draw(LIGHT, "The same output, before and after noesc", told, [
        Side(("Before: what a terminal shows", BAD), before, tell(before, TITLE), {},
             [(0, CHANGED, "set by what the command printed")]),
        Side(("After: what noesc gives a reader", GOOD), after, tell(after, TITLE),
             tint_rows(LIGHT, before, after), keys),
    ])


def draw_chat(programs):
    """The picture of the library: the example chat, without and with its boundary."""
    files = {"bin/chat": programs["chat"]}
    before = take_screen((DARK.columns, 50), files, "chat --sanitize off")
    after = take_screen((DARK.columns, 50), files, "chat --sanitize strip")
    told = ("The example chat shows the same transcript twice. On the left what a tool printed "
            "reaches the terminal, on the right it passes the boundary first. Marked on the right "
            "is what is not seen on the left.")
    own = after.title
    return draw(DARK, "A chat that shows text of others, without and with noesc", told, [
        Side(("Without: content has the terminal", BAD), before, tell_more(before, own), {},
             [(0, CHANGED, "set by what the tool printed")]),
        Side(("With: content is text, the program's own style stays", GOOD), after,
             tell_more(after, own), tint_rows(DARK, before, after),
             [(0, DARK.unseen, "in the transcript, but not seen on the left")]),
    ])


PICTURES = {"before-after.svg": draw_run, "chat.svg": draw_chat}


def compare(path, made, source="a real terminal"):
    """Prints how a file in the tree differs from `made`; True when it does not."""
    kept = path.read_text("utf-8", "backslashreplace") if path.exists() else ""
    sides = kept.split("\n"), made.split("\n")
    names = str(path.relative_to(HERE.parents[1])), source
    for line in difflib.unified_diff(*sides, *names, n=0, lineterm=""):
        print(audit(line))
    return kept == made


def main():
    about, more = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=more)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 when a picture in the tree differs")
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[1] / "target")) / "release"
    parser.add_argument("--noesc", type=Path, default=target / "noesc", metavar="FILE",
                        help="the command to run (the release build of this tree)")
    parser.add_argument("--chat", type=Path, default=target / "examples/chat", metavar="FILE",
                        help="the example to run (the release build of this tree)")
    arguments = parser.parse_args()
    programs = {"noesc": arguments.noesc.resolve(), "chat": arguments.chat.resolve()}
    for what in (*programs.values(), "tmux", "bash"):
        if not shutil.which(what):
            parser.error(f"{what} is not there")
    is_same = True
    for name, make in PICTURES.items():
        path, made = HERE / name, make(programs)
        if arguments.check:
            is_same &= compare(path, made)
        else:
            path.write_text(made)
    return 0 if is_same else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        print(f"make.py: error: {audit(str(error))}", file=sys.stderr)
        sys.exit(2)
