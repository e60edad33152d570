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
	export IKIGAI_REQUIRE_POSTGRES=1 IKIGAI_REQUIRE_SANDBOX=1
	[ -z "$skipped" ] || { echo "missing:$skipped" >&2; exit 1; }
fi

if [ -n "${RACE:-}" ]; then
	CGO_ENABLED=1 $go test -race -short -timeout 20m ./...
fi
$go test -timeout 20m ./...
if [ -n "$skipped" ]; then
	echo "skipped what needs:$skipped"
fi
