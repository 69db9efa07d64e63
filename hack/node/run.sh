#!/bin/sh
# hack/node/run.sh COMMAND [ARGUMENT...]: runs the command beside a cluster with one real node:
# etcd, API server, controllers and scheduler, and a kubelet with containerd that runs real
# containers. Needs root on Linux. KUBECONFIG is an administrator's, and kubectl is in PATH:
#
#	hack/node/run.sh sh
#
# All of it lives in namespaces of its own for processes, network and mounts. When the command
# has ended, or this script is killed, the kernel ends and unmounts what is left, and no port
# of this machine was ever open. What the node can run is what is imported: a busybox, and
# the image of bin/image.tar if there is one (make image).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/needs.sh"
. "$here/host.sh"

[ $# -gt 0 ] || { echo "usage: hack/node/run.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
check_needs
exec 9>/run/batchjob-node.lock
flock -n 9 || { echo "Another node runs on this machine; they would share cgroups." >&2; exit 1; }

go -C "$root/hack/controlplane" run . build
bin=$(go -C "$root/hack/controlplane" run . path)
node=$("$here/build.sh")
release() { basename "$1" | cut -d - -f 1; }
[ "$(release "$bin")" = "$(release "$node")" ] || { echo "hack/node is of Kubernetes $(release "$node"), hack/controlplane of $(release "$bin")." >&2; exit 1; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/batchjob-node-XXXXXX")
trap 'rm -rf "$dir"' EXIT
"$here/busybox.sh" "$dir"
if [ -e "$root/bin/image.tar" ]; then
	ln "$root/bin/image.tar" "$dir/image.tar" 2>/dev/null || cp "$root/bin/image.tar" "$dir/"
fi

make_cgroups
code=0
# In the background, so that a signal for this script alone is not put off. unshare itself
# ignores all but SIGKILL, and takes everything in the namespaces with it.
exec 3<&0
PATH="$node:$bin:$PATH" env --default-signal=INT,QUIT setpriv --pdeathsig KILL \
	unshare --mount --net --pid --fork --kill-child --mount-proc "$here/inside.sh" "$dir" "$@" <&3 &
child=$!
trap 'code=130; kill -KILL $child' INT TERM
wait $child || code=$?
trap '' INT TERM
wait $child 2>/dev/null || true
remove_cgroups
if [ "$code" != 0 ] && [ -d "$dir/log" ]; then
	trap - EXIT
	find "$dir" -mindepth 1 -maxdepth 1 ! -name log -exec rm -rf {} +
	echo "The logs of the node and the control plane are in $dir/log." >&2
fi
exit "$code"
