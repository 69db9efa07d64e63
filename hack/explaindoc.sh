#!/bin/sh
# make explain-doc: run the failing examples on a cluster of their own, and put what the plugin prints about them into
# docs/explain.md. A block is regenerated if the line before it is <!-- output of: VERB [ARGUMENTS] -->.
set -eu
cd "$(dirname "$0")/.."

dir=$PWD/.cluster/explaindoc
binary=$PWD/bin/kubectl-batchjob
cluster() { go -C hack/controlplane run . "$@"; }
controller=''
cleanup() {
	status=$?
	trap - EXIT
	trap '' INT TERM
	[ -z "$controller" ] || { kill "$controller" 2>/dev/null && wait "$controller" 2>/dev/null || true; }
	rm -rf "$dir/out" "$dir/cache" "$dir/controller.log"
	cluster down --dir "$dir"
	exit "$status"
}
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
kubectl apply -f examples/ -f examples/stories/ -f examples/failures/ -f examples/stalls/ >/dev/null
# Jobs of examples/stalls never end; the others do within a minute.
"$binary" wait --quiet -l '!batchjob.dev/stalls' --timeout 3m >/dev/null || [ $? -eq 3 ]

# regenerate DOC writes its outputs anew, as on a terminal of 80 columns, or 100 for --full: only there are lines wrapped.
regenerate() {
	rm -rf "$dir/out"
	mkdir -p "$dir/out"
	n=0
	grep -o '^<!-- output of: .* -->' "$1" | sed 's/^<!-- output of: //; s/ -->$//' | while read -r arguments; do
		n=$((n + 1))
		cols=80
		case $arguments in *--full*) cols=100 ;; esac
		{
			printf '```\n$ kubectl batchjob %s\n' "$arguments"
			NO_COLOR=1 script -qec "stty cols $cols; '$binary' $arguments --interactive=false" /dev/null </dev/null | tr -d '\r'
			printf '```\n'
		} >"$dir/out/$n"
	done
	awk -v dir="$dir/out" '
		skip && /^```$/ { if (++fences == 2) skip = 0; next }
		skip { next }
		{ print }
		/^<!-- output of: / { file = dir "/" ++n; while ((getline line < file) > 0) print line; skip = 1; fences = 0 }
	' "$1" >"$dir/out/doc" && cp "$dir/out/doc" "$1"
}

regenerate docs/explain.md
