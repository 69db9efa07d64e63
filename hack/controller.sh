# Sourced: checks whether the controller of make up runs. A pid alone is not enough:
# it may belong to another process now.
controller_runs() {
	[ -f .cluster/controller.pid ] && ps -p "$(cat .cluster/controller.pid)" -o args= 2>/dev/null | grep -q 'kubectl-batchjob controller'
}
