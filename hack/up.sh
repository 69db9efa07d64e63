#!/bin/sh
# make up: a kwok cluster in .cluster with config/default applied, and our controller beside
# the built-in ones. Simulated nodes run no program, so the pods of its Deployment only
# pretend; the one that works is a process of this machine, with the ServiceAccount's token.
# CLUSTER_DIR is another directory than .cluster.
set -eu
cd "$(dirname "$0")/.."
. hack/controller.sh
. hack/account.sh
alone up.sh

go -C hack/controlplane run . up --dir "$cluster" >/dev/null
PATH=$(go -C hack/controlplane run . path):$PATH
export PATH
if controller_runs && ! controller_connects; then
	echo "The controller belongs to a cluster that is gone; starting another."
	stop_controller
fi
if controller_runs; then
	echo "The controller is already running; its log is $cluster/controller.log."
else
	install_account "$cluster/kubeconfig" "$cluster/controller-kubeconfig"
	# Free ports of this machine only; the log says which.
	KUBECONFIG=$cluster/controller-kubeconfig nohup bin/kubectl-batchjob controller --leader-elect \
		--metrics-bind-address 127.0.0.1:0 --metrics-secure=false --health-probe-bind-address 127.0.0.1:0 \
		</dev/null >"$cluster/controller.log" 2>&1 &
	echo $! >"$cluster/controller.pid"
	echo "The controller is running; its log is $cluster/controller.log."
fi
case $cluster in /*) ;; *) cluster=$PWD/$cluster ;; esac
echo "Use the cluster with:  export KUBECONFIG=$cluster/kubeconfig"
echo "Stop both with:        make down"
