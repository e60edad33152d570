#!/bin/sh
# A job of several steps with the offline model, in a folder of its own.
set -eu
ikigai=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
printf 'package main\n\n// TODO: greet the world\nfunc main() {}\n' >main.go
run() {
	printf '\n$ ikigai run --model demo --mode auto-edit "%s"\n' "$1"
	"$ikigai" run --ephemeral --model demo --mode auto-edit "$1"
}
run "find the Go files, then search for TODO and read main.go"
run "write hello.txt saying hi, then replace hi by hello in hello.txt and run cat hello.txt"
