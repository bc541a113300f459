"""SVG: two cards side by side, each with the screen of a terminal; and parts of pictures."""

import itertools
from html import escape
from typing import NamedTuple

from terminal import Cell, audit

# In pixels: a cell of the terminal, and what is around it.
CELL, LINE, FONT = 8.4, 20, 14
PADDING, GAP, HEAD, BAR, FACT = 16, 20, 40, 28, 21
CHANGED, EDGE = "#b3261e", "#8c959f"


class Look(NamedTuple):
    """The colours of a screen, and how wide it is."""

    columns: int
    paper: str
    ink: str
    unseen: str
    notice: str
    # Of SGR 31 and so on.
    colours: dict

    @property
    def card(self):
        return self.columns * CELL + 2 * PADDING


class Side(NamedTuple):
    """One card: its heading and the colour of that, a screen, facts about it, what colours mean."""

    head: tuple
    screen: object
    # Name, value, and whether what was printed has changed it.
    facts: list
    # The colour of some rows.
    tints: dict
    # How far to the right, colour, words.
    keys: list


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
.screen {{ fill: INK; }}
"""


def rectangle(x, y, width, height, fill, more=""):
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{more}/>'


def word(x, y, text, kind="", anchor="start"):
    kind = f"word {kind}".rstrip()
    return (f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">'
            f"{escape(text)}</text>")


def attributes(look, style):
    """How a style is written in SVG."""
    fill = style.colour and look.colours.get(style.colour) or style.colour or look.ink
    fill = fill if isinstance(fill, str) else "#" + "".join(f"{n:02x}" for n in fill)
    fill = look.paper if style.reversed else fill
    told = [(fill != look.ink, "fill", fill), (style.bold, "font-weight", "600"),
            (style.faint, "fill-opacity", "0.6"), (style.italic, "font-style", "italic"),
            (style.underlined, "text-decoration", "underline")]
    return "".join(f' {name}="{value}"' for is_told, name, value in told if is_told)


def draw_cells(look, x, y, row):
    """One row of a screen as one text, as wide as its cells in whatever font."""
    shown = [Cell(" ") if c.style.concealed else c for c in row]
    while shown and shown[-1].character == " ":
        shown.pop()
    if not shown:
        return
    parts, column = [], 0
    for style, cells in itertools.groupby(shown, lambda c: c.style):
        text = "".join(c.character for c in cells)
        if style.reversed:
            yield rectangle(x + column * CELL, y - 15, len(text) * CELL, LINE, look.ink)
        column += len(text)
        told = attributes(look, style)
        parts.append(f"<tspan{told}>{escape(text)}</tspan>" if told else escape(text))
    yield (f'<text class="cell screen" x="{x:g}" y="{y:g}" '
           f'textLength="{column * CELL:.1f}" xml:space="preserve">{"".join(parts)}</text>')


def draw_screen(look, x, y, side):
    """The rows of a screen from `y` on, and its cursor."""
    screen = side.screen
    for colour, indices in itertools.groupby(range(len(screen.rows)), side.tints.get):
        top, *more = indices
        if colour:
            yield rectangle(x, y + top * LINE, look.card, LINE * (1 + len(more)), colour)
    for index, row in enumerate(screen.rows):
        yield from draw_cells(look, x + PADDING, y + index * LINE + 15, row)
    column, row = screen.cursor
    yield rectangle(x + PADDING + column * CELL, y + row * LINE + 2, CELL, LINE - 4, EDGE)


def draw_facts(x, y, facts):
    """What tmux says of the window, below its screen; red is what was changed."""
    for index, (name, value, is_changed) in enumerate(facts):
        yield word(x, y + index * FACT, name, "dim")
        kind = " red" if is_changed else ""
        yield (f'<text class="cell small{kind}" x="{x + 92:g}" y="{y + index * FACT:g}">'
               f"{escape(audit(value))}</text>")


def draw_keys(x, y, keys):
    """What each colour means: its square and its words, `offset` to the right of `x`."""
    for offset, colour, text in keys:
        yield rectangle(x + offset, y - 10, 12, 12, colour, f' stroke="{EDGE}"')
        yield word(x + offset + 18, y, text, "dim")


def draw_card(look, x, height, side):
    """A window with its heading, its title and its screen, and the facts below."""
    edge = f'x="{x + 0.5:g}" y="0.5" width="{look.card - 1:g}" height="{height - 1:g}" rx="8"'
    text, colour = side.head
    rows = FACT * len(side.facts)
    foot = height - rows - 55
    yield f'<clipPath id="card{x:g}"><rect {edge}/></clipPath>'
    yield f'<g clip-path="url(#card{x:g})">'
    yield rectangle(x, 0, look.card, height, look.paper)
    yield rectangle(x, 0, look.card, HEAD, colour)
    yield rectangle(x, HEAD, look.card, BAR, "#eaeef2")
    yield rectangle(x, foot, look.card, height - foot, "#f6f8fa")
    yield word(x + PADDING, 26, text, "head")
    for index in range(3):
        yield f'<circle cx="{x + 22 + index * 16:g}" cy="{HEAD + 14}" r="5" fill="#c4ccd4"/>'
    yield word(x + look.card / 2, HEAD + 19, audit(side.screen.title), "", "middle")
    yield from draw_screen(look, x, HEAD + BAR + 10, side)
    yield from draw_facts(x + PADDING, foot + 25, side.facts)
    yield from draw_keys(x + PADDING, foot + rows + 37, side.keys)
    yield "</g>"
    yield f'<rect {edge} fill="none" stroke="{EDGE}"/>'


def draw(look, title, description, sides):
    """The picture of two sides, as SVG."""
    lines = max(len(side.screen.rows) for side in sides)
    facts = len(sides[0].facts)
    height = HEAD + BAR + lines * LINE + 20 + FACT * facts + 55
    size = 2 * look.card + GAP, height
    cards = (draw_card(look, index * (look.card + GAP), height, side)
             for index, side in enumerate(sides))
    style = STYLE.replace("INK", look.ink)
    return document("make.py", title, description, size, style, itertools.chain(*cards))


def document(program, title, description, size, style, parts):
    """The SVG of these parts, which says what it shows to who can't see it."""
    width, height = size
    made = [
        f"<!-- @generated by docs/pictures/{program} -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(description)}</desc>',
        f"<style>{style}</style>",
        *parts,
        "</svg>",
    ]
    return "\n".join(made) + "\n"
