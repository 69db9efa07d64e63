package model

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Namespace is the Job's namespace.
	Namespace = "sim"

	startup   = 5 * time.Millisecond // from the creation of a pod to its start
	grace     = 30 * time.Second     // the longest time that a deleted pod continues
	killed    = 137
	podGC     = 20 * time.Second // the delay until PodGC removes a deleted pod without a node
	maxEvents = 20000
)

// Pace determines how soon a controller reacts, and its open choices.
type Pace struct {
	rng *rand.Rand
	// least and most bound the reaction time; jitter is the time between the creations of pods.
	least, most, jitter time.Duration
	// batched reports whether changes of pods in the second after a sync wait until that second is over (JOB-53).
	batched bool
	// staged is the part of a verdict's consequences that waits for the next sync.
	staged stage
}

// stage is a part of a verdict's consequences.
type stage int

const (
	nothing stage = iota
	deletions
	everything
)

// NewPace returns the n-th pace of a seed: the first reacts promptly, but batches changes within a second, the second
// takes a second for everything, and the others are random.
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

// world is the Job, its pods, and the time since the start.
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
	// edits are the remaining edits, wake is the time of the next sync.
	edits        []Edit
	wake, looked time.Duration
	deleting     bool
}

// Run simulates a case until nothing happens anymore. It fails if the case does not come to rest.
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

// react schedules a sync after an event of a pod.
func (w *world) react() {
	at := w.now + w.pace.draw()
	if w.pace.batched {
		at = max(at, w.looked+time.Second)
	}
	w.wakeBy(at)
}

func (w *world) wakeBy(at time.Duration) { w.wake = min(w.wake, at) }

// wakeAfter schedules a sync for the end of a back-off. If it ends within a second, the controller may notice a second
// late (BLI-23).
func (w *world) wakeAfter(until time.Duration) {
	if w.pace.rng.IntN(2) == 0 {
		until = max(until, w.now+time.Second)
	}
	w.wakeBy(until)
}

// second returns now as stored by the API.
func (w *world) second() time.Duration { return w.now.Truncate(time.Second) }

// next returns the time of the next event.
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

// live carries out the due events, and reports whether there were any. The controller may sync between two events of the
// same time.
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

// interrupted reports whether the controller syncs immediately, before other due events.
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
		w.wakeBy(w.now + w.pace.draw()) // A changed spec is not batched.
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

// deletePod deletes the oldest active pod of an index, and adds the conditions.
func (w *world) deletePod(index int, conditions ...corev1.PodConditionType) {
	for _, p := range w.pods {
		if p.active() && p.index == index {
			p.conditions = append(p.conditions, conditions...)
			p.deleted, p.killed = w.now, !p.running()
			return
		}
	}
}

// clean deletes the ended pods in a phase.
func (w *world) clean(phase corev1.PodPhase) {
	for _, p := range w.pods {
		if p.phase == phase {
			p.deleted, p.killed = min(p.deleted, w.now), true
		}
	}
}

// forget drops the pods that are settled and removed from their nodes.
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
