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

// Reasons and messages that the built-in controller writes and the API names
// only in part.
const (
	messageBackoffLimit     = "Job has reached the specified backoff limit"
	messageDeadline         = "Job was active longer than specified deadline"
	messageCompletions      = "Reached expected number of succeeded pods"
	messageFailedIndexes    = "Job has failed indexes"
	messageMaxFailedIndexes = "Job has exceeded the specified maximal number of failed indexes"
)

// fate is what is known of the end of a Job, before its terminal condition.
type fate struct {
	// condition is JobFailureTarget or JobSuccessCriteriaMet; empty while undecided.
	condition batchv1.JobConditionType
	reason    string
	message   string
	// stored says that the interim condition is in the observed status.
	stored bool
	// direct reports whether there is none, and the terminal one follows at once.
	direct bool
}

func (f fate) decided() bool    { return f.condition != "" }
func (f fate) failing() bool    { return f.condition == batchv1.JobFailureTarget }
func (f fate) succeeding() bool { return f.condition == batchv1.JobSuccessCriteriaMet }

// takeFate takes over a stored fate, which never changes (KEP-3998, SUC-11, SUC-12).
func (s *state) takeFate() {
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := TrueCondition(s.job, t); c != nil {
			s.setFate(fate{condition: t, reason: c.Reason, message: c.Message, stored: true})
			return
		}
	}
}

// decideFate looks for a reason to end the Job, in the order of JOB-01: every reason
// to fail comes before the successPolicy (SUC-09). The first one found counts.
func (s *state) decideFate() {
	if s.fate.decided() {
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

func (s *state) setFate(f fate) {
	s.fate = f
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

// pastBackoffLimit is JOB-15, and JOB-16 for restartPolicy OnFailure.
func (s *state) pastBackoffLimit() bool {
	limit := jobspec.BackoffLimit(&s.job.Spec)
	f := &BackoffLimit{s.failures(), limit}
	s.plan.Findings.BackoffLimit = f
	past := f.Failures > limit
	if !past && s.job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		restarts := s.restarts()
		past = restarts > 0 && restarts >= limit
		f.Failures += restarts
	}
	if past {
		s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonBackoffLimitExceeded, message: messageBackoffLimit})
	}
	return past
}

// restarts sums the container restarts of the pods that run, or are about to.
func (s *state) restarts() int32 {
	n := int32(0)
	for i := range s.Pods {
		if p := s.Pods[i]; p.Phase == corev1.PodRunning || p.Phase == corev1.PodPending {
			n += p.Restarts
		}
	}
	return n
}

// pastDeadline is JOB-23: activeDeadlineSeconds runs from startTime, and not
// while the Job is suspended.
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
		s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonDeadlineExceeded, message: messageDeadline})
		return true
	}
	s.requeue(until.Sub(s.Now))
	return false
}

// succeededCount is the number of successes that decisions count with: those in
// the status, those recorded, and those to be recorded now (TRK-04, JOB-06).
func (s *state) succeededCount() int32 {
	if s.indexed {
		return int32(s.completedNow().Len())
	}
	n := s.job.Status.Succeeded + count32(s.succeeded)
	for _, r := range s.uncounted {
		if r == resultSucceeded {
			n++
		}
	}
	return n
}

// decideCompletions is the end by spec.completions (JOB-02, JOB-03, JOB-05): enough
// succeeded, and nothing is active, after what this plan changes.
func (s *state) decideCompletions() {
	if s.fate.decided() || s.moving || len(s.active)+len(s.untracked)+len(s.unreported)+len(s.plan.Create) > 0 {
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
	f := fate{condition: batchv1.JobSuccessCriteriaMet, direct: !s.cfg.Features.delaysTerminal()}
	if s.cfg.Features.SuccessPolicy {
		// Nobody gave a reason before KEP-3998.
		f.reason, f.message = batchv1.JobReasonCompletionsReached, messageCompletions
	}
	s.setFate(f)
}

// endPods ends what still runs. In a Job that fails, everything that has not finished
// counts as failed, whatever the podReplacementPolicy (PRP-16). Pods are deleted, with
// the finalizer on, only once the interim condition is stored: how a deleted pod ends
// must not be evidence for another fate, nor of a failed index (SUC-14, BLI-19).
func (s *state) endPods() {
	if !s.fate.decided() {
		return
	}
	if s.fate.failing() {
		s.failRemaining()
	}
	if s.fate.stored {
		for _, p := range slices.Concat(s.active, s.untracked) {
			s.delete(p)
		}
	}
}

// failRemaining counts every tracked pod as failed that is not counted yet, unless a rule
// ignores the failure (PRP-16).
func (s *state) failRemaining() {
	known := map[types.UID]bool{}
	for _, p := range slices.Concat(s.failed, s.ignored) {
		known[p.UID] = true
	}
	for uid := range s.uncounted {
		known[uid] = true
	}
	for _, p := range slices.Concat(s.active, s.terminating, s.unreported) {
		switch {
		case !p.Finalizer || known[p.UID] || !s.inRange(p):
		case s.ignoresRemaining(p):
			s.ignoreRemaining(p)
		default:
			s.remaining = append(s.remaining, p)
		}
	}
}

// inRange says that the pod can count for the Job: in an Indexed Job it needs an
// index below completions.
func (s *state) inRange(p *Pod) bool {
	return !s.indexed || p.Index >= 0 && p.Index < s.completions
}
