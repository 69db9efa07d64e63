#!/bin/sh
# make demo: a control plane, the controller, and a Job for each proposal that it implements,
# from nothing to the final tables. With CONTEXT it is the cluster of that context of the
# kubeconfig. On a terminal it ends in the interactive view. Everything is taken down again,
# also on Ctrl-C.
set -eu
cd "$(dirname "$0")/.."

dir=$PWD/.cluster/demo
binary=$PWD/bin/kubectl-batchjob
cluster() { go -C hack/controlplane run . "$@"; }
columns=$(stty size 2>/dev/null | cut -d ' ' -f 2)
[ "${columns:-0}" -gt 0 ] || columns=80
wrapped() { printf '%s\n' "$*" | fold -s -w "$columns"; }
say() { printf '\n\033[1m%s\033[0m\n' "$(wrapped "$*")"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$(wrapped "$*")"; }

controller=''
watcher=''
namespace=''
cleanup() {
	status=$?
	trap - EXIT
	trap '' INT TERM
	say 'Taking everything down.'
	# While the controller runs: it removes the finalizers of the pods.
	[ -z "$namespace" ] || kubectl delete namespace "$namespace" --timeout 2m
	for process in $watcher $controller; do
		kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
	done
	if [ "$status" -ne 0 ] && [ "$status" -ne 130 ] && [ -s "$dir/controller.log" ]; then
		echo 'The last lines of the controller:' >&2
		tail -n 5 "$dir/controller.log" >&2
	fi
	rm -rf "$dir/controller.log" "$dir/cache"
	if [ -n "${CONTEXT:-}" ]; then
		rm -f "$dir/context"
		rmdir "$dir" 2>/dev/null || true
	else
		cluster down --dir "$dir"
	fi
	[ "$status" -ne 0 ] || say 'Next: make install, and then kubectl batchjob demo, which needs no cluster.'
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# With a Lease, which shows that it is running.
controllers='--leader-elect --metrics-bind-address 0 --health-probe-bind-address 0'
if [ -n "${CONTEXT:-}" ]; then
	# The kubeconfig of the user is copied, not changed. The controller and its Jobs have a name
	# of their own, for clusters that have the controller already.
	manager=batchjob.dev/demo
	mkdir -p "$dir"
	(umask 077 && kubectl config view --minify --flatten --raw --context "$CONTEXT" >"$dir/context")
	export KUBECONFIG="$dir/context"
	namespace=$(kubectl create -o name -f - <<-'END'
		apiVersion: v1
		kind: Namespace
		metadata: {generateName: batchjob-demo-}
	END
	)
	namespace=${namespace#namespace/}
	kubectl config set-context --current --namespace "$namespace" >/dev/null
	say "Using the cluster of the context $CONTEXT, in the namespace $namespace, which is deleted at the end."
	controllers="$controllers --managed-by $manager --namespaces $namespace"
else
	manager=batchjob.dev/controller
	cluster build --for demo
fi
say 'Compiling kubectl-batchjob, while the control plane starts.'
make -s build &
builder=$!
if [ -z "${CONTEXT:-}" ]; then
	say 'Starting a Kubernetes control plane (etcd, kube-apiserver, the Job controller, kwok).'
	cluster up --for demo --dir "$dir" >/dev/null
	export KUBECONFIG="$dir/kubeconfig" KUBECACHEDIR="$dir/cache"
	PATH=$(cluster path --for demo):$PATH
	export PATH
fi

if kill -0 "$builder" 2>/dev/null; then
	say 'Still compiling kubectl-batchjob: with an empty cache, this takes minutes.'
fi
wait "$builder"

say "kubectl batchjob controller $controllers"
# The flags are words.
# shellcheck disable=SC2086
"$binary" controller $controllers 2>"$dir/controller.log" &
controller=$!

say "Four Jobs: a named rule (KEP-4443), a limit per index (KEP-3850), replacement after the end (KEP-3939), \
a success policy (KEP-3998). Each pod counts once (KEP-2307)."
stories=examples/stories
for story in kep-4443-story-1-the-reason-names-the-exit-code kep-3850-story-1-one-retry-per-suite \
	kep-3939-story-1-one-trainer-per-index kep-3998-story-1-the-leader-decides; do
	# Four seconds to end instead of fourteen will do here.
	sed -e "s|batchjob.dev/controller|$manager|" -e 's/time: 14s/time: 4s/' -e 's/sleep 14/sleep 4/' "$stories/$story.yaml" |
		kubectl apply -f -
done

say 'kubectl batchjob status --watch'
"$binary" status --watch &
watcher=$!

# A worker of tf-training is deleted, and takes a while to end.
worker=batch.kubernetes.io/job-name=tf-training,batch.kubernetes.io/job-completion-index=0
kubectl wait pod -l "$worker" --for=condition=Ready --timeout 1m >/dev/null
kubectl delete pod -l "$worker" --wait=false >/dev/null

# Two of the four fail, as they should: 3.
# The names are words.
# shellcheck disable=SC2046
"$binary" wait --quiet --timeout 3m $(kubectl get jobs -o name) >/dev/null || [ $? -eq 3 ]
kill "$watcher" 2>/dev/null && wait "$watcher" 2>/dev/null || true
watcher=''

say 'kubectl batchjob why training-workers-0 nightly-suites tf-training mpi-benchmark'
"$binary" why training-workers-0 nightly-suites tf-training mpi-benchmark

say 'One pod, from kubectl batchjob run to Complete, on each controller:'
# race runs a Job with one pod, and prints how long that takes.
race() {
	begun=$(date +%s%N)
	"$binary" run -f - --managed-by="$2" --logs=none --quiet >/dev/null 2>&1 <<-END
		apiVersion: batch/v1
		kind: Job
		metadata: {name: $1}
		spec:
		  template:
		    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
	END
	printf '%-26s %5d ms\n' "${2:-the built-in controller}" $((($(date +%s%N) - begun) / 1000000))
}
race ours "$manager"
race built-in ''

if [ -t 0 ] && [ -t 1 ]; then
	say 'kubectl batchjob watch nightly-suites'
	wrapped 'Try 2 (index map), 4 (failures), e (explanation), R (retry) and ?. Ctrl-C quits and cleans up.'
	printf 'Press Enter to open it. '
	read -r _
	"$binary" watch nightly-suites || [ $? -eq 130 ]
else
	say 'kubectl batchjob why nightly-suites'
	"$binary" why nightly-suites
fi
