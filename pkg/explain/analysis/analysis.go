package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// analysis is what the parts of a report are made from.
type analysis struct {
	*explain.Input
	// pods are those of the Input by index and name: what is reported about them follows this order.
	pods []*explain.Pod
	podLists
	o    explain.Options
	job  *batchv1.Job
	spec *batchv1.JobSpec
	// plan is what the decision core would write next. If the pods could not be read, it has
	// no operations, and what the core finds is about the Job alone.
	plan reconcile.Plan
	// names are those of the rules of the podFailurePolicy; matches its verdicts by pod.
	names   rulename.Names
	matches map[types.UID]*failurepolicy.Match
	outcome outcome
	// failures are the pods that failed, or that count as failed, the latest first.
	failures []failure
	// byCause are the failures by cause, see groups; made when first asked for.
	byCause []*causeGroup
	// late are the pods that a controller should have recorded by now, see overdue.
	late *latePods
	// uncounted are the pods that the status records and does not count yet.
	uncounted map[types.UID]corev1.PodPhase
	// warnings are the latest by pod, see lastWarning.
	warnings map[string]*explain.Event
}

// failure is a pod that failed.
type failure struct {
	pod   *explain.Pod
	match *failurepolicy.Match // nil if the podFailurePolicy was not asked
	cause cause.Cause
	// kind is shared by all failures of the cause.
	kind *causeKind
	// consequence reports whether the pod was stopped because the Job was ending.
	consequence bool
}

// analyse sorts pods and events, so that the order in which they were read has no
// influence.
func analyse(f *explain.Input, o explain.Options) *analysis {
	sorted := *f
	sorted.Pods, sorted.Events = nil, slices.Clone(f.Events)
	slices.SortFunc(sorted.Events, func(x, y explain.Event) int {
		return cmp.Or(x.Last.Compare(y.Last), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message))
	})
	a := &analysis{Input: &sorted, pods: sortedPods(f.Pods), o: o, job: f.Job, spec: &f.Job.Spec, uncounted: uncountedPods(f.Job), outcome: outcomeOf(f.Job)}
	a.undoLastDeletions()
	a.podLists = podsByState(a.pods)
	a.compute()
	if a.outcome.byRule() {
		a.outcome.decodeRule(a.job, a.names)
	}
	a.findFailures()
	return a
}

// sortedPods are the pods by index and name; the pods themselves belong to the caller.
func sortedPods(pods []*explain.Pod) []*explain.Pod {
	keys := make([]uint64, len(pods))
	for i := range pods {
		keys[i] = sortKey(pods[i].Index, i)
	}
	slices.Sort(keys)
	sorted := make([]*explain.Pod, len(pods))
	for i, key := range keys {
		sorted[i] = pods[placeOf(key)]
	}
	for i := 0; i < len(sorted); {
		end := i + 1
		for end < len(sorted) && sorted[end].Index == sorted[i].Index {
			end++
		}
		if end > i+1 {
			slices.SortFunc(sorted[i:end], func(x, y *explain.Pod) int { return cmp.Compare(x.Name, y.Name) })
		}
		i = end
	}
	return sorted
}

// sortKey orders places in a list by an index. Ten thousand numbers are sorted in a
// fraction of the time that as many structs take.
func sortKey(index int32, place int) uint64 {
	return uint64(int64(index)-math.MinInt32)<<32 | uint64(uint32(place))
}

// placeOf is the place in a sortKey.
func placeOf(key uint64) int { return int(uint32(key)) }

// narrowed is the same analysis with a narrower focus: what is known of the Job as a whole
// stays.
func (a *analysis) narrowed(o explain.Options) *analysis {
	b := *a
	b.o, b.failures, b.byCause = o, nil, nil
	b.findFailures()
	return &b
}

// podLists has the pods by what they are, in the order of pods: most questions are about few
// of them, and going through all takes its time where there are many.
type podLists struct {
	active, terminating, terminal []*explain.Pod
	// phaseFailed and tracked are how many are in phase Failed, and have the finalizer.
	phaseFailed, tracked int32
}

func podsByState(pods []*explain.Pod) podLists {
	r := podLists{active: make([]*explain.Pod, 0, len(pods))}
	for _, p := range pods {
		switch {
		case p.IsActive():
			r.active = append(r.active, p)
		case p.IsTerminating():
			r.terminating = append(r.terminating, p)
		default:
			r.terminal = append(r.terminal, p)
		}
		if p.Phase == corev1.PodFailed {
			r.phaseFailed++
		}
		if p.Finalizer {
			r.tracked++
		}
	}
	return r
}

func (a *analysis) compute() {
	pods := make([]*reconcile.Pod, len(a.pods))
	for i := range a.pods {
		pods[i] = &a.pods[i].Pod
	}
	config := reconcile.DefaultConfig()
	config.SchedulingDone = a.schedulingDone()
	a.plan = reconcile.Review(reconcile.Observation{Job: a.job, Pods: pods, PodsUnknown: !a.PodsRead, RuleNames: a.RuleNames, Now: a.Now}, config)
	a.names = a.plan.Findings.RuleNames
	a.matches = make(map[types.UID]*failurepolicy.Match, len(a.plan.Findings.Verdicts))
	for _, v := range a.plan.Findings.Verdicts {
		a.matches[v.Pod.UID] = v.Match
	}
}

// findFailures collects the pods in phase Failed, and those that the accounting takes for
// failed though they only terminate (podReplacementPolicy TerminatingOrFailed).
func (a *analysis) findFailures() {
	failed := map[types.UID]bool{}
	for _, f := range a.plan.Findings.RecordedFailed {
		failed[f.Pod.UID] = true
	}
	kinds := causeKinds{}
	a.failures = make([]failure, 0, int(a.phaseFailed)+len(a.terminating))
	for _, p := range a.pods {
		if !a.inFocus(p) || p.Phase != corev1.PodFailed && (p.IsTerminal() || !failed[p.UID] && a.uncounted[p.UID] != corev1.PodFailed) {
			continue
		}
		f := failure{pod: p, match: a.matches[p.UID]}
		f.cause = cause.Of(p.AtItsEnd(), f.match, a.names)
		f.consequence = a.isConsequence(p)
		f.kind = kinds.of(f.cause)
		a.failures = append(a.failures, f)
	}
	a.questionConsequences()
	// By time alone: the pods are in order, and the sort is stable.
	slices.SortStableFunc(a.failures, func(x, y failure) int { return y.pod.FinishedAt.Compare(x.pod.FinishedAt) })
}

// causeKind is what all failures of a cause share.
type causeKind struct {
	failure cause.Failure
	text    string
}

// causeKinds are the causes so far, the text of each made once.
type causeKinds map[cause.Cause]*causeKind

func (k causeKinds) of(c cause.Cause) *causeKind {
	known := k[c]
	if known == nil {
		known = &causeKind{c.Failure, c.Failure.Text()}
		k[c] = known
	}
	return known
}

// isConsequence reports whether the pod ended because it was deleted, or is about to be, when the
// end of the Job was decided already.
func (a *analysis) isConsequence(p *explain.Pod) bool {
	if p.IsActive() {
		return a.outcome.decided()
	}
	return a.outcome.decided() && p.Deleting && !p.DeletedAt.Before(a.outcome.since) && !p.EndedBeforeDeletion()
}

// questionConsequences looks for what led over the backoffLimit: where other failures do
// not, the deletions of that very second did, and are no consequence.
func (a *analysis) questionConsequences() {
	if a.decidedWithoutDeletions() {
		return
	}
	for i := range a.failures {
		if f := &a.failures[i]; a.outcome.since.IsZero() || f.pod.DeletedAt.Equal(a.outcome.since) {
			f.consequence = false
		}
	}
}

// decidedWithoutDeletions reports whether the end of the Job needs no deletion to explain it.
func (a *analysis) decidedWithoutDeletions() bool {
	return a.outcome.reason != batchv1.JobReasonBackoffLimitExceeded || a.ownFailures() > jobspec.BackoffLimit(a.spec) || a.restartsFailedIt()
}

// ownFailures is how many failures are no consequence of the end of the Job.
func (a *analysis) ownFailures() int32 {
	n := int32(0)
	for i := range a.failures {
		if !a.failures[i].consequence {
			n++
		}
	}
	return n
}

// inFocus reports whether the report is about the pod.
func (a *analysis) inFocus(p *explain.Pod) bool {
	return (a.o.Pod == "" || a.o.Pod == p.Name) && (a.o.Index == nil || *a.o.Index == p.Index)
}

func (a *analysis) indexed() bool { return jobspec.IsIndexed(a.spec) }

func (a *analysis) perIndex() bool { return a.indexed() && a.spec.BackoffLimitPerIndex != nil }

func (a *analysis) finished() bool { return reconcile.IsFinished(a.job) }

// container is the one that shows why the pod failed, or nil.
func (f *failure) container() *explain.Container {
	if f.consequence {
		// What was stopped says nothing; why it was started again may.
		i := slices.IndexFunc(f.pod.Containers, func(c explain.Container) bool { return c.Before && c.ExitCode != 0 })
		if i >= 0 {
			return &f.pod.Containers[i]
		}
	}
	if f.cause.Container != "" {
		return f.pod.EndOf(f.cause.Container, f.cause.ExitCode)
	}
	i := slices.IndexFunc(f.pod.Containers, func(c explain.Container) bool { return c.Ended })
	if i < 0 {
		return nil
	}
	return &f.pod.Containers[i]
}

// message is what the program, or else the kubelet, said about the failure.
func (f *failure) message() string {
	if c := f.container(); c != nil && c.Message != "" {
		return strings.TrimSpace(c.Message)
	}
	return strings.TrimSpace(cmp.Or(f.pod.Message, f.pod.DisruptionMessage))
}
