"""Hands a command's output to a model, what noesc knows apart from what the command printed.

    noesc run --format json -- COMMAND… | python3 read_envelope.py

Lines that begin with `noesc:` are facts, lines that begin with `stdout|` or `stderr|` are
untrusted text. Exits as the command did; 125 when this is no envelope.
"""

import json
import sys

# Words of the record that belong to an outcome, and the status of one that has none of its own.
WORDS = {"exited": "code", "signalled": "signal", "timed_out": None, "idle_out": None,
         "stopped_by_limit": "which", "spawn_failed": "reason", "cancelled": "signal",
         "unknown": "why"}
STOPPED = ("timed_out", "idle_out", "stopped_by_limit")


def without_twins(pairs):
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key stands twice")
    return keys


def read(text):
    """The record of a `noesc.run/1` envelope. Raises ValueError or KeyError when it is none."""
    record = json.loads(text, object_pairs_hook=without_twins)
    if not isinstance(record, dict) or record.get("schema") != "noesc.run/1":
        raise ValueError("no noesc.run/1 envelope")
    if record["outcome"]["kind"] not in WORDS:
        raise ValueError("an unknown outcome")
    for stream in record["streams"].values():
        for part in ("head", "tail"):
            view = stream["view"][part]
            view.encode()  # refuses a lone surrogate
            if any(c < " " and c not in "\t\n" or "\x7f" <= c <= "\x9f" for c in view):
                raise ValueError("a view that is not inert")
    return record


def status(outcome):
    """The exit status that a shell would give."""
    kind = outcome["kind"]
    if kind == "exited":
        return outcome["code"]
    if kind in ("signalled", "cancelled"):
        return 128 + outcome["signal"]
    return 124 if kind in STOPPED else 125


def lines(record):
    """What a model is given. No line of the command can look like one of ours."""
    outcome = record["outcome"]
    word = WORDS[outcome["kind"]]
    yield f"noesc: {outcome['kind']}" + (f" {outcome[word]}" if word else "")
    for name, stream in record["streams"].items():
        for finding in stream["report"].get("findings", []):
            yield f"noesc: {name}: {finding['severity']} {finding['kind']} ({finding['count']})"
    for name, stream in record["streams"].items():
        view = stream["view"]
        yield from quoted(name, view["head"])
        if view["omitted"]["bytes"]:
            yield f"noesc: {name}: {view['omitted']['bytes']} bytes omitted"
        yield from quoted(name, view["tail"])


def quoted(name, text):
    # Not splitlines: only an LF ends a line of a view.
    for line in text.removesuffix("\n").split("\n") if text else []:
        yield f"{name}| {line}" if line else f"{name}|"


def main():
    sys.stdin.reconfigure(encoding="utf-8", newline="")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        record = read(sys.stdin.read())
        out = "".join(line + "\n" for line in lines(record))
        code = status(record["outcome"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"read-envelope: {type(error).__name__}: {ascii(str(error))}", file=sys.stderr)
        return 125
    sys.stdout.write(out)
    return code


if __name__ == "__main__":
    sys.exit(main())
