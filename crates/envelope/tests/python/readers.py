"""Reads rendered envelopes with parsers that know nothing of noesc.

On standard input a JSON array of texts, on standard output a JSON array of what was read:
[facts, {stream: [head, tail]}] for the formats, a list of complaints for the schema.
"""

import json
import sys
import xml.parsers.expat


def expat(text):
    """The XML form by expat. Character data belongs to the innermost element."""
    parser = xml.parsers.expat.ParserCreate()
    path, facts, streams = [], [], {}

    def start(name, attributes):
        path.append(name)
        if len(path) == 2 and name != "facts":
            streams[name] = {"head": "", "tail": ""}

    def data(chunk):
        if path[1:] == ["facts"]:
            facts.append(chunk)
        elif len(path) == 3:
            # The parts of an excerpt are one text.
            streams[path[1]]["head" if path[2] == "part" else path[2]] += chunk
        elif chunk.strip("\n"):
            raise ValueError("text outside of the elements")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = data
    parser.Parse(text.encode(), True)
    return ["".join(facts), {name: [s["head"], s["tail"]] for name, s in streams.items()}]


def commonmark(text):
    """The Markdown form by a CommonMark parser: nothing but fenced blocks, of one nonce."""
    from markdown_it import MarkdownIt

    facts, streams, nonces = None, {}, set()
    for token in MarkdownIt("commonmark").parse(text):
        if token.type != "fence":
            raise ValueError(f"a {token.type} outside of the blocks")
        language, nonce, *names = token.info.split(" ")
        nonces.add(nonce)
        if names == ["facts"]:
            facts = token.content.removesuffix("\n")
            # An excerpt that gives no part has no block.
            streams = {name: ["", ""] for name in json.loads(facts)["streams"]}
            continue
        content = token.content
        if names[-1] == "lf-added":
            content = content.removesuffix("\n")
        # The parts of an excerpt are one text.
        streams[names[0]][["head", "tail", "line"].index(names[1]) % 2] += content
    if len(nonces) != 1:
        raise ValueError("more than one nonce")
    return [facts, streams]


def schema(path):
    """Complaints of an independent validator about each text."""
    import jsonschema

    with open(path, encoding="utf-8") as file:
        rules = json.load(file)
    jsonschema.Draft202012Validator.check_schema(rules)
    validator = jsonschema.Draft202012Validator(rules)
    return lambda text: [error.message for error in validator.iter_errors(json.loads(text))]


read = {"expat": lambda: expat, "commonmark": lambda: commonmark, "schema": schema}[sys.argv[1]]
reader = read(*sys.argv[2:])
json.dump([reader(text) for text in json.load(sys.stdin)], sys.stdout)
