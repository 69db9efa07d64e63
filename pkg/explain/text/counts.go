package text

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// counts are the numbers of the status, and what is behind them.
func (v *view) counts() {
	v.page.Title("Counts", v.countsLine())
	for _, note := range v.accounting() {
		v.page.Para(indentSection, indentSection+2, plain(note))
	}
}

// countsLine is "3 active (2 ready), 1 terminating, 4 of 10 succeeded, 6 failed".
func (v *view) countsLine() string {
	c := &v.report.Counts
	active := fmt.Sprintf("%d active", c.Active)
	if c.Ready != nil && c.Active > 0 {
		active = fmt.Sprintf("%d active (%d ready)", c.Active, *c.Ready)
	}
	terminating := ""
	if c.Terminating != nil && *c.Terminating > 0 {
		terminating = fmt.Sprintf("%d terminating", *c.Terminating)
	}
	succeeded := fmt.Sprintf("%d succeeded", c.Succeeded)
	if n := v.report.Job.Completions; n != nil {
		succeeded = fmt.Sprintf("%d of %d succeeded", c.Succeeded, *n)
	}
	if c.Active == 0 && !v.report.Job.Finished.IsZero() {
		active = ""
	}
	return wording.Join(", ", active, terminating, succeeded, fmt.Sprintf("%d failed", c.Failed))
}

// uncounted is "2 succeeded and 1 failed", "" for none.
func uncounted(c *explain.Counts) string {
	var parts []string
	if c.UncountedSucceeded > 0 {
		parts = append(parts, fmt.Sprintf("%d succeeded", c.UncountedSucceeded))
	}
	if c.UncountedFailed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", c.UncountedFailed))
	}
	return strings.Join(parts, " and ")
}

// accounting are sentences about pods that the counters do not show.
func (v *view) accounting() []string {
	c := &v.report.Counts
	var notes []string
	if u := uncounted(c); u != "" {
		notes = append(notes, "Recorded, not counted yet: "+u)
	}
	if c.IgnoredFailures > 0 {
		notes = append(notes, wording.Plural(int64(c.IgnoredFailures), "failure", "failures")+" ignored by the podFailurePolicy")
	}
	if c.AwaitReplacement > 0 {
		notes = append(notes, wording.Plural(int64(c.AwaitReplacement), "failed pod is", "failed pods are")+" counted only once the index has its next pod")
	}
	if c.Pods != nil && !v.brief {
		notes = append(notes, podsThere(c))
	}
	return notes
}

// podsThere is "4 pods exist: 3 failed, 2 held by the tracking finalizer".
func podsThere(c *explain.Counts) string {
	if *c.Pods == 0 {
		return "No pods exist"
	}
	failed, held := "", ""
	if c.FailedPods != nil && *c.FailedPods > 0 {
		failed = fmt.Sprintf("%d failed", *c.FailedPods)
	}
	if c.Finalizers != nil && *c.Finalizers > 0 {
		held = fmt.Sprintf("%d held by the tracking finalizer", *c.Finalizers)
	}
	return wording.Join(": ", wording.Plural(int64(*c.Pods), "pod exists", "pods exist"), wording.Join(", ", failed, held))
}

// reconciler says who runs the Job, and whether it is alive.
func (v *view) reconciler() {
	r := &v.report.Reconciler
	if v.brief || (r.Text == "" && r.ManagedBy == "") {
		return
	}
	v.page.Title("Reconciled by", controllerName(r))
	if r.Alive == explain.AlivenessUnknown && r.Manager != "" {
		v.page.Para(indentSection, indentSection+2, append(v.alive(r), layout.Text(layout.Muted, " (as "+r.Manager+")"))...)
		return
	}
	v.page.Para(indentSection, indentSection+2, v.alive(r)...)
	if r.Manager != "" {
		lastWrite := ""
		if !r.LastWrite.IsZero() {
			lastWrite = v.frame.When(r.LastWrite)
		}
		v.page.Para(indentSection, indentSection+2, layout.Text(layout.Muted, "Last status write: "+wording.Join(", ", r.Manager, lastWrite)))
	}
}

func controllerName(r *explain.Reconciler) string {
	if r.ManagedBy == "" || r.ManagedBy == "kubernetes.io/job-controller" {
		return "the built-in controller"
	}
	return r.ManagedBy
}

func (v *view) alive(r *explain.Reconciler) layout.Line {
	text := r.Text
	switch r.Alive {
	case explain.Alive:
		return layout.Of(layout.Text(layout.Good|layout.Bold, v.page.Glyphs.Good+" Alive"), plain(": "+text))
	case explain.NotAlive:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, v.page.Glyphs.Bad+" Not alive"), plain(": "+text))
	}
	return layout.Of(plain(wording.Sentence(text)))
}
