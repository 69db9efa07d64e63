package reconcile

import (
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Reasons and messages that the built-in controller writes and the API names
// only in part.
const (
	messageBackoffLimit = "Job has reached the specified backoff limit"
	messageDeadline     = "Job was active longer than specified deadline"
	messageCompletions  = "Reached expected number of succeeded pods"
)

// fate is what is known of the end of a Job, before its terminal condition.
type fate struct {
	// condition is JobFailureTarget or JobSuccessCriteriaMet; empty while undecided.
	condition batchv1.JobConditionType
	reason    string
	message   string
	// stored says that the interim condition is in the observed status.
	stored bool
	// fleeting says that the evidence is gone once the pods are: it has to be
	// stored first.
	fleeting bool
}

func (f fate) decided() bool    { return f.condition != "" }
func (f fate) failing() bool    { return f.condition == batchv1.JobFailureTarget }
func (f fate) succeeding() bool { return f.condition == batchv1.JobSuccessCriteriaMet }

// decideFailure takes over a stored fate, which never changes (KEP-3998), or
// looks for a reason to fail, in the order of JOB-01.
func (s *state) decideFailure() {
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := trueCondition(s.job, t); c != nil {
			s.setFate(fate{condition: t, reason: c.Reason, message: c.Message, stored: true})
			return
		}
	}
	if s.deleting {
		return
	}
	switch {
	case s.pastBackoffLimit():
		s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonBackoffLimitExceeded, message: messageBackoffLimit,
			fleeting: s.failures() <= s.backoffLimit()})
	case s.pastDeadline():
		s.setFate(fate{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonDeadlineExceeded, message: messageDeadline})
	}
}

func (s *state) setFate(f fate) {
	s.fate = f
	finding := about(FindingFate)
	finding.Reason, finding.Message = f.reason, f.message
	s.find(finding)
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

func (s *state) backoffLimit() int32 { return deref(s.job.Spec.BackoffLimit, 6) }

// pastBackoffLimit is JOB-15, and JOB-16 for restartPolicy OnFailure.
func (s *state) pastBackoffLimit() bool {
	limit := s.backoffLimit()
	f := about(FindingBackoffLimit)
	f.Count, f.Limit = s.failures(), limit
	past := f.Count > limit
	if !past && s.job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		restarts := s.restarts()
		past = restarts > 0 && restarts >= limit
		f.Count, f.Message = f.Count+restarts, "container restarts included"
	}
	if f.Count > 0 {
		s.find(f)
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
	if start != nil && trueCondition(s.job, batchv1.JobSuspended) == nil {
		begin = start.Time
	}
	f := about(FindingDeadline)
	// The API sets no upper bound; beyond 292 years a Duration would overflow.
	f.Until = begin.Add(time.Duration(min(*seconds, int64(math.MaxInt64/time.Second))) * time.Second)
	s.find(f)
	if !s.Now.Before(f.Until) {
		return true
	}
	s.requeue(f.Until.Sub(s.Now))
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

// decideSuccess is the end by spec.completions (JOB-02, JOB-03, JOB-05): enough
// succeeded, and nothing is active, after what this plan changes.
func (s *state) decideSuccess() {
	if s.fate.decided() || s.deleting || len(s.active)+len(s.untracked)+len(s.plan.Create) > 0 {
		return
	}
	succeeded := s.succeededCount()
	enough := succeeded >= s.completions
	if s.noCompletions {
		enough = succeeded > 0
	}
	if enough {
		s.setFate(fate{condition: batchv1.JobSuccessCriteriaMet, reason: batchv1.JobReasonCompletionsReached, message: messageCompletions})
	}
}

// endPods deletes what still runs once the fate is decided, with the finalizer
// on. In a Job that fails, everything that has not finished counts as failed,
// whatever the podReplacementPolicy (PRP-16).
func (s *state) endPods() {
	if !s.fate.decided() || s.deleting || s.fate.succeeding() && !s.fate.stored {
		// A pod deleted before SuccessCriteriaMet is stored could be taken for a
		// failure (SUC-14); one deleted with FailureTarget is one.
		return
	}
	if s.fate.fleeting && !s.fate.stored {
		return
	}
	for _, p := range slices.Concat(s.active, s.untracked) {
		s.delete(p)
	}
	if !s.fate.failing() {
		return
	}
	s.failRemaining()
}

// failRemaining counts every tracked pod as failed that is not counted yet.
func (s *state) failRemaining() {
	known := map[types.UID]bool{}
	for _, p := range s.failed {
		known[p.UID] = true
	}
	for uid := range s.uncounted {
		known[uid] = true
	}
	for _, p := range slices.Concat(s.active, s.terminating) {
		if p.Finalizer && !known[p.UID] && s.inRange(p) {
			s.failed = append(s.failed, p)
		}
	}
}

// inRange says that the pod can count for the Job: in an Indexed Job it needs an
// index below completions.
func (s *state) inRange(p *Pod) bool {
	return !s.indexed || p.Index >= 0 && p.Index < s.completions
}
