#!/bin/sh
# make down: stop the controller and the cluster of make up. CLUSTER_DIR is another
# directory than .cluster.
set -eu
cd "$(dirname "$0")/.."
. hack/controller.sh
alone down.sh

if controller_runs; then
	stop_controller
fi
rm -f "$cluster/controller.pid" "$cluster/controller.log" "$cluster/controller-kubeconfig" "$cluster/controller.lock"
go -C hack/controlplane run . down --dir "$cluster"
