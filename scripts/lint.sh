#!/bin/sh
# vet, staticcheck and gofumpt, at exact versions, built once into the user's cache.
set -eu
go=${GO:-go}
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
gofumpt=mvdan.cc/gofumpt@v0.12.0

$go vet ./...
$go run $staticcheck ./...
bad=$($go run $gofumpt -l cmd internal)
if [ -n "$bad" ]; then
	echo "not formatted by gofumpt:" >&2
	echo "$bad" >&2
	exit 1
fi
$go mod tidy -diff >/dev/null || { echo "go.mod is not tidy: run go mod tidy" >&2; exit 1; }
$go mod verify >/dev/null
echo "lint: clean"
