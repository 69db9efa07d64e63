package explain

// Autoscaler is an autoscaler's statement about a pod that no node can take.
type Autoscaler struct {
	// By is ByClusterAutoscaler or ByKarpenter.
	By string `json:"by"`
	// Adds reports whether the autoscaler adds a node for the pod.
	Adds bool `json:"adds,omitempty"`
	// Why is the autoscaler's reason for adding no node; "" if it gives none.
	Why string `json:"why,omitempty"`
}
