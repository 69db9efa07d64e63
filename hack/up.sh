#!/bin/sh
# make up: a kwok cluster in .cluster, and our controller beside the built-in ones.
set -eu
cd "$(dirname "$0")/.."
. hack/controller.sh

go -C hack/controlplane run . up >/dev/null
if controller_runs; then
	echo "The controller runs already; its log is .cluster/controller.log."
else
	# Free ports of this machine only; the log says which.
	KUBECONFIG=.cluster/kubeconfig nohup bin/kubectl-batchjob controller \
		--metrics-bind-address 127.0.0.1:0 --metrics-secure=false --health-probe-bind-address 127.0.0.1:0 \
		</dev/null >.cluster/controller.log 2>&1 &
	echo $! >.cluster/controller.pid
	echo "The controller runs; its log is .cluster/controller.log."
fi
echo "Use the cluster with:  export KUBECONFIG=$PWD/.cluster/kubeconfig"
echo "Stop both with:        make down"
