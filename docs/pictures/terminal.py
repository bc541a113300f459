"""A tmux of one's own, and the screen that it shows after a command."""

import contextlib
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PROMPT = "$"
TITLE, CLIPBOARD = "Terminal", "what you copied last"
PATIENCE_SECONDS = 30
TMUX_CONF = """
set -s set-clipboard on
set -s default-terminal screen
set -g status off
"""


class Style(NamedTuple):
    """How a cell looks; its colour is a number of SGR, three of them for RGB, or None."""

    colour: object = None
    bold: bool = False
    faint: bool = False
    italic: bool = False
    underlined: bool = False
    reversed: bool = False
    concealed: bool = False


class Cell(NamedTuple):
    """One character of a screen."""

    character: str
    style: Style = Style()


class Screen(NamedTuple):
    """What a terminal shows after a command: rows of cells, and what tmux knows besides."""

    rows: list
    cursor: tuple
    title: str
    clipboard: str
    is_alternate: bool
    typed: str

    def texts(self, concealed=False):
        """The rows as text, of concealed cells or of the others."""
        for row in self.rows:
            yield "".join(c.character for c in row if c.style.concealed == concealed).rstrip()


def audit(text):
    """Printable ASCII as it is, every other byte as `\\xNN`."""
    kept = (chr(b) if 0x20 <= b < 0x7F and b != 0x5C else f"\\x{b:02x}" for b in text.encode())
    return "".join(kept)


class Terminal:
    """A tmux server with one window, a shell in it, and nothing of the user's; a context."""

    def __init__(self, folder, size, commands):
        self.folder, self.size = folder, size
        self.path = ["tmux", "-L", "picture", "-f", str(folder / "tmux.conf")]
        path = f"{folder / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        self.environment = {"PATH": path, "HOME": str(folder), "TMUX_TMPDIR": str(folder),
                            "LC_ALL": "C.UTF-8", "SHELL": "/bin/sh", "TERM": "screen"}
        (folder / "tmux.conf").write_text(TMUX_CONF)
        (folder / "bin").mkdir()
        for name, program in commands.items():
            (folder / name).symlink_to(program)

    def __enter__(self):
        columns, rows = map(str, self.size)
        size = ["-x", columns, "-y", rows, "-c", str(self.folder)]
        # What a terminal types while a command runs shows at the prompt, not amid the output: the
        # echo is a sequence then, which does nothing.
        shell = f"stty -echoctl; exec env PS1='{PROMPT} ' bash --norc --noprofile +o history -i"
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

    def tell(self, what):
        """A fact about the window."""
        return self.tmux("display-message", "-p", what).rstrip("\n")

    def wait(self, is_done):
        """Until what stands before the cursor in its row is as it should be; gives it."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            where = ["display-message", "-p", "#{cursor_x} #{cursor_y}", ";"]
            cursor, *lines = self.tmux(*where, "capture-pane", "-p").split("\n")
            column, row = map(int, cursor.split())
            line = lines[row].ljust(column)[:column]
            if is_done(line):
                return line
            time.sleep(0.02)
        raise RuntimeError("the terminal is not done: " + audit("\n".join(lines)))

    def keys(self, text, line):
        """Types a text, and waits for what then stands before the cursor."""
        self.tmux("send-keys", "-l", text)
        self.wait(line.__eq__)

    def run(self, command):
        """Types a command at the prompt, and gives the screen when it has ended."""
        prompt = f"{PROMPT} "
        self.wait(prompt.__eq__)
        self.tmux("select-pane", "-T", TITLE)
        self.tmux("set-buffer", CLIPBOARD)
        self.keys(command, prompt + command)
        self.tmux("send-keys", "Enter")
        self.wait(lambda line: line.startswith(prompt) and line != prompt + command)
        # A key comes behind all that the terminal has typed by itself.
        self.tmux("send-keys", "-l", "#")
        end = self.wait(lambda line: line.endswith("#"))[:-1]
        self.keys("\x7f", end)
        rows = self.tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")
        cursor = self.tell("#{cursor_x} #{cursor_y}").split()
        return Screen(rows=read_rows(rows), cursor=tuple(map(int, cursor)),
                      title=self.tell("#{pane_title}"), clipboard=self.tmux("show-buffer"),
                      is_alternate=self.tell("#{alternate_on}") == "1",
                      typed=end.removeprefix(prompt))


def take_screen(size, commands, command):
    """The screen of a fresh terminal after `command`; `commands` maps its files to programs."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with Terminal(Path(folder), size, commands) as terminal:
            return terminal.run(command)


def read_rows(lines):
    """The cells of `capture-pane -e`: the characters and styles known here, else an error."""
    style, rows = Style(), []
    for line in lines:
        row = []
        # Newer tmux tells links too.
        line = re.sub(r"\x1b\]8;.*?\x1b\\", "", line)
        for parameters, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
            if not character:
                style = read_style(style, [int(n or 0) for n in parameters.split(";")])
            elif " " <= character <= "~" or character == "\u2026":
                row.append(Cell(character, style))
            else:
                raise RuntimeError(f"no cell of the picture: {audit(character)}")
        rows.append(row)
    return rows


def read_style(style, numbers):
    """A style after an SGR."""
    names = {1: "bold", 2: "faint", 3: "italic", 4: "underlined", 7: "reversed", 8: "concealed"}
    while numbers:
        number, *numbers = numbers
        if number == 0:
            style = Style()
        elif number in names:
            style = style._replace(**{names[number]: True})
        elif number == 38 and numbers[:1] == [2]:
            style, numbers = style._replace(colour=tuple(numbers[1:4])), numbers[4:]
        elif number == 39 or 31 <= number <= 36:
            style = style._replace(colour=None if number == 39 else number)
        elif number != 49:
            raise RuntimeError(f"no style of the picture: {number}")
    return style
