package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// metrics returns the series of these names that are not zero, one per line.
func (s *Runner) metrics(t *testing.T, d *datadriven.TestData) string {
	if s.registry == nil {
		d.Fatalf(t, "the world has no metrics: it needs metrics=true")
	}
	families, err := s.registry.Gather()
	assert.NoError(t, err)
	var lines []string
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "job_controller_")
		if !slices.ContainsFunc(d.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == name }) {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, l := range metric.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if n := metric.GetCounter().GetValue(); n != 0 {
				lines = append(lines, fmt.Sprintf("%s{%s} %g", name, strings.Join(labels, ","), n))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(append(lines, ""), "\n")
}
