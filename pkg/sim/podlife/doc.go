// Package podlife is what a kubelet does with the containers of one pod: init containers run one after the other, those
// that fail are restarted as the restart policies say, with the kubelet's back-off, and the pod ends when its containers
// have, or at its own activeDeadlineSeconds.
//
// The package is pure: the caller says how each run of a container ends (Runs) and what time it is. Call Advance whenever
// the time of Next has come; a pod that is to be deleted is advanced with terminating set, and ended with Kill.
//
// Simplifications: a native sidecar counts as started as soon as it runs, and probes, hooks and lifecycle handlers do not
// exist. See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy.
package podlife
