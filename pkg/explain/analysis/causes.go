package analysis

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/jobgroup"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// maxExamples is how many pods stand for a cause.
const maxExamples = 3

// causeGroup is the failures of one cause, the latest first.
type causeGroup struct {
	cause       cause.Cause
	kind        *causeKind
	consequence bool
	failures    []*failure
}

// groups are the failures by cause, the most frequent first, and those that followed from
// the end of the Job last.
func (a *analysis) groups() []*causeGroup {
	if a.byCause == nil {
		all := make([]*failure, len(a.failures))
		for i := range a.failures {
			all[i] = &a.failures[i]
		}
		a.byCause = group(all)
	}
	return a.byCause
}

func group(failures []*failure) []*causeGroup {
	type key struct {
		kind        *causeKind
		consequence bool
	}
	byKey := map[key]*causeGroup{}
	var all []*causeGroup
	for _, f := range failures {
		k := key{f.kind, f.consequence}
		g := byKey[k]
		if g == nil {
			g = &causeGroup{cause: f.cause, kind: f.kind, consequence: f.consequence}
			byKey[k] = g
			all = append(all, g)
		}
		g.failures = append(g.failures, f)
	}
	slices.SortStableFunc(all, func(x, y *causeGroup) int {
		return cmp.Or(compareBool(x.consequence, y.consequence), cmp.Compare(len(y.failures), len(x.failures)), cmp.Compare(x.kind.text, y.kind.text))
	})
	return all
}

// decisive are the failures that failed the Job, if its reason distinguishes them from others:
// the last ones of indexes that have failed.
func (a *analysis) decisive() []*failure {
	if a.outcome.reason != batchv1.JobReasonFailedIndexes && a.outcome.reason != batchv1.JobReasonMaxFailedIndexesExceeded {
		return nil
	}
	_, lost := a.endedIndexes()
	seen := map[int32]bool{}
	var out []*failure
	for i := range a.failures { // The latest first.
		if f := &a.failures[i]; !f.consequence && lost.Contains(f.pod.Index) && !seen[f.pod.Index] {
			seen[f.pod.Index] = true
			out = append(out, f)
		}
	}
	return out
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// causesOfFailures are the failures by cause, and how many failures are counted that none of them
// holds.
func (a *analysis) causesOfFailures() (causes []explain.Cause, untold int32) {
	places := map[cause.Cause]seenCause{}
	for _, g := range a.groups() {
		seen, again := places[g.cause]
		if !again {
			seen.at = len(causes)
		}
		seen.pods += a.toldOf(g)
		places[g.cause] = seen
		causes = append(causes, a.causeOf(g))
	}
	if a.focused() {
		return causes, 0
	}
	untold = a.job.Status.Failed + int32(a.uncountedFailed())
	for _, g := range a.groups() {
		if !g.ignored() {
			untold -= a.toldOf(g)
		}
	}
	causes, untold = a.addEvents(causes, places, untold)
	causes, untold = a.addStopped(causes, untold)
	if a.outcome.culprit.pod != "" && !slices.ContainsFunc(causes, func(c explain.Cause) bool { return c.Stopped == "" }) {
		causes = append(causes, a.culpritCause())
		untold--
	}
	return causes, max(untold, 0)
}

// toldOf is how many pods of a cause the controller counts, and reports in events: all
// that are ignored, and else those that are recorded at least. A failed pod of an index
// waits for that until the next pod exists (KEP-3850).
func (a *analysis) toldOf(g *causeGroup) int32 {
	if g.ignored() {
		return int32(len(g.failures))
	}
	n := int32(0)
	for _, f := range g.failures {
		if !a.notRecorded(f.pod) {
			n++
		}
	}
	return n
}

// ignored reports whether the failures do not count.
func (g *causeGroup) ignored() bool {
	return g.cause.Action == batchv1.PodFailurePolicyActionIgnore
}

func (a *analysis) focused() bool { return a.o.Pod != "" || a.o.Index != nil }

func (a *analysis) causeOf(g *causeGroup) explain.Cause {
	latest := g.failures[0]
	c := causeValue(&g.cause, latest.pod.Disruption)
	c.Source, c.Count, c.Consequence, c.Stopped = explain.SourcePods, int32(len(g.failures)), g.consequence, a.stopReasonOfAll(g.failures)
	var indexes []int32
	for i, f := range g.failures {
		if i < maxExamples {
			c.Pods = append(c.Pods, f.pod.Name)
		}
		if f.pod.Index >= 0 {
			indexes = append(indexes, f.pod.Index)
		}
		if c.Message == "" {
			c.Message = f.message()
		}
	}
	c.Indexes = indexset.Of(indexes...).String()
	c.First, c.Last = explain.TimeOf(g.failures[len(g.failures)-1].pod.FinishedAt), explain.TimeOf(latest.pod.FinishedAt)
	return c
}

// causeValue is what is known of a cause itself; disruption is the reason of the pod's
// condition DisruptionTarget, "" if nobody knows.
func causeValue(of *cause.Cause, disruption string) explain.Cause {
	failure := of.Failure
	c := explain.Cause{
		Failure: &failure, Text: failure.Text(), Container: failure.Container, Reason: failure.Reason,
		Condition: string(failure.Condition), Action: string(of.Action),
	}
	if c.Container != "" && c.Condition == "" {
		c.Meaning = cause.Meaning(failure.ExitCode, failure.Reason)
	} else {
		podReason := cmp.Or(disruption, failure.PodReason)
		c.Reason, c.Meaning = cmp.Or(failure.Reason, podReason), podMeaning(podReason)
	}
	if c.Container != "" {
		c.ExitCode, c.Signal = ptr.To(failure.ExitCode), cause.Signal(failure.ExitCode)
	}
	if of.Rule != failurepolicy.NoRule {
		c.Rule, c.RuleName = ptr.To(of.Rule), of.RuleName
	}
	return c
}

// podMeaning says what the reason of a disruption, or of the failure of a whole pod, means.
func podMeaning(reason string) string {
	switch reason {
	case "EvictionByEvictionAPI":
		return "the pod was evicted, as by kubectl drain"
	case preempted:
		return "the scheduler preempted it for a pod with a higher priority"
	case "DeletionByTaintManager":
		return "its node has a taint that the pod does not tolerate"
	case "DeletionByPodGC":
		return "its node is gone"
	case "TerminationByKubelet":
		return "its node ran low on resources or shut down"
	case "Evicted":
		return "its node ran low on resources"
	case "NodeLost", "NodeShutdown", "Shutdown", "Terminated":
		return "its node is gone or shut down"
	case "DeadlineExceeded":
		return "the pod ran longer than its own activeDeadlineSeconds"
	}
	return ""
}

// eventPodFailed is the event that our controller writes for each cause; its count
// outlives the pods.
const eventPodFailed = "PodFailed"

// seenCause is where a cause is that pods tell of, and how many; those that failed before
// the end of the Job was decided come first.
type seenCause struct {
	at   int
	pods int32
}

// isIgnored reports whether the failures do not count.
func isIgnored(c *explain.Cause) bool {
	return c.Action == string(batchv1.PodFailurePolicyActionIgnore)
}

// addEvents takes the causes of pods that are gone from the controller's events: untold
// failures at most, as an event may be about a pod that exists, and that ended in another
// way after it was counted. It returns how many are untold still.
func (a *analysis) addEvents(causes []explain.Cause, places map[cause.Cause]seenCause, untold int32) ([]explain.Cause, int32) {
	for i := range a.Events {
		e := &a.Events[i]
		if e.Reason != eventPodFailed || e.Pod != "" {
			continue
		}
		c := a.eventCause(e)
		known, seen := seenCause{}, false
		if r := e.Failed; r != nil && !r.Others {
			known, seen = places[r.Cause]
		}
		if c.Count -= known.pods; !isIgnored(&c) {
			c.Count = min(c.Count, untold)
		}
		if c.Count <= 0 {
			continue
		}
		if !isIgnored(&c) {
			untold -= c.Count
		}
		if seen {
			causes[known.at].Count += c.Count
		} else {
			causes = append(causes, c)
		}
	}
	sortCauses(causes)
	return causes, untold
}

// sortCauses puts the most frequent first, and what followed from the end of the Job last.
func sortCauses(causes []explain.Cause) {
	slices.SortStableFunc(causes, func(x, y explain.Cause) int {
		return cmp.Or(compareBool(x.Consequence, y.Consequence), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
}

// eventCause is what an event says: verbatim, if that is all there is of it.
func (a *analysis) eventCause(e *explain.Event) explain.Cause {
	c := explain.Cause{Text: e.Message}
	switch r := e.Failed; {
	case r != nil && r.Others:
		c.Text = "Other causes, too many for an event each"
	case r != nil:
		c = causeValue(&r.Cause, "")
		c.Consequence = a.outcome.decided() && r.IsDeletion() && !e.First.Before(a.outcome.since) && a.decidedWithoutDeletions()
		if reason := a.stopReason(e.First); reason == explain.StoppedSuspended && r.IsDeletion() {
			c.Stopped = reason
		}
		if r.Pod != "" {
			c.Pods = []string{r.Pod}
		}
	}
	c.Source, c.Count, c.First, c.Last = explain.SourceEvents, max(e.Count, 1), explain.TimeOf(e.First), explain.TimeOf(e.Last)
	return c
}

// culpritCause is what the condition's message says about the pod that a rule matched.
func (a *analysis) culpritCause() explain.Cause {
	k := a.outcome.culprit
	c := causeValue(&cause.Cause{
		Failure: k.failure(), Rule: a.outcome.rule, RuleName: a.outcome.ruleName, Action: batchv1.PodFailurePolicyActionFailJob,
	}, "")
	c.Source, c.Count, c.Pods, c.Last = explain.SourceCondition, 1, []string{k.pod}, explain.TimeOf(a.outcome.since)
	return c
}

// failure is how the pod failed.
func (k culprit) failure() cause.Failure {
	return cause.Failure{Exit: cause.Exit{Container: k.container, ExitCode: k.exitCode}, Condition: corev1.PodConditionType(k.condition)}
}

// List is the report on several Jobs, with their failures grouped together.
func List(reports []explain.Report) explain.ReportList {
	list := explain.ReportList{TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.KindList}, Items: reports}
	type key struct {
		failure            cause.Failure
		text, action, rule string
		index              int32
		consequence        bool
		stopped            explain.StopReason
	}
	at := map[key]int{}
	names := jobNames(reports)
	for i := range reports {
		for _, c := range reports[i].Causes {
			k := key{ptr.Deref(c.Failure, cause.Failure{}), c.Text, c.Action, c.RuleName, ptr.Deref(c.Rule, failurepolicy.NoRule), c.Consequence, c.Stopped}
			if c.RuleName != "" {
				k.index = failurepolicy.NoRule // The name is enough, wherever the rule stands.
			}
			n, seen := at[k]
			if !seen {
				n = len(list.Causes)
				at[k] = n
				c.Pods, c.Jobs = slices.Clone(c.Pods), []string{names[i]}
				c.Indexes = "" // of which Job?
				list.Causes = append(list.Causes, c)
				continue
			}
			mergeCauses(&list.Causes[n], c, names[i])
		}
	}
	sortCauses(list.Causes)
	list.Groups = jobgroup.Of(reports, names)
	return list
}

// jobNames are those of the Jobs, with the namespace if there are several.
func jobNames(reports []explain.Report) []string {
	names := make([]string, len(reports))
	several := false
	for i := range reports {
		several = several || reports[i].Job.Namespace != reports[0].Job.Namespace
	}
	for i := range reports {
		if names[i] = reports[i].Job.Name; several {
			names[i] = reports[i].Job.Namespace + "/" + names[i]
		}
	}
	return names
}

func mergeCauses(c *explain.Cause, d explain.Cause, job string) {
	c.Count += d.Count
	c.Jobs = append(c.Jobs, job)
	c.Message = cmp.Or(c.Message, d.Message)
	if room := maxExamples - len(c.Pods); room > 0 {
		c.Pods = append(c.Pods, d.Pods[:min(room, len(d.Pods))]...)
	}
	if d.First != nil && (c.First == nil || d.First.Before(c.First)) {
		c.First = d.First
	}
	if d.Last != nil && (c.Last == nil || c.Last.Before(d.Last)) {
		c.Last = d.Last
	}
}
