package job

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// policies shows the failure policy, the success criteria, the limits, and the pod replacement policy.
func policies(p *widget.Paint, d *screen.Data) []layout.Line {
	j := d.Job
	policy := section.FailurePolicy(&p.Frame, j.FailurePolicy, false)
	if policy.Lines == nil {
		policy.Lines = p.Wrap(layout.Of(layout.Text(layout.Muted, "No podFailurePolicy: every failure counts against the limits.")), 0)
	}
	var lines []layout.Line
	for _, s := range []section.Section{policy, section.Success(&p.Frame, j.Report, j.PodCounts), section.Limits(&p.Frame, j.Report)} {
		if s.Lines != nil {
			lines = append(append(lines, nil), p.Section(s)...)
		}
	}
	lines = append(lines, nil, p.Title("Replacement", ""))
	return append(lines, p.Wrap(layout.Plainly(replacement(j)), 0)...)
}

// replacement says when a pod is replaced (KEP-3939).
func replacement(j *screen.Job) string {
	if j.Job.PodReplacementPolicy == "Failed" {
		return "podReplacementPolicy Failed: a pod is replaced once it has ended; terminating ones hold their place."
	}
	return "podReplacementPolicy TerminatingOrFailed: a pod is replaced as soon as it is being deleted."
}
