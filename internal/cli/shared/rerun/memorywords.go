package rerun

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// RaisedText says how much memory a container or the pod gets.
func RaisedText(r *retry.RaisedMemory, by *retry.MemoryRaise) string {
	text := fmt.Sprintf("%s gets %s of memory instead of %s", ownerText(r.Container), r.New.String(), r.Old.String())
	return wording.Sentence(text) + "; the cap is " + capText(&r.Cap, by) + "."
}

// OwnLimitText warns that a program will not use more memory.
func OwnLimitText(l *retry.OwnLimit) string {
	if l.Variable == "" {
		return fmt.Sprintf("container %s runs with %s, so its program will not use more memory; change that with --patch or --edit", l.Container, l.Text)
	}
	return fmt.Sprintf("container %s has %s in %s, so its program will not use more memory; change that with --set-env", l.Container, l.Text, l.Variable)
}

func ownerText(container string) string {
	if container == "" {
		return "the pod"
	}
	return "container " + container
}

func capText(q *resource.Quantity, by *retry.MemoryRaise) string {
	if by.HasDefaultCap() {
		return q.String() + ", 8 times the first limit"
	}
	return q.String()
}

// twice returns twice the limit.
func twice(limit resource.Quantity) string {
	limit.Add(limit)
	return limit.String()
}
