package explain

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// analysis is what the parts of a report are made from.
type analysis struct {
	*Facts
	o    Options
	job  *batchv1.Job
	spec *batchv1.JobSpec
	// plan is what the decision core would write next; without pods it has no meaning, and
	// is empty.
	plan reconcile.Plan
	// names are those of the rules of the podFailurePolicy, violations what is wrong with
	// the annotation.
	names      rulename.Names
	violations []rulename.Violation
	fate       fate
	// failures are the pods that failed, or that count as failed, the latest first.
	failures []failure
	// r is the report as far as it is made.
	r *Report
}

// failure is a pod that failed.
type failure struct {
	pod   *Pod
	match *failurepolicy.Match // nil if the podFailurePolicy was not asked
	cause cause.Cause
	// consequence says that the pod was stopped because the Job was ending.
	consequence bool
}

// analyse sorts pods and events, so that the order in which they were read has no
// influence.
func analyse(f *Facts, o Options) *analysis {
	sorted := *f
	sorted.Pods, sorted.Events = slices.Clone(f.Pods), slices.Clone(f.Events)
	slices.SortFunc(sorted.Pods, func(x, y Pod) int { return cmp.Or(cmp.Compare(x.Index, y.Index), cmp.Compare(x.Name, y.Name)) })
	slices.SortFunc(sorted.Events, func(x, y Event) int {
		return cmp.Or(x.Last.Compare(y.Last), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message))
	})
	a := &analysis{Facts: &sorted, o: o, job: f.Job, spec: &f.Job.Spec}
	a.names, a.violations = namesOf(a.job, f.RuleNames)
	if a.fate = fateOf(a.job); a.fate.byRule() {
		a.fate.decodeRule(a.job, a.names)
	}
	if f.PodsRead {
		a.compute()
	}
	a.findFailures()
	return a
}

func (a *analysis) compute() {
	pods := make([]*reconcile.Pod, len(a.Pods))
	for i := range a.Pods {
		pods[i] = &a.Pods[i].Pod
	}
	a.plan = reconcile.Compute(reconcile.Observation{Job: a.job, Pods: pods, RuleNames: a.RuleNames, Now: a.Now}, reconcile.DefaultConfig())
}

// findings are those of one kind.
func (a *analysis) findings(kind reconcile.FindingKind) []reconcile.Finding {
	var found []reconcile.Finding
	for i := range a.plan.Findings {
		if a.plan.Findings[i].Kind == kind {
			found = append(found, a.plan.Findings[i])
		}
	}
	return found
}

// finding is the first of a kind, or nil.
func (a *analysis) finding(kind reconcile.FindingKind) *reconcile.Finding {
	i := slices.IndexFunc(a.plan.Findings, func(f reconcile.Finding) bool { return f.Kind == kind })
	if i < 0 {
		return nil
	}
	return &a.plan.Findings[i]
}

// findFailures collects the pods in phase Failed, and those that the accounting takes for
// failed though they only terminate (podReplacementPolicy TerminatingOrFailed).
func (a *analysis) findFailures() {
	recorded := map[types.UID]bool{}
	for _, f := range a.findings(reconcile.FindingRecorded) {
		recorded[f.PodUID] = f.Reason == reconcile.ReasonFailed
	}
	if u := a.job.Status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Failed {
			recorded[uid] = true
		}
	}
	for i := range a.Pods {
		p := &a.Pods[i]
		if !a.inFocus(p) || p.Phase != corev1.PodFailed && (p.IsTerminal() || !recorded[p.UID]) {
			continue
		}
		f := failure{pod: p, match: a.match(p)}
		f.cause = cause.Of(p.atItsEnd(), f.match)
		f.consequence = a.isConsequence(p)
		a.failures = append(a.failures, f)
	}
	a.questionConsequences()
	slices.SortStableFunc(a.failures, func(x, y failure) int {
		return cmp.Or(y.pod.FinishedAt.Compare(x.pod.FinishedAt), cmp.Compare(x.pod.Index, y.pod.Index), cmp.Compare(x.pod.Name, y.pod.Name))
	})
}

// match asks the podFailurePolicy about a failed pod, as the controllers do (PFP-01).
func (a *analysis) match(p *Pod) *failurepolicy.Match {
	if a.spec.PodFailurePolicy == nil || p.Phase != corev1.PodFailed {
		return nil
	}
	m := failurepolicy.Evaluate(a.spec.PodFailurePolicy, failurepolicy.Pod{Containers: p.Terminated, Conditions: p.Conditions}, a.perIndex())
	return &m
}

// isConsequence says that the pod ended because it was deleted, when the end of the Job
// was decided already.
func (a *analysis) isConsequence(p *Pod) bool {
	return a.fate.decided() && p.Deleting && !p.DeletedAt.Before(a.fate.since) && !p.endedBeforeDeletion()
}

// questionConsequences looks for what led over the backoffLimit: where other failures do
// not, the deletions of that very second did, and are no consequence.
func (a *analysis) questionConsequences() {
	if a.decidedWithoutDeletions() {
		return
	}
	for i := range a.failures {
		if f := &a.failures[i]; f.pod.DeletedAt.Equal(a.fate.since) {
			f.consequence = false
		}
	}
}

// decidedWithoutDeletions says that the end of the Job needs no deletion to explain it.
func (a *analysis) decidedWithoutDeletions() bool {
	return a.fate.reason != batchv1.JobReasonBackoffLimitExceeded || a.ownFailures() > deref(a.spec.BackoffLimit, 6)
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

// endedBeforeDeletion says that the deletion found the pod ended already: the API server
// gives such a pod no grace period. The kubelet's own last deletion has none either, so
// one that ended by a signal in that second ended of the deletion.
func (p *Pod) endedBeforeDeletion() bool {
	if !p.Deleting || !p.IsTerminal() || p.FinishedAt.Before(p.DeletedAt) {
		return p.Deleting && p.IsTerminal()
	}
	signalled := slices.ContainsFunc(p.Terminated, func(c failurepolicy.Container) bool { return c.ExitCode == 137 || c.ExitCode == 143 })
	return p.Grace == 0 && !signalled
}

// atItsEnd is the pod as it was when it ended: a deletion that came later is no part of
// the cause.
func (p *Pod) atItsEnd() *reconcile.Pod {
	if !p.endedBeforeDeletion() {
		return &p.Pod
	}
	before := p.Pod
	before.Deleting = false
	return &before
}

// inFocus says that the report is about the pod.
func (a *analysis) inFocus(p *Pod) bool {
	return (a.o.Pod == "" || a.o.Pod == p.Name) && (a.o.Index == nil || *a.o.Index == p.Index)
}

func (a *analysis) indexed() bool { return isIndexed(a.spec) }

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

func (a *analysis) perIndex() bool { return a.indexed() && a.spec.BackoffLimitPerIndex != nil }

func (a *analysis) finished() bool { return reconcile.IsFinished(a.job) }

// container is the one that tells why the pod failed, or nil.
func (f *failure) container() *Container {
	if f.consequence {
		// What was stopped says nothing; why it was started again may.
		i := slices.IndexFunc(f.pod.Containers, func(c Container) bool { return c.Before && c.ExitCode != 0 })
		if i >= 0 {
			return &f.pod.Containers[i]
		}
	}
	if f.cause.Container != "" {
		return f.pod.endOf(f.cause.Container, f.cause.ExitCode)
	}
	i := slices.IndexFunc(f.pod.Containers, func(c Container) bool { return c.Ended })
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

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
