# Sourced: `check_needs` ends the script unless this machine can have a node.
# shellcheck shell=sh

# package lists what is missing, by the name of the Debian package that has it.
missing_packages() {
	while read -r package file; do
		command -v "$file" >/dev/null 2>&1 || [ -e "$file" ] || printf ' %s' "$package"
	done <<-LIST
		containerd containerd
		runc runc
		containernetworking-plugins /usr/lib/cni/ptp
		busybox-static busybox
		buildah buildah
		iptables iptables
		iproute2 ip
		openssl openssl
		util-linux unshare
	LIST
}

check_needs() {
	[ "$(uname -s)" = Linux ] || { echo "A node needs Linux." >&2; exit 1; }
	[ "$(id -u)" = 0 ] || { echo "A node needs root: it makes namespaces, mounts and cgroups." >&2; exit 1; }
	missing=$(missing_packages)
	[ -z "$missing" ] || { echo "A node needs more programs: apt-get install --no-install-recommends$missing" >&2; exit 1; }
	unshare --mount --net --pid --fork true 2>/dev/null ||
		{ echo "A node needs a root that may make namespaces, which a container without privileges does not have." >&2; exit 1; }
	[ -d /sys/fs/cgroup ] || { echo "A node needs cgroups, and /sys/fs/cgroup is not there." >&2; exit 1; }
}
