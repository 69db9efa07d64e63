package rerun

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Raised is the memory that a retry gets; nil if it gets no more.
type Raised struct {
	by     *retry.MemoryRaise
	memory []retry.RaisedMemory
	limits []retry.OwnLimit
}

// Warnings says which programs will not use more memory.
func (r *Raised) Warnings() (lines []string) {
	if r == nil {
		return nil
	}
	for i := range r.limits {
		lines = append(lines, "warning: "+ownLimitText(&r.limits[i]))
	}
	return lines
}

// Lines says how much memory containers get.
func (r *Raised) Lines() (lines []string) {
	if r == nil {
		return nil
	}
	for i := range r.memory {
		lines = append(lines, raisedText(&r.memory[i], r.by))
	}
	return lines
}

// raisedText says how much memory a container or the pod gets.
func raisedText(r *retry.RaisedMemory, by *retry.MemoryRaise) string {
	text := fmt.Sprintf("%s gets %s of memory instead of %s", ownerText(r.Container), r.New.String(), r.Old.String())
	return wording.Sentence(text) + "; the cap is " + capText(&r.Cap, by) + "."
}

// ownLimitText warns that a program will not use more memory.
func ownLimitText(l *retry.OwnLimit) string {
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
