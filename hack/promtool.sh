#!/bin/sh
# Prints where promtool is: the one in PATH, or that of Debian's package prometheus, of which
# nothing else is unpacked, and that only once. Building it from its Go module takes more than
# five minutes of CPU.
set -eu
if command -v promtool; then
	exit
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/kubectl-batchjob/promtool"
if [ ! -x "$cache/promtool" ]; then
	if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
		echo "promtool not found: install Prometheus (https://prometheus.io/download) and add it to PATH." >&2
		exit 1
	fi
	mkdir -p "$cache"
	unpacked=$(mktemp -d "$cache/XXXXXX")
	trap 'rm -rf "$unpacked"' EXIT
	(cd "$unpacked" && { apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; }; } >&2 && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool)
	mv "$unpacked/usr/bin/promtool" "$cache/promtool"
fi
echo "$cache/promtool"
