#!/bin/sh
# make down: stop the controller and the cluster of make up.
set -eu
cd "$(dirname "$0")/.."
. hack/controller.sh

if controller_runs; then
	kill "$(cat .cluster/controller.pid)"
fi
rm -f .cluster/controller.pid .cluster/controller.log .cluster/controller-kubeconfig
go -C hack/controlplane run . down
