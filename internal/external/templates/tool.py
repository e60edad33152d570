#!/usr/bin/env python3
"""NAME: a tool for ikigai. The protocol is in docs/tool-protocol.md;
`ikigai tool check PATH` says whether this file keeps to it."""

import json
import sys

SCHEMA = {
    "name": "NAME",
    "description": "Count the lines, words and bytes of a text.",
    "parameters": {
        "text": {"type": "string", "description": "The text to count", "required": True},
    },
    "returns": {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in ("lines", "words", "bytes")},
    },
    "risk": "safe",
    "effects": ["read"],
}


class ToolError(Exception):
    """An error that is told to the model. The tool itself worked."""

    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


def run(args):
    text = args.get("text")
    if not isinstance(text, str):
        raise ToolError("text is missing", "INVALID_PARAMS")
    # What goes to standard error is shown to the person while the tool runs.
    print("counting", file=sys.stderr)
    return {"lines": text.count("\n"), "words": len(text.split()), "bytes": len(text.encode())}


def arguments():
    try:
        args = json.load(sys.stdin)
    except ValueError as error:
        raise ToolError(f"the arguments are not JSON: {error}", "INVALID_PARAMS")
    if not isinstance(args, dict):
        raise ToolError("the arguments are not one JSON object", "INVALID_PARAMS")
    return args


def main():
    if sys.argv[1:] == ["--schema"]:
        answer = SCHEMA
    else:
        try:
            answer = run(arguments())
        except ToolError as error:
            answer = {"error": str(error), "error_code": error.code}
    print(json.dumps(answer))


main()
