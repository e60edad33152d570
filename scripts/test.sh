#!/bin/sh
# All tests. What they need and can be had is installed; what is missing is named.
# RACE=1 runs them under the race detector first, the long ones shortened, and then
# whole without it; IKIGAI_CI=1 makes a missing service an error.
set -eu
go=${GO:-go}

have() { command -v "$1" >/dev/null 2>&1; }
postgres() { have initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
install() { # as root on Debian; elsewhere the person decides
	[ "$(id -u)" = 0 ] && have apt-get && { apt-get install -y "$@" || { apt-get update && apt-get install -y "$@"; }; } >/dev/null 2>&1
}

postgres || install postgresql || true
have git || install git || true
have tmux || install tmux || true
have rg || install ripgrep || true

skipped=
postgres || skipped="$skipped PostgreSQL"
have git || skipped="$skipped git"
have tmux || skipped="$skipped tmux"
if [ -n "${IKIGAI_CI:-}" ]; then
	export IKIGAI_REQUIRE_POSTGRES=1 IKIGAI_REQUIRE_SANDBOX=1 IKIGAI_REQUIRE_TMUX=1
	[ -z "$skipped" ] || { echo "missing:$skipped" >&2; exit 1; }
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
	# packages below as well.
	CGO_ENABLED=1 tests "$($go list ./... | grep -v '/cmd/ikigai$')" -race -short
fi
tests ./...
if [ -n "$skipped" ]; then
	echo "skipped what needs:$skipped"
fi
