package explain

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// maxExamples is how many pods stand for a cause.
const maxExamples = 3

// causeGroup is the failures of one cause, the latest first.
type causeGroup struct {
	cause cause.Cause
	// evidence is its text.
	evidence    string
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
		kind        int
		consequence bool
	}
	byKey := map[key]*causeGroup{}
	var all []*causeGroup
	for _, f := range failures {
		k := key{f.kind, f.consequence}
		g := byKey[k]
		if g == nil {
			g = &causeGroup{cause: f.cause, evidence: f.evidence, consequence: f.consequence}
			byKey[k] = g
			all = append(all, g)
		}
		g.failures = append(g.failures, f)
	}
	slices.SortStableFunc(all, func(x, y *causeGroup) int {
		return cmp.Or(compareBool(x.consequence, y.consequence), cmp.Compare(len(y.failures), len(x.failures)), cmp.Compare(x.evidence, y.evidence))
	})
	return all
}

// decisive are the failures that failed the Job, if its reason tells them from others:
// the last ones of indexes that have failed.
func (a *analysis) decisive() []*failure {
	if a.fate.reason != batchv1.JobReasonFailedIndexes && a.fate.reason != batchv1.JobReasonMaxFailedIndexesExceeded {
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

// causes are the failures by cause, and how many failures are counted that none of them
// holds.
func (a *analysis) causes() (causes []Cause, untold int32) {
	texts := map[string]seenCause{}
	for _, g := range a.groups() {
		text := g.cause.Text(a.names)
		seen, again := texts[text]
		if !again {
			seen.at = len(causes)
		}
		seen.pods += a.toldOf(g)
		texts[text] = seen
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
	causes, untold = a.addEvents(causes, texts, untold)
	if len(causes) == 0 && a.fate.culprit.pod != "" {
		causes = append(causes, a.culpritCause())
		untold--
	}
	return causes, max(untold, 0)
}

// toldOf is how many pods of a cause the controller counts, and tells of by events: all
// that are ignored, and else those that are recorded at least. A failed pod of an index
// waits for that until the next pod is there (KEP-3850).
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

// ignored says that the failures do not count.
func (g *causeGroup) ignored() bool {
	return g.cause.Action == batchv1.PodFailurePolicyActionIgnore
}

func (a *analysis) focused() bool { return a.o.Pod != "" || a.o.Index != nil }

func (a *analysis) causeOf(g *causeGroup) Cause {
	c := Cause{
		Text: g.evidence, Source: SourcePods, Count: int32(len(g.failures)), Consequence: g.consequence,
		Container: g.cause.Container, Reason: g.cause.Reason, Condition: string(g.cause.Condition), Action: string(g.cause.Action),
	}
	latest := g.failures[0]
	if c.Container != "" && c.Condition == "" {
		c.Meaning = Meaning(g.cause.ExitCode, g.cause.Reason)
	} else {
		c.Reason = cmp.Or(g.cause.Reason, latest.pod.Disruption, g.cause.PodReason)
		c.Meaning = podMeaning(cmp.Or(latest.pod.Disruption, g.cause.PodReason))
	}
	if c.Container != "" {
		c.ExitCode, c.Signal = ptr.To(g.cause.ExitCode), Signal(g.cause.ExitCode)
	}
	if g.cause.Judged && g.cause.Rule != failurepolicy.NoRule {
		c.Rule, c.RuleName = ptr.To(g.cause.Rule), a.names.Name(g.cause.Rule)
	}
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
	c.First, c.Last = timeOf(g.failures[len(g.failures)-1].pod.FinishedAt), timeOf(latest.pod.FinishedAt)
	return c
}

// podMeaning says what the reason of a disruption, or of the failure of a whole pod, means.
func podMeaning(reason string) string {
	switch reason {
	case "EvictionByEvictionAPI":
		return "somebody evicted the pod, as kubectl drain does"
	case "PreemptionByScheduler":
		return "the scheduler made room for a pod of higher priority"
	case "DeletionByTaintManager":
		return "its node has a taint that the pod does not tolerate"
	case "DeletionByPodGC":
		return "its node is gone"
	case "TerminationByKubelet":
		return "its node was short of resources, or shut down"
	case "Evicted":
		return "its node was short of resources"
	case "NodeLost", "NodeShutdown", "Shutdown", "Terminated":
		return "its node is gone, or shut down"
	case "DeadlineExceeded":
		return "the pod ran longer than its own activeDeadlineSeconds"
	}
	return ""
}

// eventPodFailed is the event that our controller writes for each cause; its count
// outlives the pods.
const (
	eventPodFailed = "PodFailed"
	firstInPod     = ". First in pod "
)

// seenCause is where a cause is that pods tell of, and how many; those that failed before
// the end of the Job was decided come first.
type seenCause struct {
	at   int
	pods int32
}

// ignored says that the failures do not count.
func (c *Cause) ignored() bool { return c.Action == string(batchv1.PodFailurePolicyActionIgnore) }

// addEvents takes the causes of pods that are gone from the controller's events: untold
// failures at most, as an event may tell of a pod that is there, and that ended in another
// way after it was counted. It returns how many are untold still.
func (a *analysis) addEvents(causes []Cause, texts map[string]seenCause, untold int32) ([]Cause, int32) {
	for i := range a.Events {
		e := &a.Events[i]
		if e.Reason != eventPodFailed || e.Pod != "" {
			continue
		}
		text, example, _ := strings.Cut(e.Message, firstInPod)
		c := a.eventCause(e, cause.Parse(text), example)
		known, seen := texts[text]
		if c.Count -= known.pods; !c.ignored() {
			c.Count = min(c.Count, untold)
		}
		if c.Count <= 0 {
			continue
		}
		if !c.ignored() {
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
func sortCauses(causes []Cause) {
	slices.SortStableFunc(causes, func(x, y Cause) int {
		return cmp.Or(compareBool(x.Consequence, y.Consequence), cmp.Compare(y.Count, x.Count), cmp.Compare(x.Text, y.Text))
	})
}

func (a *analysis) eventCause(e *Event, told cause.Told, example string) Cause {
	c := Cause{
		Text: told.Evidence, Source: SourceEvents, Count: max(e.Count, 1), First: timeOf(e.First), Last: timeOf(e.Last),
		RuleName: told.RuleName, Action: string(told.Action),
		Consequence: a.fate.decided() && wasDeleted(told.Evidence) && !e.First.Before(a.fate.since) && a.decidedWithoutDeletions(),
	}
	if told.Rule != failurepolicy.NoRule {
		c.Rule = &told.Rule
	}
	if example != "" {
		c.Pods = []string{strings.TrimSuffix(example, ".")}
	}
	return c
}

// wasDeleted says that a cause is that somebody deleted the pod.
func wasDeleted(evidence string) bool {
	return strings.HasPrefix(evidence, "Pod was deleted") || strings.Contains(evidence, "while its pod was being deleted")
}

// culpritCause is what the condition's message tells of the pod that a rule matched.
func (a *analysis) culpritCause() Cause {
	c := Cause{Source: SourceCondition, Count: 1, Pods: []string{a.fate.culprit.pod}, Action: string(batchv1.PodFailurePolicyActionFailJob), Last: timeOf(a.fate.since)}
	k := a.fate.culprit
	c.Text = cause.Cause{Container: k.container, ExitCode: k.exitCode, Condition: corev1.PodConditionType(k.condition)}.Evidence()
	if c.Condition = k.condition; c.Condition == "" {
		c.Container, c.ExitCode, c.Signal, c.Meaning = k.container, ptr.To(k.exitCode), Signal(k.exitCode), Meaning(k.exitCode, "")
	}
	if a.fate.rule != failurepolicy.NoRule {
		c.Rule, c.RuleName = ptr.To(a.fate.rule), a.fate.ruleName
	}
	return c
}

// List is the report on several Jobs, with their failures grouped together.
func List(reports []Report) ReportList {
	list := ReportList{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: KindList}, Items: reports}
	type key struct {
		text, action, rule string
		index              int32
		consequence        bool
	}
	at := map[key]int{}
	names := jobNames(reports)
	for i := range reports {
		for _, c := range reports[i].Causes {
			k := key{c.Text, c.Action, c.RuleName, ptr.Deref(c.Rule, failurepolicy.NoRule), c.Consequence}
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
			list.Causes[n].merge(c, names[i])
		}
	}
	sortCauses(list.Causes)
	return list
}

// jobNames are those of the Jobs, with the namespace if there are several.
func jobNames(reports []Report) []string {
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

func (c *Cause) merge(d Cause, job string) {
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
