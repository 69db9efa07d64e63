package controller

import (
	"errors"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Reasons of events that no condition has. Those of conditions are the conditions'.
const (
	eventCompleted      = "Completed"
	eventSuspended      = "Suspended"
	eventResumed        = "Resumed"
	eventUnknownMode    = "UnknownCompletionMode"
	eventStatusRejected = "StatusRejected"
)

// event is what the controller says to a Job's user.
type event struct{ kind, reason, message string }

// eventOf is the event that a finding is the cause of. changed are the conditions that a
// stored status added or changed; an event that tells of a condition needs it among them.
func eventOf(f reconcile.Finding, changed map[batchv1.JobConditionType]bool) (event, bool) {
	condition := batchv1.JobConditionType(f.Explains)
	switch {
	case f.Kind == reconcile.FindingTooManySucceeded:
		reason, _ := strings.CutPrefix(f.Explains, reconcile.ExplainsEvent)
		return event{corev1.EventTypeWarning, reason, f.Message}, changed[batchv1.JobComplete]
	case f.Kind == reconcile.FindingFinished && condition == batchv1.JobFailed:
		return event{corev1.EventTypeWarning, f.Reason, f.Message}, changed[condition]
	case f.Kind == reconcile.FindingFinished:
		return event{corev1.EventTypeNormal, eventCompleted, "Job completed"}, changed[condition]
	case f.Kind == reconcile.FindingSuspended && condition == batchv1.JobSuspended:
		return event{corev1.EventTypeNormal, eventSuspended, f.Message}, changed[condition]
	case f.Kind == reconcile.FindingResumed:
		return event{corev1.EventTypeNormal, eventResumed, f.Message}, changed[condition]
	}
	return event{}, false
}

// standingEventOf is the event about something that is so as long as the Job is; it is
// said once.
func standingEventOf(f reconcile.Finding) (event, bool) {
	if f.Kind == reconcile.FindingUnknownMode {
		return event{corev1.EventTypeWarning, eventUnknownMode, "Skipped Job sync because completion mode is unknown: " + f.Message}, true
	}
	if reason, is := strings.CutPrefix(f.Explains, reconcile.ExplainsEvent); is && f.Kind != reconcile.FindingTooManySucceeded {
		return event{corev1.EventTypeWarning, reason, f.Message}, true
	}
	return event{}, false
}

// aggregator is a recorder that can tell of many things at once. Without one, each is an
// event of its own.
type aggregator interface {
	// pods tells that pods came, or went; verb says which, and begins the message.
	pods(job *batchv1.Job, reason, verb string, names []string)
	// failures counts n pods that failed for the same cause.
	failures(job *batchv1.Job, r cause.Record, n int)
	// finished says that nothing more is to be expected of the Job.
	finished(job *batchv1.Job)
}

// maxEventMessage is what the API server takes.
const maxEventMessage = 1024

func cutMessage(message string) string {
	if len(message) <= maxEventMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxEventMessage-3], "") + "..."
}

func (s *jobSync) say(e event) {
	if s.config.Recorder != nil {
		s.config.Recorder.Event(s.job, e.kind, e.reason, cutMessage(e.message))
	}
}

// sayOnce says something that does not follow from one write, once for each key and process.
func (s *jobSync) sayOnce(key string, e event) {
	if s.isUnsaid(key) {
		s.say(e)
	}
}

// maxSaid bounds what is remembered of one Job.
const maxSaid = 1000

// isUnsaid says that the key is new, and remembers it. Of more keys than can be
// remembered it takes none for new.
func (s *jobSync) isUnsaid(key string) (unsaid bool) {
	s.memory.update(s.uid, func(m *jobMemory) {
		if m.said == nil {
			m.said = map[string]bool{}
		}
		if unsaid = !m.said[key] && len(m.said) < maxSaid; unsaid {
			m.said[key] = true
		}
	})
	return unsaid
}

// sayStored tells of the conditions that a stored status brought (JOB-47).
func (s *jobSync) sayStored(before, after *batchv1.Job, findings []reconcile.Finding) {
	changed := map[batchv1.JobConditionType]bool{}
	for _, c := range after.Status.Conditions {
		changed[c.Type] = !hasCondition(before, c)
	}
	for _, f := range findings {
		e, is := eventOf(f, changed)
		if !is {
			continue
		}
		s.say(e)
		if a, is := s.config.Recorder.(aggregator); is && f.Kind == reconcile.FindingFinished {
			a.finished(after)
		}
	}
}

func hasCondition(job *batchv1.Job, condition batchv1.JobCondition) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == condition.Type && c.Status == condition.Status {
			return true
		}
	}
	return false
}

// sayStanding tells of what is wrong with the Job as it is.
func (s *jobSync) sayStanding(findings []reconcile.Finding) {
	for _, f := range findings {
		if e, is := standingEventOf(f); is {
			s.sayOnce(e.reason+"\n"+e.message+"\n"+s.job.Annotations[rulename.Annotation], e)
		}
	}
}

// sayRejected tells that the API server does not take the status (STV-22). The values that
// it complains about may change with every try; the fields do not.
func (s *jobSync) sayRejected(err error) {
	key := eventStatusRejected
	for _, c := range detailsOf(err).Causes {
		key += "\n" + c.Field
	}
	s.sayOnce(key, event{corev1.EventTypeWarning, eventStatusRejected, fmt.Sprintf("The API server rejects the status of this Job, so it makes no progress: %v", err)})
}

// detailsOf is what the API server says of an error besides its text.
func detailsOf(err error) metav1.StatusDetails {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Details != nil {
		return *status.Status().Details
	}
	return metav1.StatusDetails{}
}
