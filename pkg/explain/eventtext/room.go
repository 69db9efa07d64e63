package eventtext

import "strings"

// LacksRoom reports whether the scheduler's message about a pod names a resource of which nodes have too little, so that the
// pod may be scheduled once other pods have ended or a node is added.
func LacksRoom(message string) bool {
	// "0/3 nodes are available: 3 Insufficient cpu.", "0/1 nodes are available: 1 Too many pods."
	return strings.Contains(message, "Insufficient ") || strings.Contains(message, "Too many pods")
}
