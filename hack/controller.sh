# Sourced: the controller of make up, a process of this machine. Its files are in $cluster.
cluster=${CLUSTER_DIR:-.cluster}

# alone runs this script again, up.sh or down.sh, when no other one of the same cluster runs: two that look for the controller
# at the same moment would both start one.
alone() {
	if [ -n "${CLUSTER_ALONE:-}" ]; then
		unset CLUSTER_ALONE # The controller is started from here.
		return
	fi
	mkdir -p "$cluster"
	lock=$(cd "$cluster" && pwd)/controller.lock
	CLUSTER_ALONE=yes exec go -C hack/controlplane run . alone "$lock" "$PWD/hack/$1"
}

# controller_runs reports whether it runs. A pid alone is not enough: it may belong to
# another process now.
controller_runs() {
	[ -f "$cluster/controller.pid" ] && ps -p "$(cat "$cluster/controller.pid")" -o args= 2>/dev/null | grep -q 'kubectl-batchjob controller'
}

# controller_connects reports whether the cluster accepts what the controller was started with.
# It does not if the cluster was replaced: it has another port, another CA, other tokens.
controller_connects() {
	kubectl --kubeconfig "$cluster/controller-kubeconfig" --request-timeout 10s get --raw /readyz >/dev/null 2>&1
}

stop_controller() {
	pid=$(cat "$cluster/controller.pid")
	kill "$pid"
	for _ in $(seq 100); do
		controller_runs || return 0
		sleep 0.1
	done
	kill -9 "$pid"
}
