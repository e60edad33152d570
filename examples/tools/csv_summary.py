#!/usr/bin/env python3
"""csv_summary: what is in a CSV file, without reading all of it to the model:
for every column its kind, how many values are missing or different, its range,
and a few examples. Needs Python only."""

import csv
import json
import os
import sys

SCHEMA = {
    "name": "csv_summary",
    "description": "Summarize a CSV file: rows, and for each column its kind, missing and distinct values, range and examples.",
    "parameters": {
        "path": {"type": "string", "description": "The file", "format": "path", "required": True},
        "delimiter": {"type": "string", "description": "Between two fields; found out when not given", "maxLength": 1},
    },
    "returns": {
        "type": "object",
        "properties": {
            "rows": {"type": "integer"},
            "columns": {"type": "array", "items": {"type": "object"}},
        },
    },
    "risk": "safe",
    "effects": ["read"],
    "timeout_seconds": 120,
}
MOST_DISTINCT = 10_000


class ToolError(Exception):
    def __init__(self, text, code):
        super().__init__(text)
        self.code = code


class Column:
    """One column, looked at value by value."""

    def __init__(self, name):
        self.name = name
        self.missing = 0
        self.numbers = self.texts = 0
        self.least = self.most = None
        self.distinct = set()
        self.examples = []

    def add(self, value):
        value = value.strip()
        if not value:
            self.missing += 1
            return
        if value not in self.distinct and len(self.examples) < 3:
            self.examples.append(value[:60])
        if len(self.distinct) < MOST_DISTINCT:
            self.distinct.add(value)
        try:
            number = float(value)
        except ValueError:
            self.texts += 1
            return
        self.numbers += 1
        if number == number and abs(number) != float("inf"):
            self.least = number if self.least is None else min(self.least, number)
            self.most = number if self.most is None else max(self.most, number)

    def summary(self):
        kind = "empty"
        if self.numbers or self.texts:
            kind = "number" if not self.texts else "text" if not self.numbers else "mixed"
        out = {"name": self.name, "kind": kind, "missing": self.missing, "examples": self.examples}
        out["distinct"] = len(self.distinct)
        if len(self.distinct) == MOST_DISTINCT:
            out["distinct_is_at_least"] = True
        if kind == "number" and self.least is not None:
            out["min"], out["max"] = self.least, self.most
        return out


def dialect_of(file, delimiter):
    if delimiter:
        return {"delimiter": delimiter}
    try:
        found = csv.Sniffer().sniff(file.read(64 << 10), delimiters=",;\t|")
        return {"delimiter": found.delimiter}
    except csv.Error:
        return {"delimiter": ","}
    finally:
        file.seek(0)


def summarize(path, delimiter):
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        reader = csv.reader(file, **dialect_of(file, delimiter))
        header = next(reader, None)
        if header is None:
            return {"rows": 0, "columns": []}
        columns = [Column(name or f"column {i + 1}") for i, name in enumerate(header)]
        rows = ragged = 0
        for row in reader:
            if not row:
                continue
            rows += 1
            ragged += len(row) != len(columns)
            for column, value in zip(columns, row):
                column.add(value)
            if rows % 200_000 == 0:
                print(f"{rows} rows", file=sys.stderr, flush=True)
    out = {"rows": rows, "columns": [column.summary() for column in columns]}
    if ragged:
        out["rows_of_another_length"] = ragged
    return out


def run(args):
    path, delimiter = args.get("path"), args.get("delimiter")
    if not isinstance(path, str) or not path:
        raise ToolError("path is missing", "INVALID_PARAMS")
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ToolError("delimiter is not one character", "INVALID_PARAMS")
    if not os.path.exists(path):
        raise ToolError(f"File not found: {path}", "FILE_NOT_FOUND")
    try:
        return summarize(path, delimiter)
    except csv.Error as error:
        raise ToolError(f"{path} is no CSV file: {error}", "PARSE_ERROR")
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}", "READ_FAILED")


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
