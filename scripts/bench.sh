#!/bin/sh
# One table and one file, bench.json: ours against its rivals, in the same minutes.
# Rivals that are missing are installed from Debian's packages where that is
# possible, and named in the table otherwise. NODE_MODULES=DIR is a large tree to
# search; without it npm makes one, once, in the user's cache.
set -eu
go=${GO:-go}

have() { command -v "$1" >/dev/null 2>&1; }
install() { # as root on Debian; elsewhere the person decides
	[ "$(id -u)" = 0 ] && have apt-get && { apt-get install -y "$@" || { apt-get update && apt-get install -y "$@"; }; } >/dev/null 2>&1
}
have rg || install ripgrep || true
have fd || have fdfind || install fd-find || true
have bwrap || install bubblewrap || true
have git || install git || true

modules=${NODE_MODULES:-${XDG_CACHE_HOME:-$HOME/.cache}/ikigai/bench/node_modules}
if [ ! -d "$modules" ] && have npm; then
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$(dirname "$modules")" next@16 webpack@5 @angular/cli@21 >/dev/null 2>&1 || true
fi
[ ! -d "$modules" ] || export IKIGAI_BENCH_TREES="$modules"

rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT
export IKIGAI_BENCH_JSON_DIR="$rows" IKIGAI_BENCH_JSON="$(pwd)/bench.json" IKIGAI_BENCH_BIN="$(pwd)/bin/ikigai" IKIGAI_BENCH_RIVALS=1

# One package at a time: what is measured has the machine for itself.
packages=$(grep -rl --include='*_test.go' 'bench\.Write(' cmd internal | grep -v '^internal/bench/' | xargs -n 1 dirname | sort -u | sed 's|^|./|')
$go test -p 1 -count=1 -timeout 60m -run '^TestBench' $packages
$go test -count=1 -v -run '^TestTable$' ./internal/bench | grep '^|'
