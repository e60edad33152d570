#!/bin/sh
# One table and one JSON file: ours against its rivals, in the same minute.
set -eu
go=${GO:-go}
IKIGAI_BENCH_BIN=$(pwd)/bin/ikigai IKIGAI_BENCH_JSON=$(pwd)/bench.json $go test -count=1 -run TestBenchHarness ./cmd/ikigai
$go test -run '^$' -bench . -benchtime 200ms ./internal/...
