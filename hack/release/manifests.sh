#!/bin/sh
# Writes bin/release/install.yaml: the manifests, as the binary that was just built prints
# them. Called for each platform, it acts for the one that it runs on.
set -eu
binary=$1 os=$2 arch=$3
[ "$os/$arch" = "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ] || exit 0
cd "$(dirname "$0")/../.."
mkdir -p bin/release
"$binary" controller --print-manifests >bin/release/install.yaml.part
mv bin/release/install.yaml.part bin/release/install.yaml
