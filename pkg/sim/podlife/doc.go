// Package podlife simulates a kubelet's handling of the containers of one pod: init containers run one after the other,
// failed containers are restarted according to the restart policies, with the kubelet's back-off, and the pod ends when
// its containers have ended, or at its own activeDeadlineSeconds.
//
// The package is pure: the caller provides the run of each container (Runs) and the time. Call Advance at the time that
// Next returns. For a pod that is being deleted, pass terminating to Advance, and end it with Kill.
//
// Simplifications: a native sidecar counts as started as soon as it runs, and probes, hooks and lifecycle handlers do
// not exist. See https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy.
package podlife
