package integration

import (
	corev1 "k8s.io/api/core/v1"
)

// firstFails lets the first pod of the namespace fail and all others succeed.
func firstFails(_ *corev1.Pod, nth int) corev1.PodPhase {
	if nth == 1 {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}
