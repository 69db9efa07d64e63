package text

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// counts writes the counters of the status, and notes on them.
func (v *view) counts() {
	v.page.Title("Counts", v.countsLine())
	for _, note := range v.accounting() {
		v.page.Para(indentSection, indentSection+2, plain(note))
	}
}

// countsLine returns "3 active (2 ready), 1 terminating, 4 of 10 succeeded, 6 failed, 2 stopped by the Job".
func (v *view) countsLine() string {
	active := v.activePods()
	done, total := v.pods.Done(v.report)
	succeeded := wording.Count(done, "succeeded")
	if v.report.Job.Completions != nil {
		succeeded = wording.Of(done, total) + " succeeded"
	}
	if v.pods.Active == 0 && v.report.Counts.Active == 0 && !v.report.Job.Finished.IsZero() {
		active = ""
	}
	return wording.Join(", ", active, countIfAny(v.pods.Terminating, "terminating"), succeeded, v.failedPods(),
		countIfAny(v.report.Counts.StoppedFailures, "stopped by the Job"))
}

// countIfAny returns a number of pods, "" for none.
func countIfAny(n int32, what string) string {
	if n <= 0 {
		return ""
	}
	return wording.Count(n, what)
}

// activePods returns "3 active (2 ready)"; if pods have ended since the status was written, it also returns the number in the
// status.
func (v *view) activePods() string {
	status, now := v.report.Counts.Active, &v.pods
	switch {
	case now.Active < status:
		verb := "run"
		if now.Active == 1 {
			verb = "runs"
		}
		return fmt.Sprintf("status says %s active, %s of them still %s", wording.Thousands(status), wording.Thousands(now.Active), verb)
	case now.Ready >= 0 && now.Active > 0:
		return fmt.Sprintf("%s active (%s ready)", wording.Thousands(now.Active), wording.Thousands(now.Ready))
	}
	return wording.Count(now.Active, "active")
}

// failedPods returns "3 failed", or "5 failed (3 in the status)" for a full explanation.
func (v *view) failedPods() string {
	t := section.FailureTotals(v.report)
	if t.All == t.Counted || !v.page.opts.Full {
		return wording.Count(t.All, "failed")
	}
	return fmt.Sprintf("%s failed (%s in the status)", wording.Thousands(t.All), wording.Thousands(t.Counted))
}

// uncounted returns "2 succeeded and 1 failed", "" for none.
func uncounted(c *explain.Counts) string {
	return wording.Join(" and ", countIfAny(c.UncountedSucceeded, "succeeded"), countIfAny(c.UncountedFailed, "failed"))
}

// accounting returns sentences about pods that the counters do not show.
func (v *view) accounting() []string {
	c := &v.report.Counts
	var notes []string
	if u := uncounted(c); u != "" {
		notes = append(notes, "Not in the counts of the status yet: "+u)
	}
	if c.IgnoredFailures > 0 {
		notes = append(notes, wording.Plural(c.IgnoredFailures, "failure", "failures")+" ignored by the podFailurePolicy")
	}
	if c.AwaitReplacement > 0 {
		notes = append(notes, wording.Plural(c.AwaitReplacement, "failed pod is", "failed pods are")+" in the status only once the index has its next pod")
	}
	if c.Pods != nil {
		// Running pods normally have the tracking finalizer: whether a controller should have removed it by now.
		stuck := slices.ContainsFunc(v.report.Problems, func(p explain.Problem) bool {
			return p.Kind == explain.ProblemFinalizerStuck || p.Kind == explain.ProblemControllerGone && p.Count > 0
		})
		notes = append(notes, podsThere(c, stuck))
	}
	return notes
}

// podsThere returns "4 pods exist: 1 succeeded, 3 failed"; stuck adds "2 held by the tracking finalizer".
func podsThere(c *explain.Counts, stuck bool) string {
	if *c.Pods == 0 {
		return "No pods exist"
	}
	failed, stopped := countIfAny(ptr.Deref(c.FailedPods, 0)-c.StoppedPods, "failed"), countIfAny(c.StoppedPods, "stopped by the Job")
	succeeded, held := "", ""
	if failed+stopped != "" && c.ActivePods != nil && c.TerminatingPods != nil {
		succeeded = countIfAny(*c.Pods-*c.FailedPods-*c.ActivePods-*c.TerminatingPods, "succeeded")
	}
	if stuck {
		held = countIfAny(ptr.Deref(c.Finalizers, 0), "held by the tracking finalizer")
	}
	return wording.Join(": ", wording.Plural(*c.Pods, "pod exists", "pods exist"), wording.Join(", ", succeeded, failed, stopped, held))
}

// reconciler writes which controller runs the Job, and whether the controller is running.
func (v *view) reconciler() {
	r := &v.report.Reconciler
	if r.Text == "" && r.ManagedBy == "" {
		return
	}
	v.page.Title("Run by", controllerName(r))
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
		v.page.Para(indentSection, indentSection+2, layout.Text(layout.Muted, "Last update: "+wording.Join(", ", r.Manager, lastWrite)))
	}
}

func controllerName(r *explain.Reconciler) string {
	return cmp.Or(r.Name(), "the built-in controller")
}

func (v *view) alive(r *explain.Reconciler) layout.Line {
	text := r.Text
	switch r.Alive {
	case explain.Alive:
		return layout.Of(layout.Text(layout.Good|layout.Bold, v.page.Glyphs.Good+" Controller running"), plain(": "+text))
	case explain.NotAlive:
		return layout.Of(layout.Text(layout.Bad|layout.Bold, v.page.Glyphs.Bad+" Controller not running"), plain(": "+text))
	}
	return layout.Of(plain(wording.Sentence(text)))
}
