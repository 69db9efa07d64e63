# Sourced: the controller of make up, a process of this machine. Its files are in $cluster.
cluster=${CLUSTER_DIR:-.cluster}

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
