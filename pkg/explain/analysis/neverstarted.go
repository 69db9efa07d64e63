package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// haveLogs says that some of the failed pods may have a log.
func (a *analysis) haveLogs() bool {
	return len(a.failures) == 0 || slices.ContainsFunc(a.failures, func(f failure) bool {
		c := f.container()
		return c == nil || !c.NeverStarted()
	})
}

// startRemedy is what the runtime's message asks for, if it could not start the container.
func (a *analysis) startRemedy(c *explain.Container) string {
	said := strings.ToLower(c.Message)
	of := func(fragments ...string) bool {
		for _, f := range fragments {
			if !strings.Contains(said, f) {
				return false
			}
		}
		return true
	}
	switch {
	case of("executable file", "not found"), of(`exec: "`, "no such file or directory"):
		return a.remedyOfCode(c, 127)
	case of(`exec: "`, "permission denied"), of("exec format error"):
		return a.remedyOfCode(c, 126)
	}
	return fmt.Sprintf("correct what the container runtime says is wrong with container %s; it never started, so it has no log", c.Name)
}
