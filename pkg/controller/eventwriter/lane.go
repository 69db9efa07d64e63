package eventwriter

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// laneKey identifies a lane.
type laneKey struct {
	object types.UID
	reason string
	// pods reports whether the events are about pods that come and go as expected.
	pods bool
	// cause is the cause of failures, for events about failed pods.
	cause string
}

// Queues of lanes.
const (
	urgent = iota
	// chatter is for events about pods that come and go as expected.
	chatter
	queues
)

func (k laneKey) queue() int {
	if k.pods {
		return chatter
	}
	return urgent
}

// note is one message for an event, or several merged into one.
type note struct {
	// message is the text; for pods only the verb.
	message string
	// record is the message about failed pods as a value; nil for other messages.
	record *cause.Record
	// pods holds the names of the first pods that the note is about, sorted, if it lists names.
	pods []string
	// count is the number of pods, or of occurrences of the message.
	count       int
	first, last time.Time
}

// Limits of a lane.
const (
	// namedPods is the largest number of pods that get an event each, with their name. More pods share one event.
	namedPods = 5
	// maxNotes is the number of different messages that may wait; beyond it, the oldest is dropped.
	maxNotes = 10
	// laneBurst is the number of events that a lane writes at once, lanePeriod the time until the next.
	laneBurst  = 10
	lanePeriod = time.Minute
)

// lane holds the pending events about one object with one reason.
type lane struct {
	laneKey
	about   corev1.ObjectReference
	kind    string
	waiting []note
	// writing is the event being written, including retries.
	writing *outgoing
	// stored is the last event that was written, or nil.
	stored *storedEvent
	// open reports whether all pending events may be written at once.
	open   bool
	budget budget
	// failures counts the failed tries in a row; the next one is at retryAt.
	failures int
	retryAt  time.Time
	used     time.Time
}

func (l *lane) isIdle() bool { return len(l.waiting) == 0 && l.writing == nil }

// since returns the time at which the oldest unwritten message was added.
func (l *lane) since() time.Time {
	if l.writing != nil {
		return l.writing.first.Time
	}
	return l.waiting[0].first
}

// add adds a note to the lane, or merges it into a waiting note with the same message.
func (l *lane) add(n note) {
	l.used = n.last
	for i := range l.waiting {
		if old := &l.waiting[i]; l.cause != "" || n.pods != nil || old.message == n.message {
			old.count += n.count
			old.last = n.last
			old.pods = firstOf(slices.Sorted(slices.Values(slices.Concat(old.pods, n.pods))))
			return
		}
	}
	if len(l.waiting) == maxNotes {
		l.waiting = l.waiting[1:]
	}
	l.waiting = append(l.waiting, n)
}

// take returns the next event to write, or how long to wait for it; a wait of 0 means that there is none.
func (l *lane) take(now time.Time) (e *outgoing, wait time.Duration) {
	switch {
	case l.isIdle():
		return nil, 0
	case now.Before(l.retryAt):
		return nil, l.retryAt.Sub(now)
	case l.writing != nil:
		return l.writing, 0
	case !l.open && l.budget.left(now) == 0:
		return nil, l.budget.wait(now)
	}
	l.writing = l.next(now)
	l.budget.spend()
	return l.writing, 0
}

// next removes the notes for one event, and returns the event. A few pods get an event each.
func (l *lane) next(now time.Time) *outgoing {
	n := &l.waiting[0]
	taken := *n
	one := n.pods != nil && n.count <= namedPods && (l.open || n.count <= l.budget.left(now))
	switch {
	case one && n.count > 1:
		taken.pods, taken.count = n.pods[:1], 1
		n.pods, n.count = n.pods[1:], n.count-1
	default:
		l.waiting = l.waiting[1:]
	}
	if n := taken; n.pods != nil {
		taken.message, taken.count = podsText(n.message, n.pods, n.count), 1
	}
	return newOutgoing(l, taken)
}

// failed records a failed try, and returns how long to wait before the next.
func (l *lane) failed(now time.Time, p retryPolicy) time.Duration {
	wait := min(p.max, p.min<<min(l.failures, 16))
	l.failures++
	l.retryAt = now.Add(wait)
	return wait
}
