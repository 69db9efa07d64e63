package reconcile

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// jobView is the input of a decision, apart from the pods: the Job's spec with its defaults, the records of its stored
// status, the limits, and the time. readJob builds it, and nothing changes it.
type jobView struct {
	object *batchv1.Job
	spec   *batchv1.JobSpec
	status *batchv1.JobStatus
	cfg    Config
	now    time.Time
	// backoff is the record that the caller remembered from earlier plans.
	backoff backoff.Record

	indexed bool
	// perIndex: failures are limited, and delayed, for each index (KEP-3850).
	perIndex bool
	// completions is spec.completions; noCompletions reports whether it is nil.
	completions   int32
	noCompletions bool
	parallelism   int32
	suspended     bool
	deleting      bool
	// replaceFailedOnly is the result of replacesFailedOnly.
	replaceFailedOnly bool

	// completedIndexes and failedIndexes are the index sets of the stored status. No index is in both.
	completedIndexes, failedIndexes indexset.Set
	// uncounted maps the UIDs of status.uncountedTerminatedPods to their result.
	uncounted map[types.UID]result
	// stored is the outcome of the Job, if its status has the interim condition.
	stored outcome
}

type result uint8

const (
	resultSucceeded result = iota + 1
	resultFailed
)

// readJob reads everything but the pods, and returns its problems as Findings.
func readJob(o *Observation, c Config) (*jobView, Findings) {
	spec, status := &o.Job.Spec, &o.Job.Status
	job := &jobView{
		object: o.Job, spec: spec, status: status,
		cfg: c, now: o.Now, backoff: o.Backoff,
		indexed:           jobspec.IsIndexed(spec),
		noCompletions:     spec.Completions == nil,
		completions:       ptr.Deref(spec.Completions, 0),
		parallelism:       jobspec.Parallelism(spec),
		suspended:         jobspec.IsSuspended(spec),
		deleting:          o.Job.DeletionTimestamp != nil,
		replaceFailedOnly: replacesFailedOnly(spec, c.Features),
		uncounted:         uncountedOf(status),
		stored:            storedOutcome(o.Job),
	}
	job.perIndex = job.indexed && c.Features.BackoffLimitPerIndex && spec.BackoffLimitPerIndex != nil

	// Index lists: fragments that cannot be read, and indexes out of range, are skipped (JOB-09, BLI-11).
	var f Findings
	stored := func(text string) indexset.Set {
		set, skipped := indexset.ParseTolerant(text, job.completions)
		f.DamagedIndexes += int32(skipped)
		return set
	}
	if job.indexed {
		job.completedIndexes = stored(status.CompletedIndexes)
		leftOut, err := leftOutIndexes(o.Job, job.completions)
		if err != nil {
			f.BadRetryIndexes = err.Error()
		}
		job.completedIndexes = job.completedIndexes.Union(leftOut)
	}
	if job.perIndex {
		job.failedIndexes = stored(ptr.Deref(status.FailedIndexes, "")).Difference(job.completedIndexes)
	}
	f.CompletedIndexes, f.FailedIndexes = job.completedIndexes, job.failedIndexes

	if c.Features.RuleNames {
		f.RuleNames, f.Violations = RuleNames(o.Job, o.RuleNames)
	}
	f.RestartsNotPerIndex = job.perIndex && spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
	return job, f
}

// HasFailed reports whether a pod counts as failed by its phase or, if the Job replaces terminating pods, by its
// deletion (PRP-02).
func HasFailed(spec *batchv1.JobSpec, f Features, p *Pod) bool {
	return p.Phase == corev1.PodFailed || p.IsTerminating() && !replacesFailedOnly(spec, f)
}

// replacesFailedOnly reports whether a terminating pod counts as failed and is replaced only once its phase is terminal
// (KEP-3939, PRP-02).
func replacesFailedOnly(spec *batchv1.JobSpec, f Features) bool {
	return spec.PodFailurePolicy != nil || f.PodReplacementPolicy && jobspec.PodReplacementPolicy(spec) == batchv1.Failed
}

func uncountedOf(status *batchv1.JobStatus) map[types.UID]result {
	out := map[types.UID]result{}
	if u := status.UncountedTerminatedPods; u != nil {
		for _, uid := range u.Succeeded {
			out[uid] = resultSucceeded
		}
		// A UID in both lists stays failed, the first record of the pod (TRK-16).
		for _, uid := range u.Failed {
			out[uid] = resultFailed
		}
	}
	return out
}

// count returns the number of pods with a result that the stored status has recorded but not yet counted.
func (j *jobView) count(want result) (n int32) {
	for _, r := range j.uncounted {
		if r == want {
			n++
		}
	}
	return n
}

func (j *jobView) knownMode() bool {
	mode := jobspec.CompletionMode(j.spec)
	return mode == batchv1.NonIndexedCompletion || mode == batchv1.IndexedCompletion
}

// inRange reports whether the pod can count for the Job: in an Indexed Job, it needs an index below completions.
func (j *jobView) inRange(p *Pod) bool {
	return !j.indexed || p.Index >= 0 && p.Index < j.completions
}

// hasSuccessPolicy reports whether the Job has a successPolicy that applies.
func (j *jobView) hasSuccessPolicy() bool {
	return j.cfg.Features.SuccessPolicy && j.spec.SuccessPolicy != nil && j.indexed
}

// wait returns how long to wait for a time in the future.
func (j *jobView) wait(until time.Time) time.Duration { return max(until.Sub(j.now), j.cfg.MinRequeue) }

// FinishedCondition returns the type of the Job's terminal condition, or "" if the Job has not finished.
func FinishedCondition(job *batchv1.Job) batchv1.JobConditionType {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if TrueCondition(job, t) != nil {
			return t
		}
	}
	return ""
}

// Outcome is how a Job ends, as far as its conditions have decided it. Verbs that wait add how a Job was lost.
type Outcome string

// The outcomes by the Job's conditions.
const (
	OutcomeOpen       Outcome = "Open"       // nothing is decided
	OutcomeFailing    Outcome = "Failing"    // FailureTarget: the Job will fail, and waits for its pods to end
	OutcomeSucceeding Outcome = "Succeeding" // SuccessCriteriaMet: the Job will be complete, and waits for its pods to end
	OutcomeFailed     Outcome = "Failed"
	OutcomeComplete   Outcome = "Complete"
)

// Fails reports whether the Job has failed or will.
func (o Outcome) Fails() bool { return o == OutcomeFailing || o == OutcomeFailed }

// Succeeds reports whether the Job is complete or will be.
func (o Outcome) Succeeds() bool { return o == OutcomeSucceeding || o == OutcomeComplete }

// IsFinished reports whether the Job has a terminal condition.
func (o Outcome) IsFinished() bool { return o == OutcomeFailed || o == OutcomeComplete }

// IsFinished reports whether the Job has a terminal condition.
func IsFinished(job *batchv1.Job) bool { return FinishedCondition(job) != "" }

// TrueCondition returns the condition of the type if its status is True: a condition
// set to False means nothing (SUC-13).
func TrueCondition(job *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if c := &job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
