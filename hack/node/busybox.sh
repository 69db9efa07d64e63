#!/bin/sh
# busybox.sh DIR: makes DIR/busybox.tar, the image that the Jobs of examples/ ask for, and
# DIR/pause.tar, the one that holds a pod together. No registry is asked: both are the busybox
# of this machine, whatever version that is.
set -eu
dir=$1
export BUILDAH_ISOLATION=chroot
container=$(buildah from scratch)
trap 'buildah rm "$container" >/dev/null' EXIT
buildah copy -q "$container" "$(command -v busybox)" /bin/busybox >/dev/null
buildah run "$container" /bin/busybox --install -s /bin
buildah run "$container" /bin/busybox mkdir -m 1777 /tmp
buildah config --env PATH=/bin --cmd sh "$container"
buildah commit -q "$container" "docker-archive:$dir/busybox.tar:docker.io/library/busybox:1.37" >/dev/null
# Nobody sends it anything but the signal that ends it.
buildah config --cmd '["sh", "-c", "trap exit TERM; while :; do sleep 3600 & wait; done"]' "$container"
buildah commit -q "$container" "docker-archive:$dir/pause.tar:localhost/pause:1" >/dev/null
