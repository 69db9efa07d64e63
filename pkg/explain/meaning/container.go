package meaning

import (
	"strings"
	"unicode/utf8"
)

// Container holds what advice on an error in a container depends on.
type Container struct {
	Name, Image string
	// ReadOnlyRoot reports whether the container has readOnlyRootFilesystem, SharedMemory whether it has a volume at /dev/shm.
	ReadOnlyRoot, SharedMemory bool
	// HostNetwork and NodeDNS report whether the pod is on the host network, and whether it uses the DNS of its node.
	HostNetwork, NodeDNS bool
	// MemoryLimit is the memory limit of the container, "" for none.
	MemoryLimit string
	// Secrets are the names of the Secrets that the container uses, and Mounts its volumes. Account is the ServiceAccount of the pod.
	Secrets []string
	Mounts  []Mount
	Account string
	// User is the runAsUser of the container, "" if the template has none.
	User string
	// Variables are the environment variables whose values the pod template has, and Sources the ConfigMaps and Secrets of envFrom.
	Variables []Variable
	Sources   []string
}

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// variableWith returns the name of the variable that has a word in its value, "" if none has.
func (c *Container) variableWith(word string) string {
	const least = 2
	for _, v := range c.Variables {
		before, after, found := strings.Cut(v.Value, word)
		if found && len(word) >= least && !endsInWord(before) && !startsWithWord(after) {
			return v.Name
		}
	}
	return ""
}

func endsInWord(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}

func startsWithWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWord(r) || r == '-' || r == '_' || r == '.'
}
