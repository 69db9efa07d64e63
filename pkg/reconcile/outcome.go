package reconcile

import (
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Messages of the built-in controller, for which the API has no constants.
const (
	messageBackoffLimit     = "Job has reached the specified backoff limit"
	messageDeadline         = "Job was active longer than specified deadline"
	messageCompletions      = "Reached expected number of succeeded pods"
	messageFailedIndexes    = "Job has failed indexes"
	messageMaxFailedIndexes = "Job has exceeded the specified maximal number of failed indexes"
)

// outcome is how a Job ends, decided before its terminal condition is written.
type outcome struct {
	// condition is JobFailureTarget or JobSuccessCriteriaMet; empty while undecided.
	condition batchv1.JobConditionType
	reason    string
	message   string
	// stored reports whether the interim condition is in the observed status.
	stored bool
	// direct reports whether the terminal condition is written without an interim one.
	direct bool
}

func (f outcome) decided() bool    { return f.condition != "" }
func (f outcome) failing() bool    { return f.condition == batchv1.JobFailureTarget }
func (f outcome) succeeding() bool { return f.condition == batchv1.JobSuccessCriteriaMet }

// loadOutcome reads the stored outcome, which never changes (KEP-3998, SUC-11, SUC-12).
func (s *state) loadOutcome() {
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := TrueCondition(s.job, t); c != nil {
			s.setOutcome(outcome{condition: t, reason: c.Reason, message: c.Message, stored: true})
			return
		}
	}
}

// decideOutcome looks for a reason to end the Job, in the order of JOB-01: every reason to
// fail comes before the successPolicy (SUC-09). The first one found wins.
func (s *state) decideOutcome() {
	if s.outcome.decided() {
		return
	}
	for _, decide := range []func() bool{
		s.failJob, s.pastBackoffLimit, s.pastDeadline, s.tooManyFailedIndexes, s.endedWithFailedIndexes, s.meetsSuccessPolicy,
	} {
		if decide() {
			return
		}
	}
}

func (s *state) setOutcome(f outcome) {
	s.outcome = f
	s.plan.Findings.Outcome = &Outcome{f.condition, f.reason, f.message}
}

// failures is the number of failed pods, counted or about to be (TRK-04).
func (s *state) failures() int32 {
	n := s.job.Status.Failed + count32(s.failed)
	for _, r := range s.uncounted {
		if r == resultFailed {
			n++
		}
	}
	return n
}

// pastBackoffLimit fails the Job by spec.backoffLimit (JOB-15; JOB-16 for restartPolicy OnFailure).
func (s *state) pastBackoffLimit() bool {
	limit := jobspec.BackoffLimit(&s.job.Spec)
	f := &BackoffLimit{Failures: s.failures(), Limit: limit}
	s.plan.Findings.BackoffLimit = f
	past := f.FailuresLeft() <= 0
	if s.job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		f.OnFailure, f.Restarts = true, s.restarts()
		past = past || f.RestartsLeft() <= 0
	}
	if past {
		s.setOutcome(outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonBackoffLimitExceeded, message: messageBackoffLimit})
	}
	return past
}

// restarts sums the container restarts of pending and running pods.
func (s *state) restarts() int32 {
	n := int32(0)
	for i := range s.Pods {
		if p := s.Pods[i]; p.Phase == corev1.PodRunning || p.Phase == corev1.PodPending {
			n += p.Restarts
		}
	}
	return n
}

// pastDeadline fails the Job by spec.activeDeadlineSeconds, which runs from
// startTime, and not while the Job is suspended (JOB-23).
func (s *state) pastDeadline() bool {
	seconds, start := s.job.Spec.ActiveDeadlineSeconds, s.job.Status.StartTime
	if seconds == nil || s.suspended {
		return false
	}
	begin := s.Now
	// A Job that is being deleted keeps the condition when it is resumed.
	if start != nil && (s.deleting || TrueCondition(s.job, batchv1.JobSuspended) == nil) {
		begin = start.Time
	}
	// The API sets no upper bound; beyond 292 years a Duration would overflow.
	until := begin.Add(time.Duration(min(*seconds, int64(math.MaxInt64/time.Second))) * time.Second)
	s.plan.Findings.Deadline = until
	if !s.Now.Before(until) {
		s.setOutcome(outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonDeadlineExceeded, message: messageDeadline})
		return true
	}
	s.requeue(until.Sub(s.Now))
	return false
}

// succeededCount is the number of successes: counted in the status, recorded, and to
// be recorded now (TRK-04, JOB-06).
func (s *state) succeededCount() int32 {
	if s.indexed {
		return int32(s.allCompletedIndexes().Len())
	}
	n := s.job.Status.Succeeded + count32(s.succeeded)
	for _, r := range s.uncounted {
		if r == resultSucceeded {
			n++
		}
	}
	return n
}

// decideCompletions completes the Job by spec.completions (JOB-02, JOB-03, JOB-05):
// enough pods succeeded, and none will be active after this plan.
func (s *state) decideCompletions() {
	if s.outcome.decided() || s.claimsPending || len(s.active)+len(s.untracked)+len(s.unreported)+len(s.plan.Create) > 0 {
		return
	}
	if s.room() < len(s.failed)+len(s.succeeded) {
		return // Not everything that ended fits into this status (TRK-06).
	}
	succeeded := s.succeededCount()
	enough := succeeded >= s.completions
	if s.noCompletions {
		enough = succeeded > 0
	}
	if !enough {
		return
	}
	f := outcome{condition: batchv1.JobSuccessCriteriaMet, direct: !s.cfg.Features.delaysTerminal()}
	if s.cfg.Features.SuccessPolicy {
		// The condition had no reason before KEP-3998.
		f.reason, f.message = batchv1.JobReasonCompletionsReached, messageCompletions
	}
	s.setOutcome(f)
}

// endPods deletes the pods that still run once the outcome is decided. In a Job that fails
// they count as failed, whatever the podReplacementPolicy (PRP-16). They are deleted with
// the finalizer on, and only once the interim condition is stored: how a deleted pod ends
// must not lead to another outcome, or fail an index (SUC-14, BLI-19).
func (s *state) endPods() {
	if !s.outcome.decided() {
		return
	}
	if s.outcome.failing() {
		s.failRemaining()
	}
	if s.outcome.stored {
		for _, p := range slices.Concat(s.active, s.untracked) {
			s.delete(p)
		}
	}
}

// failRemaining counts every tracked pod that is not counted yet as failed, unless a rule
// ignores the failure (PRP-16).
func (s *state) failRemaining() {
	known := map[types.UID]bool{}
	for _, p := range slices.Concat(s.failed, s.ignored) {
		known[p.UID] = true
	}
	for uid := range s.uncounted {
		known[uid] = true
	}
	left := slices.Concat(s.active, s.terminating, s.unreported)
	slices.SortFunc(left, compareFailures) // What the findings say of them is in one order.
	for _, p := range left {
		switch {
		case !p.Finalizer || known[p.UID] || !s.inRange(p):
		case s.ignoresRemaining(p):
			s.ignoreRemaining(p)
		default:
			s.remaining = append(s.remaining, p)
		}
	}
}

// inRange reports whether the pod can count for the Job: in an Indexed Job it needs
// an index below completions.
func (s *state) inRange(p *Pod) bool {
	return !s.indexed || p.Index >= 0 && p.Index < s.completions
}
