# Sourced: what the kernel has once for the whole machine, and a node adds to: cgroups.
# shellcheck shell=sh

cgroup=batchjob-node # as in kubelet.yaml

# cgroup_tops prints the folders that hold cgroups: one with version 2, else many.
cgroup_tops() {
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		echo /sys/fs/cgroup
	else
		find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d
	fi
}

make_cgroups() {
	for top in $(cgroup_tops); do
		for controller in cpu cpuset memory pids io hugetlb; do
			[ ! -e "$top/cgroup.subtree_control" ] || echo "+$controller" >"$top/cgroup.subtree_control" 2>/dev/null || true
		done
		mkdir -p "$top/$cgroup"
	done
}

# remove_cgroups waits for the kernel, which ends the last processes of the node meanwhile.
remove_cgroups() {
	for top in $(cgroup_tops); do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			find "$top/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null && break
			sleep 0.5
		done
		[ ! -d "$top/$cgroup" ] || echo "$top/$cgroup is still in use" >&2
	done
}
