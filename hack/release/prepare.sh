#!/bin/sh
# Makes what archives and image hold beside the binary. GoReleaser empties dist before it
# fills it, so it lies in bin/release.
set -eu
cd "$(dirname "$0")"
rm -rf ../../bin/release
go run ./notices -o ../../bin/release/THIRD_PARTY_NOTICES
