#!/bin/sh
# Installs what the tests need and this machine can have, and prints the names of
# what is missing still. As root on Debian; elsewhere the person decides.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }
postgres() { have initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
missing() {
	postgres || echo postgresql
	have git || echo git
	have tmux || echo tmux
	have rg || echo ripgrep
	have chromium || echo chromium
}
apt() { apt-get -o DPkg::Lock::Timeout=600 "$@" >/dev/null 2>&1; }

want=$(missing)
if [ -n "$want" ] && [ "$(id -u)" = 0 ] && have apt-get; then
	apt install -y --no-install-recommends $want || { apt update && apt install -y --no-install-recommends $want; } ||
		for one in $want; do apt install -y --no-install-recommends "$one" || true; done
fi
missing
