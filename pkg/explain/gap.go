package explain

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Gap is something that could not be read.
type Gap struct {
	// What is pods, events, pods/log, logs, nodes or persistentvolumeclaims; or, in the interactive view, "watch"
	// and what may be read but not watched.
	What string `json:"what"`
	// Text is one line: what is missing, and why.
	Text string `json:"text"`
	// Command checks the permission, "" if a missing one is not the reason.
	Command string `json:"command,omitempty"`
	// Verb and Resource are what is not permitted, "" if that is not the reason, and Namespace is where, "" for all.
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

// MakeCommand makes the Command from the verb, the resource and the namespace, if we ever ask for such a permission. A
// Gap that was read from a file needs that: its Command may be anything.
func (g *Gap) MakeCommand() {
	g.Command = ""
	known := slices.Contains([]string{"get", "list", "watch"}, g.Verb) && slices.Contains([]string{"events", "jobs", "nodes", "persistentvolumeclaims", "pods", "pods/log"}, g.Resource)
	switch {
	case !known || g.Namespace != "" && len(validation.IsDNS1123Label(g.Namespace)) > 0:
	case g.Resource == "nodes":
		g.Command = "kubectl auth can-i " + g.Verb + " nodes"
	default:
		where := "-A"
		if g.Namespace != "" {
			where = "-n " + g.Namespace
		}
		g.Command = fmt.Sprintf("kubectl auth can-i %s %s %s", g.Verb, strings.Replace(g.Resource, "/", " --subresource=", 1), where)
	}
}

// MakeCommands makes the Commands of Gaps that were read from a file.
func MakeCommands(gaps []Gap) {
	for i := range gaps {
		gaps[i].MakeCommand()
	}
}
