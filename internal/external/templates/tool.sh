#!/bin/sh
# NAME: a tool for ikigai. The protocol is in docs/tool-protocol.md;
# `ikigai tool check PATH` says whether this file keeps to it.

if [ "$1" = --schema ]; then
	cat <<'SCHEMA'
{
  "name": "NAME",
  "description": "Count the lines, words and bytes of a text.",
  "parameters": {
    "text": {"type": "string", "description": "The text to count", "required": true}
  },
  "returns": {
    "type": "object",
    "properties": {"lines": {"type": "integer"}, "words": {"type": "integer"}, "bytes": {"type": "integer"}}
  },
  "risk": "safe",
  "effects": ["read"]
}
SCHEMA
	exit 0
fi

# An error is an answer too: exit status 0 says that the tool itself worked.
fail() {
	printf '{"error":"%s","error_code":"%s"}\n' "$1" "$2"
	exit 0
}

command -v jq >/dev/null || fail "NAME needs jq; install it and call again" MISSING_DEPENDENCY
args=$(jq -ce 'select(type == "object")' 2>/dev/null) || fail "the arguments are not one JSON object" INVALID_PARAMS
printf '%s' "$args" | jq -e '.text | type == "string"' >/dev/null || fail "text is missing" INVALID_PARAMS

# What goes to standard error is shown to the person while the tool runs.
echo "counting" >&2

count() { printf '%s' "$args" | jq -rj .text | wc "$1" | tr -d ' '; }
printf '{"lines":%s,"words":%s,"bytes":%s}\n' "$(count -l)" "$(count -w)" "$(count -c)"
