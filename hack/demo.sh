#!/bin/sh
# make demo: a control plane, the controller and four Jobs, from nothing to the
# final tables, and everything taken down again, also on Ctrl-C.
set -eu
cd "$(dirname "$0")/.."

dir=$PWD/.cluster/demo
binary=$PWD/bin/kubectl-batchjob
cluster() { go -C hack/controlplane run . "$@"; }
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

controller=''
watcher=''
cleanup() {
	status=$?
	trap - EXIT
	trap '' INT TERM
	for process in $watcher $controller; do
		kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
	done
	say 'Taking everything down.'
	if [ "$status" -ne 0 ] && [ "$status" -ne 130 ] && [ -s "$dir/controller.log" ]; then
		echo 'The last lines of the controller:' >&2
		tail -n 5 "$dir/controller.log" >&2
	fi
	rm -rf "$dir/controller.log" "$dir/cache"
	cluster down --dir "$dir"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say 'Starting a Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager, kwok).'
cluster up --dir "$dir" >/dev/null
export KUBECONFIG="$dir/kubeconfig" KUBECACHEDIR="$dir/cache"
PATH=$(go -C hack/controlplane run . path):$PATH
export PATH

say 'kubectl batchjob controller --metrics-bind-address 0 --health-probe-bind-address 0'
"$binary" controller --metrics-bind-address 0 --health-probe-bind-address 0 2>"$dir/controller.log" &
controller=$!

say 'kubectl apply -f examples/'
kubectl apply -f examples/

say 'kubectl batchjob status --watch'
"$binary" status --watch &
watcher=$!

# One of the four fails, as it should: 3.
# The names are words.
# shellcheck disable=SC2046
"$binary" wait --quiet --timeout 3m $(kubectl get jobs -o name) >/dev/null || [ $? -eq 3 ]
kill "$watcher" 2>/dev/null && wait "$watcher" 2>/dev/null || true
watcher=''

say 'kubectl batchjob status -o wide'
"$binary" status -o wide
say 'kubectl batchjob explain-failure over-backoff-limit'
# On a terminal it would be interactive, and wait to be closed.
"$binary" explain-failure over-backoff-limit --interactive=false
