#!/bin/sh
# The first process in the namespaces of run.sh: lays out folders and network, starts all
# components, runs the command, and ends with its exit code. All paths and addresses are the
# same every time, as nothing outside sees them: DIR is /run/node.
set -eu
[ $$ = 1 ] || { echo "hack/node/run.sh starts this, in namespaces of its own." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$1
shift
. "$here/pki.sh"
. "$here/components.sh"
trap 'exit 130' INT TERM # the first process of a namespace gets no signal that it does not trap

# Nothing is written to the machine's own folders.
lay_out_folders() {
	mkdir -p "$dir/lib/cni" "$dir/log" "$dir/pki"
	mount -t tmpfs -o mode=755 tmpfs /run
	mkdir -p /run/node /run/lock
	mount --bind "$dir" /run/node
	mount --bind "$dir/lib" /var/lib
	mount --bind "$dir/log" /var/log
	cp -r "$here/config" /run/node/config
}

# kubelet writes settings that the kernel has once for the whole machine: here, into files.
lay_out_settings() {
	for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
		mkdir -p "/run/node/sys/${name%/*}"
		cat "/proc/sys/$name" >"/run/node/sys/$name"
		mount --bind "/run/node/sys/$name" "/proc/sys/$name"
	done
}

# The node's address is one end of a cable whose other end is not connected to anything.
lay_out_network() {
	ip link set lo up
	ip link add node0 type veth peer name nowhere
	ip addr add 10.99.0.1/24 dev node0
	ip link set node0 up
	ip link set nowhere up
	ip route add default via 10.99.0.2 dev node0
	echo 1 >/proc/sys/net/ipv4/ip_forward
}

lay_out_folders
lay_out_settings
lay_out_network
make_pki
export KUBECONFIG=/run/node/admin.kubeconfig
if ! start_all; then
	echo "The node does not come up. What its components said last:" >&2
	tail -n 3 /var/log/*.log >&2
	exit 1
fi
code=0
"$@" || code=$?
exit "$code"
