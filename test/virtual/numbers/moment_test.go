package numbers

import (
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/play"
)

// moment is the state of a Job as read at some time.
type moment struct {
	seed  uint64
	n     int
	input input.Input
	// late is how much later the view renders it.
	late time.Duration
}

func (m *moment) String() string { return fmt.Sprintf("seed %d, moment %d", m.seed, m.n) }

// mostMoments is the maximum number of moments of one Job.
const mostMoments = 12

// momentsOf plays the case of a seed and reads its Job at random times: between the user's actions, and until some time
// after the Job's end.
func momentsOf(seed uint64) []moment {
	rng := rand.New(rand.NewPCG(seed, 5))
	c := cases.Generate(seed)
	h := newHistory(seed, rng)
	if play.Start(h.world, c) != nil {
		return nil
	}
	r := reader{Rand: rng, history: h, builtIn: rng.IntN(5) < 2}
	if rng.IntN(4) == 0 {
		r.outage, r.outageFor = r.within(40*time.Second), one(rng, 3*time.Second, 30*time.Second, 10*time.Minute, 24*time.Hour)
	}
	var out []moment
	edits, after := c.Edits, 0
	for at := r.within(3 * time.Second); len(out) < mostMoments && after < 3; at += r.gap() {
		for len(edits) > 0 && edits[0].At <= at {
			r.runUntil(edits[0].At)
			if play.Apply(h.world, edits[0]) != nil {
				return out
			}
			edits = edits[1:]
		}
		r.runUntil(at)
		if h.world.Finished(play.JobName) {
			after++
		}
		if job := h.job(h.world.Now()); job == nil {
			break
		}
		if m, ok := r.read(); ok {
			m.seed, m.n = seed, len(out)
			out = append(out, m)
		}
	}
	return out
}

// reader reads a cluster at random times.
type reader struct {
	*rand.Rand
	*history
	// builtIn makes the reads look as if the built-in controller ran the Job.
	builtIn bool
	// outage is when the controller loses its connection to the API server, and outageFor how long; 0 means never.
	outage, outageFor time.Duration
	lost              time.Time
}

func one[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (r *reader) within(most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// gap returns the time to the next moment.
func (r *reader) gap() time.Duration {
	return r.within(one(r.Rand, 100*time.Millisecond, 2*time.Second, 6*time.Second, 15*time.Second, 40*time.Second, 20*time.Minute))
}

func (r *reader) runUntil(at time.Duration) {
	if r.outageFor > 0 && r.lost.IsZero() && at >= r.outage {
		r.run(r.outage)
		r.lost = r.world.Now()
		r.world.Outage(r.outageFor)
	}
	r.run(at)
}

func (r *reader) run(at time.Duration) {
	if wait := at - r.world.Elapsed(); wait > 0 {
		r.world.RunUntil(func() bool { return false }, wait)
	}
}

// read returns the state that a command reads now: the Job may be older or newer than the pods, and parts of the state
// may be unreadable.
func (r *reader) read() (moment, bool) {
	now := r.world.Now()
	lag := func() time.Duration {
		return r.within(one[time.Duration](r.Rand, 1, 1, 1, 1, 300*time.Millisecond, 3*time.Second, 40*time.Second))
	}
	job := r.job(now.Add(-lag()))
	if job == nil {
		return moment{}, false
	}
	in := input.Input{Now: now.Add(r.within(time.Second)), OurName: controller.DefaultManagedBy, Job: job.DeepCopy(), PodsRead: r.IntN(12) > 0}
	if in.PodsRead {
		for _, pod := range r.pods(job.UID, now.Add(-min(lag(), lag()))) {
			in.Pods = append(in.Pods, input.PodOf(pod))
		}
	} else {
		in.Gaps = append(in.Gaps, input.Gap{What: "pods", Text: "pods could not be read"})
	}
	if in.EventsRead = r.IntN(4) > 0; in.EventsRead {
		in.Events = r.readEvents(now)
	}
	r.dress(&in)
	return moment{input: in, late: r.within(3 * time.Second)}, true
}

// readEvents returns the events so far, without events about causes for the built-in controller.
func (r *reader) readEvents(now time.Time) []input.Event {
	var out []input.Event
	kept := r.events.Of(play.JobName)
	for i := range kept {
		if e := input.EventOf(&kept[i]); !e.First.After(now) && (!r.builtIn || e.Failed == nil) {
			out = append(out, e)
		}
	}
	return out
}

// dress sets managedBy and the Lease of a running or lost controller, and sometimes a TTL.
func (r *reader) dress(in *input.Input) {
	if r.IntN(4) == 0 {
		in.Job.Spec.TTLSecondsAfterFinished = ptr.To(r.Int32N(2000))
	}
	if r.builtIn {
		in.Job.Spec.ManagedBy = nil
		return
	}
	renewed := in.Now.Add(-r.within(10 * time.Second))
	if !r.lost.IsZero() && in.Now.Before(r.lost.Add(r.outageFor)) {
		renewed = r.lost
	}
	in.Lease = &input.Lease{Namespace: "batchjob-system", Name: "batchjob-controller", Holder: "node-1_a", Renewed: renewed, Duration: 15 * time.Second}
}

func (m *moment) job() *batchv1.Job { return m.input.Job }
