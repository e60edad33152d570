#!/bin/sh
# Every fuzz target for a few seconds: FUZZTIME=10s make fuzz
set -eu
go=${GO:-go}
time=${FUZZTIME:-5s}
grep -rl --include='*_test.go' '^func Fuzz' internal cmd | sort | while read -r file; do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$file"); do
		echo "fuzz $target in $(dirname "$file")"
		$go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" </dev/null
	done
done
