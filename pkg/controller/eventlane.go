package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// laneKey tells lanes apart.
type laneKey struct {
	object types.UID
	reason string
	// cause is of failed pods.
	cause string
}

// The queues of lanes.
const (
	urgent = iota
	// chatter is about pods that come and go as they should.
	chatter
	queues
)

func (k laneKey) queue() int {
	if k.reason == eventPodCreated || k.reason == eventPodDeleted {
		return chatter
	}
	return urgent
}

// note is something that was said, or several such things that became one.
type note struct {
	// message is what to say; of pods the verb only.
	message string
	// record is the message about failed pods as a value; nil for other messages.
	record *cause.Record
	// pods are the first by name of the pods that the note is about, if it tells their names.
	pods []string
	// count is how many pods these are, or how often the message was said.
	count       int
	first, last time.Time
}

// Limits of what one lane holds.
const (
	// namedPods is how many pods the events about them tell by name. More than those are
	// one event.
	namedPods = 5
	// maxNotes is how many different messages wait; the oldest makes room.
	maxNotes = 10
	// laneBurst is how many events a lane writes at once, lanePeriod the time to the next.
	laneBurst  = 10
	lanePeriod = time.Minute
)

// lane is what waits to be said of one object for one reason.
type lane struct {
	laneKey
	about   corev1.ObjectReference
	kind    string
	waiting []note
	// writing is what was taken to be written, and neither is nor will never be.
	writing *outgoing
	// stored is the event that was written last, as far as it is known.
	stored *storedEvent
	// open says that all that waits may be written at once.
	open   bool
	budget budget
	// failures counts the tries in a row that came to nothing; the next is at retryAt.
	failures int
	retryAt  time.Time
	used     time.Time
}

func (l *lane) isIdle() bool { return len(l.waiting) == 0 && l.writing == nil }

// since is when the oldest thing was said that is not written.
func (l *lane) since() time.Time {
	if l.writing != nil {
		return l.writing.first.Time
	}
	return l.waiting[0].first
}

// add puts a note into the lane, where it becomes one with others that say the same.
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

// take returns the next event to write, or when there may be one; 0 for never.
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

// next takes one event's worth of what waits. A few pods are told one by one.
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

// failed says when to try again what could not be written.
func (l *lane) failed(now time.Time, p retryPolicy) time.Duration {
	wait := min(p.max, p.min<<min(l.failures, 16))
	l.failures++
	l.retryAt = now.Add(wait)
	return wait
}

// budget is a token bucket.
type budget struct {
	spent int
	// since is when the oldest of the spent began to come back.
	since time.Time
}

func (b *budget) left(now time.Time) int {
	if back := int(now.Sub(b.since) / lanePeriod); back > 0 {
		b.spent = max(0, b.spent-back)
		b.since = b.since.Add(time.Duration(back) * lanePeriod)
	}
	if b.spent == 0 {
		b.since = now
	}
	return max(0, laneBurst-b.spent)
}

func (b *budget) spend() { b.spent++ }

// wait is the time until more is left.
func (b *budget) wait(now time.Time) time.Duration { return b.since.Add(lanePeriod).Sub(now) }

// firstOf returns as many names as an event tells.
func firstOf(sorted []string) []string { return sorted[:min(len(sorted), namedPods)] }

// podsText names pods, at most three of them if there are more than fit one by one.
func podsText(verb string, names []string, count int) string {
	const shown = 3
	switch {
	case count == 1:
		return verb + " pod: " + names[0]
	case count <= shown:
		return fmt.Sprintf("%s %d pods: %s", verb, count, strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s %d pods: %s and %d more", verb, count, strings.Join(names[:shown], ", "), count-shown)
}
