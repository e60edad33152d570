#!/bin/sh
# install.sh BIN PREFIX: the program, its helpers, and one link per tool.
set -eu
bin=$1
prefix=$2
mkdir -p "$prefix/bin" "$prefix/libexec/ikigai"
for p in ikigai; do cp "$bin/$p" "$prefix/bin/$p.new" && mv "$prefix/bin/$p.new" "$prefix/bin/$p"; done
for p in ikigai-tools ikigai-init; do cp "$bin/$p" "$prefix/libexec/$p.new" && mv "$prefix/libexec/$p.new" "$prefix/libexec/$p"; done
"$bin/ikigai-tools" --list | while read -r name; do
	ln -sf ../ikigai-tools "$prefix/libexec/ikigai/$name"
done
echo "installed in $prefix"
