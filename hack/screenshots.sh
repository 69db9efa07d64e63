#!/bin/sh
# make screenshots: run the examples on a cluster of their own, look at them with
# `kubectl batchjob watch` in a real terminal (tmux), and draw what it shows into
# docs/images/watch-*.svg.
set -eu
cd "$(dirname "$0")/.."

dir=$PWD/.cluster/screenshots
binary=$PWD/bin/kubectl-batchjob
images=$PWD/docs/images
cluster() { go -C hack/controlplane run . "$@"; }
controller=''
cleanup() {
	status=$?
	trap - EXIT
	trap '' INT TERM
	terminal kill-server 2>/dev/null || true
	[ -z "$controller" ] || { kill "$controller" 2>/dev/null && wait "$controller" 2>/dev/null || true; }
	rm -rf "$dir/cache" "$dir/controller.log" "$dir/tmux.conf" "$dir/picture"
	cluster down --dir "$dir"
	exit "$status"
}
terminal() { tmux -u -S "$dir/tmux" "$@"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

cluster up --dir "$dir" >/dev/null
export KUBECONFIG="$dir/kubeconfig" KUBECACHEDIR="$dir/cache" LC_ALL=C.UTF-8 TZ=UTC
PATH=$(cluster path):$PATH
export PATH
kubectl create namespace batchjob-system >/dev/null
"$binary" controller --leader-elect --leader-elect-resource-namespace batchjob-system \
	--metrics-bind-address 0 --health-probe-bind-address 0 2>"$dir/controller.log" &
controller=$!
go build -o "$dir/picture" ./hack/picture

printf 'set -g default-terminal xterm-256color\nset -g status off\n' >"$dir/tmux.conf"
terminal -f "$dir/tmux.conf" new-session -d -x 120 -y 34 -e COLORTERM=truecolor -e "PS1=$ " 'sh -i'

# shows TEXT: wait until it is on the screen, for a minute.
shows() {
	for _ in $(seq 240); do
		if terminal capture-pane -p | grep -qF -- "$1"; then return; fi
		sleep 0.25
	done
	echo "Timed out waiting for the screen to show: $1" >&2
	terminal capture-pane -p >&2
	return 1
}
# size COLUMNS LINES
size() { terminal resize-window -x "$1" -y "$2"; sleep 1; }
# type COMMAND: the command line is not part of a picture.
type() { terminal send-keys -l "clear; '$binary' $1"; terminal send-keys Enter; }
press() { for key in "$@"; do terminal send-keys "$key"; sleep 0.3; done; }
# shoot NAME TITLE
shoot() { terminal capture-pane -e -p | "$dir/picture" "$2" >"$images/watch-$1.svg"; echo "docs/images/watch-$1.svg"; }

kubectl apply -f examples/ -f examples/stories/ -f examples/failures/ -f examples/stalls/ -f examples/watch/ >/dev/null
size 120 34
type 'watch parameter-sweep'
# Failures, retries and a pod that is slow to end, so that there is something to see.
shows 'in back-off'
sleep 24
kubectl delete pod --wait=false -l batch.kubernetes.io/job-name=parameter-sweep,batch.kubernetes.io/job-completion-index=0 >/dev/null
shows 'terminating'
sleep 2
shoot overview 'kubectl batchjob watch parameter-sweep'
press 2 n n
shoot indexes 'kubectl batchjob watch parameter-sweep: the index map'
press 3
shoot policies 'kubectl batchjob watch parameter-sweep: rules and limits'
press 5
shoot pods 'kubectl batchjob watch parameter-sweep: pods'
press q
type 'watch'
shows 'sweep'
sleep 1
shoot jobs 'kubectl batchjob watch'
press q
size 100 30
type 'why training-workers-0'
shows 'Explain'
sleep 1
shoot explain 'kubectl batchjob why training-workers-0'
press q q
size 80 24
type 'watch sweep'
shows '412'
sleep 1
shoot failed 'kubectl batchjob watch sweep, on 80 columns'
press q
