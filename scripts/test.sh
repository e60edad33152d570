#!/bin/sh
# All tests. What they need and can be had is installed; what is missing is named.
# RACE=1 runs them under the race detector, and what is too long for it, shortened
# there, once more without; IKIGAI_CI=1 makes a missing service an error.
set -eu
go=${GO:-go}

skipped=$(sh scripts/needs.sh | tr '\n' ' ')
if [ -n "${IKIGAI_CI:-}" ]; then
	export IKIGAI_REQUIRE_POSTGRES=1 IKIGAI_REQUIRE_SANDBOX=1 IKIGAI_REQUIRE_TMUX=1
	case " $skipped" in
	*" postgresql "* | *" git "* | *" tmux "*) echo "missing: $skipped" >&2 && exit 1 ;;
	*" chromium "*) ;;
	*) export IKIGAI_REQUIRE_CHROMIUM=1 ;;
	esac
fi

# tests PACKAGES FLAGS: runs them; packages that fail run a second time, alone, and
# that is said: some tests wait for real processes on a machine that may be busy.
# A data race or a build that fails is never tried again.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
tests() {
	packages=$1
	shift
	if { $go test -timeout 20m "$@" $packages 2>&1 || echo "exit status of go test: bad"; } | tee "$log" | grep -v 'no test files' && ! grep -q '^exit status of go test: bad' "$log"; then
		return 0
	fi
	if grep -aq 'DATA RACE\|\[build failed\]\|\[setup failed\]' "$log"; then
		return 1
	fi
	again=$(sed -n 's/^FAIL[[:space:]]\{1,\}\(ikigai[^[:space:]]*\).*/\1/p' "$log" | sort -u)
	[ -n "$again" ] || return 1
	echo "second try, alone: $again"
	for package in $again; do
		$go test -count=1 -timeout 20m "$@" "$package" || return 1
	done
}

if [ -n "${RACE:-}" ]; then
	# The stories start the program hundreds of times; what races in it races in the
	# packages below as well. What -short leaves out runs without the detector.
	CGO_ENABLED=1 tests "$($go list ./... | grep -v '/cmd/ikigai$')" -race -short
	tests "$(grep -rl --include='*_test.go' 'testing\.Short()\|internal/store/storetest"' cmd internal | xargs -n 1 dirname | sort -u | sed 's|^|./|')"
else
	tests ./...
fi
GOEXPERIMENT='' tests ./internal/search # as it is where there are no vectors
if [ -n "$skipped" ]; then
	echo "skipped what needs: $skipped"
fi
