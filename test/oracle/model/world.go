package model

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Namespace is where the Job is.
	Namespace = "sim"

	startup   = 5 * time.Millisecond // from the creation of a pod to its start
	grace     = 30 * time.Second     // the longest that a deleted pod continues
	killed    = 137
	podGC     = 20 * time.Second // what PodGC leaves a deleted pod without a node
	maxEvents = 20000
)

// Pace is how soon a controller reacts, and how it decides open choices.
type Pace struct {
	rng *rand.Rand
	// least and most bound the reaction, jitter how far apart pods are created.
	least, most, jitter time.Duration
	// batched reports whether changes of pods within a second after a sync wait until that is
	// over (JOB-53).
	batched bool
	// staged is how much of what follows from a verdict waits for the next sync.
	staged stage
}

// stage is what waits.
type stage int

const (
	nothing stage = iota
	deletions
	everything
)

// NewPace returns the n-th pace of a seed: the first is prompt, but batches changes within a
// second, the second takes a second for everything, and the others are random.
func NewPace(seed uint64, n int) Pace {
	p := Pace{rng: rand.New(rand.NewPCG(seed, uint64(n))), most: 1100 * time.Millisecond, jitter: 10 * time.Millisecond}
	switch {
	case n == 0:
		p.least, p.most, p.jitter, p.batched = 10*time.Millisecond, 10*time.Millisecond, 0, true
	case n == 1:
		p.least, p.most = time.Second, time.Second
	case n%3 == 0:
		p.most = 20 * time.Millisecond
		p.staged, p.batched = stage(n/3%3), n%2 == 0
	}
	return p
}

func (p Pace) draw() time.Duration {
	return p.least + time.Duration(p.rng.Int64N(int64(p.most-p.least)+1))
}

// world is the Job, its pods, and the time since the beginning.
type world struct {
	*Case
	Rules
	pace  Pace
	now   time.Duration
	spec  spec
	job   status
	pods  []*pod
	made  map[int]int
	pasts pasts
	out   Outcome
	// edits are those that are left, wake is when the controller looks again.
	edits        []Edit
	wake, looked time.Duration
	deleting     bool
}

// Run simulates a case until nothing happens anymore. It fails if that never comes.
func Run(c *Case, r Rules, pace Pace) (Outcome, error) {
	w := &world{Case: c, Rules: r, pace: pace, spec: spec{c.Spec.DeepCopy()}, edits: c.Edits, made: map[int]int{}, wake: pace.draw(), looked: -time.Hour, pasts: pasts{lastSuccess: -1}}
	w.job = status{start: Never, end: Never, ended: Never, done: indexes{}, lost: indexes{}}
	for range maxEvents {
		next := w.next()
		if next == Never || w.out.Gone {
			return w.outcome(), nil
		}
		w.now = next
		if w.live() {
			w.react()
		}
		if w.wake <= w.now {
			w.wake, w.looked = Never, w.now
			w.sync()
		}
	}
	return Outcome{}, fmt.Errorf("no rest after %d events", maxEvents)
}

// react schedules a sync after something has happened to a pod.
func (w *world) react() {
	at := w.now + w.pace.draw()
	if w.pace.batched {
		at = max(at, w.looked+time.Second)
	}
	w.wakeBy(at)
}

func (w *world) wakeBy(at time.Duration) { w.wake = min(w.wake, at) }

// wakeAfter schedules a sync when a back-off is over. One that ends within a second may be
// noticed a second late (BLI-23).
func (w *world) wakeAfter(until time.Duration) {
	if w.pace.rng.IntN(2) == 0 {
		until = max(until, w.now+time.Second)
	}
	w.wakeBy(until)
}

// second is now as the API stores it.
func (w *world) second() time.Duration { return w.now.Truncate(time.Second) }

// next is when the next thing happens.
func (w *world) next() time.Duration {
	next := w.wake
	if len(w.edits) > 0 {
		next = min(next, w.edits[0].At)
	}
	for _, p := range w.pods {
		next = min(next, p.next())
	}
	return next
}

// live runs what is due, and reports whether anything was. The controller may sync between
// two things at one instant.
func (w *world) live() (changed bool) {
	defer w.forget()
	for _, i := range w.pace.rng.Perm(len(w.pods)) {
		if p := w.pods[i]; p.next() <= w.now {
			p.live(w)
			changed = true
			if w.interrupted() {
				return changed
			}
		}
	}
	for len(w.edits) > 0 && w.edits[0].At <= w.now {
		w.edit(w.edits[0])
		w.edits = w.edits[1:]
		changed = true
		if w.interrupted() {
			return changed
		}
	}
	return changed
}

// interrupted reports whether the controller syncs at once, whatever else is due.
func (w *world) interrupted() bool {
	if w.pace.least > 0 || w.pace.rng.IntN(4) > 0 {
		return false
	}
	w.wake = w.now
	return true
}

func (w *world) edit(e Edit) {
	e.Change(w.spec.JobSpec)
	switch e.Action {
	default:
		w.wakeBy(w.now + w.pace.draw()) // A changed spec does not wait.
	case DeleteJob:
		w.deleting = true
		w.out.Gone = !w.Held
		w.wakeBy(w.now + w.pace.draw())
	case DeletePod:
		w.deletePod(int(e.Value))
	case EvictPod:
		w.deletePod(int(e.Value), corev1.DisruptionTarget)
	case CleanSucceeded:
		w.clean(corev1.PodSucceeded)
	case CleanFailed:
		w.clean(corev1.PodFailed)
	}
}

// deletePod deletes the oldest active pod of an index, with the reason in its conditions.
func (w *world) deletePod(index int, conditions ...corev1.PodConditionType) {
	for _, p := range w.pods {
		if p.active() && p.index == index {
			p.conditions = append(p.conditions, conditions...)
			p.deleted, p.killed = w.now, !p.running()
			return
		}
	}
}

// clean deletes the pods that have ended in a phase.
func (w *world) clean(phase corev1.PodPhase) {
	for _, p := range w.pods {
		if p.phase == phase {
			p.deleted, p.killed = min(p.deleted, w.now), true
		}
	}
}

// forget drops the pods that nothing keeps anymore.
func (w *world) forget() {
	var kept []*pod
	for _, p := range w.pods {
		if !p.settled || !p.killed {
			kept = append(kept, p)
		}
	}
	w.pods = kept
}

// outcome returns the Outcome of the world.
func (w *world) outcome() Outcome {
	o := w.out
	if o.Gone {
		return Outcome{Gone: true}
	}
	for _, p := range w.pods {
		switch {
		case p.active():
			o.Active++
			if p.phase == corev1.PodRunning {
				o.Ready++
			}
		case !p.over():
			o.Terminating++
		}
	}
	w.job.report(&o, w.spec.JobSpec)
	return o
}
