package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Compute decides what to write next for a Job, and why. See the package comment for
// what the caller must do.
func Compute(o Observation, c Config) Plan {
	s := newState(o, c)
	s.decide()
	return s.plan
}

// decide fills in the plan.
func (s *state) decide() {
	switch {
	case IsFinished(s.job):
		if TrueCondition(s.job, batchv1.JobComplete) != nil {
			s.findSurplus(s.job.Status.Succeeded)
		}
		s.releaseLeftovers()
		return
	case !s.knownMode():
		s.plan.Findings.UnknownMode = *s.job.Spec.CompletionMode
		return
	case s.plan.Findings.BadRetryIndexes != "":
		return
	}
	s.loadOutcome()
	s.claimPods()
	s.classify()
	s.applyFailurePolicy()
	s.findEndedIndexes()
	s.decideOutcome()
	s.delayFailures()
	s.releaseIgnored()
	s.managePods()
	s.decideCompletions()
	s.releaseDeleted()
	s.endPods()
	s.limitChanges()
	if len(s.plan.Release) > 0 {
		s.plan.BackoffSeen = s.backoffRecord(nil)
	}
	s.writeStatus(s.record())
}

// state is the working state of one Compute: the observation, sorted for the
// decisions, and the plan so far.
type state struct {
	Observation
	cfg  Config
	job  *batchv1.Job
	plan Plan

	indexed bool
	// perIndex: failures are limited, and delayed, for each index (KEP-3850).
	perIndex bool
	// completions is spec.completions; noCompletions reports whether it is nil.
	completions   int32
	noCompletions bool
	parallelism   int32
	suspended     bool
	deleting      bool
	// replaceFailedOnly: a terminating pod is neither failed nor replaced until
	// its phase says so (KEP-3939, PRP-02).
	replaceFailedOnly bool

	// completedIndexes and failedIndexes are those of the stored status, the new ones those
	// that ended since. The four sets are disjoint.
	completedIndexes, newCompletedIndexes indexset.Set
	failedIndexes, newFailedIndexes       indexset.Set
	// uncounted maps the UIDs of status.uncountedTerminatedPods to their result.
	uncounted map[types.UID]result
	// seen are the uncounted UIDs whose pod still holds the finalizer.
	seen map[types.UID]bool

	active      []*Pod // IsActive, and the tracking finalizer is on
	untracked   []*Pod // IsActive, without the finalizer
	terminating []*Pod // IsTerminating, with or without the finalizer
	succeeded   []*Pod // to be recorded as succeeded
	failed      []*Pod // to be recorded as failed
	remaining   []*Pod // not ended, and to be recorded as failed because the Job fails
	unreported  []*Pod // in phase Failed, but not yet reported how they ended
	ignored     []*Pod // failed, and not to be counted (action Ignore)
	outOfRange  []*Pod // ended, without an index of the Job
	tooLate     []*Pod // succeeded after their index was stored as failed
	dropped     []*Pod // deleted because the Job has succeeded
	// needsPodGroup reports whether the Job asks for a PodGroup, which nobody creates.
	needsPodGroup bool
	// claimsPending reports whether pods are yet to be adopted or disowned.
	claimsPending bool
	// matches are the verdicts of the podFailurePolicy on failed and ignored pods.
	matches map[types.UID]*failurepolicy.Match
	// predecessors are the failed pods that wait for the next pod of their index.
	predecessors map[int32]*Pod
	// attempts counts the pods of each index that failed, or are being replaced.
	attempts map[int32]int32
	// unrecorded counts the finished pods that did not fit into this status.
	unrecorded int32
	// tracked is the number of pods with the tracking finalizer.
	tracked int

	outcome outcome
	// successMet reports whether a rule of the successPolicy is met. Nothing new starts then,
	// even if the status must record failures before it can have the condition.
	successMet bool
	history    backoff.History
}

type result uint8

const (
	resultSucceeded result = iota + 1
	resultFailed
)

func newState(o Observation, c Config) *state {
	spec := &o.Job.Spec
	s := &state{
		Observation: o, cfg: c, job: o.Job,
		indexed:       jobspec.IsIndexed(spec),
		noCompletions: spec.Completions == nil,
		completions:   ptr.Deref(spec.Completions, 0),
		parallelism:   jobspec.Parallelism(spec),
		suspended:     jobspec.IsSuspended(spec),
		deleting:      o.Job.DeletionTimestamp != nil,
		replaceFailedOnly: spec.PodFailurePolicy != nil ||
			c.Features.PodReplacementPolicy && jobspec.PodReplacementPolicy(spec) == batchv1.Failed,
		seen:         map[types.UID]bool{},
		predecessors: map[int32]*Pod{},
		attempts:     map[int32]int32{},
	}
	s.perIndex = s.indexed && c.Features.BackoffLimitPerIndex && spec.BackoffLimitPerIndex != nil
	if s.indexed {
		s.completedIndexes = s.storedIndexes(o.Job.Status.CompletedIndexes)
		s.leaveOut()
	}
	if s.perIndex {
		s.failedIndexes = s.storedIndexes(ptr.Deref(o.Job.Status.FailedIndexes, "")).Difference(s.completedIndexes)
	}
	s.plan.Findings.CompletedIndexes, s.plan.Findings.FailedIndexes = s.completedIndexes, s.failedIndexes
	s.uncounted = uncountedOf(o.Job)
	if c.Features.RuleNames {
		s.plan.Findings.RuleNames, s.plan.Findings.Violations = RuleNames(o.Job, o.RuleNames)
	}
	s.plan.Findings.RestartsNotPerIndex = s.perIndex && spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	return s
}

// storedIndexes parses a list of indexes of the stored status, and skips what cannot
// be read or is out of range (JOB-09, BLI-11).
func (s *state) storedIndexes(text string) indexset.Set {
	set, skipped := indexset.ParseTolerant(text, s.completions)
	s.plan.Findings.DamagedIndexes += int32(skipped)
	return set
}

func uncountedOf(job *batchv1.Job) map[types.UID]result {
	out := map[types.UID]result{}
	if u := job.Status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Succeeded {
			out[uid] = resultSucceeded
		}
		// A UID in both lists stays failed: the first record of it (TRK-16).
		for _, uid := range u.Failed {
			out[uid] = resultFailed
		}
	}
	return out
}

func (s *state) knownMode() bool {
	mode := jobspec.CompletionMode(&s.job.Spec)
	return mode == batchv1.NonIndexedCompletion || mode == batchv1.IndexedCompletion
}

// releaseLeftovers releases the pods of a finished Job; nothing else is ever done for
// it (MGB-11).
func (s *state) releaseLeftovers() {
	for _, p := range s.Pods {
		if p.Finalizer {
			s.release(p, unconditional)
		}
	}
	s.limitChanges()
}

// limitChanges bounds a plan, so that a Job of 10^5 pods does not hold up others
// (TRK-33); the rest follows in the next stage.
func (s *state) limitChanges() {
	for _, list := range []*[]PodRef{&s.plan.Delete, &s.plan.Release, &s.plan.Adopt, &s.plan.Disown} {
		if len(*list) > s.cfg.MaxPodChanges {
			slices.SortFunc(*list, func(a, b PodRef) int { return cmp.Compare(a.UID, b.UID) })
			*list = (*list)[:s.cfg.MaxPodChanges]
		}
	}
}

// FinishedCondition is the type of the Job's terminal condition, "" for a Job that has not finished.
func FinishedCondition(job *batchv1.Job) batchv1.JobConditionType {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if TrueCondition(job, t) != nil {
			return t
		}
	}
	return ""
}

// IsFinished reports whether the Job has a terminal condition.
func IsFinished(job *batchv1.Job) bool { return FinishedCondition(job) != "" }

type precondition bool

const (
	// unconditional: what the pod does now does not matter.
	unconditional precondition = false
	// ifUnchanged: the pod may have just finished, and must keep its finalizer then
	// (TRK-36).
	ifUnchanged precondition = true
)

func (s *state) release(p *Pod, when precondition) { s.releaseRef(ref(p, when)) }

func (s *state) releaseOutOfRange(p *Pod, when precondition) {
	r := ref(p, when)
	r.OutOfRange = true
	s.releaseRef(r)
}

func (s *state) releaseRef(r PodRef) {
	if !s.Skip[r.UID] {
		s.plan.Release = append(s.plan.Release, r)
	}
}

func (s *state) delete(p *Pod) {
	if !s.Skip[p.UID] {
		s.plan.Delete = append(s.plan.Delete, ref(p, unconditional))
	}
}

func ref(p *Pod, when precondition) PodRef {
	r := PodRef{Name: p.Name, UID: p.UID}
	if when == ifUnchanged {
		r.ResourceVersion = p.ResourceVersion
	}
	return r
}

// requeue keeps the earliest wait.
func (s *state) requeue(wait time.Duration) {
	if s.plan.RequeueAfter == 0 || wait < s.plan.RequeueAfter {
		s.plan.RequeueAfter = wait
	}
}

// count32 returns the length of a list as an int32, the type of the API's counters.
func count32[T any](list []T) int32 {
	if len(list) > 1<<31-1 {
		panic(fmt.Sprintf("%d entries", len(list)))
	}
	return int32(len(list))
}
