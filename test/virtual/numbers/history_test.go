package numbers

import (
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/simevents"
)

// history is the history of a virtual cluster.
type history struct {
	world   *sim.World
	commits []stored
	events  *simevents.Recorder
}

// stored is a write and its time.
type stored struct {
	at time.Time
	sim.Commit
}

func newHistory(seed uint64, rng *rand.Rand) *history {
	h := &history{}
	o := sim.Options{Seed: seed, OnCommit: h.committed, MaxWrites: 5000}
	h.events = simevents.New(func() time.Time { return h.world.Now() })
	o.Controller.Recorder = recorder{h.events}
	if rng.IntN(3) == 0 {
		o.Fault = func(sim.Call) sim.Fault {
			if rng.IntN(16) > 0 {
				return sim.Fault{}
			}
			return sim.Fault{Kind: sim.FaultKind(1 + rng.IntN(int(sim.Malformed)))}
		}
	}
	h.world = sim.NewWorld(o)
	return h
}

func (h *history) committed(c sim.Commit) {
	if h.world != nil {
		h.commits = append(h.commits, stored{h.world.Now(), c})
	}
}

// job returns the Job as stored at a time, or nil.
func (h *history) job(at time.Time) *batchv1.Job {
	for _, c := range slices.Backward(h.commits) {
		if !c.at.After(at) && (c.NewJob != nil || c.OldJob != nil) {
			return c.NewJob
		}
	}
	return nil
}

// pods returns the pods of a Job at a time, in order of creation.
func (h *history) pods(job types.UID, at time.Time) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range h.commits {
		if c.at.After(at) || c.NewPod == nil && c.OldPod == nil {
			continue
		}
		var place int
		if c.OldPod != nil {
			place = slices.IndexFunc(out, func(p *corev1.Pod) bool { return p.UID == c.OldPod.UID })
		}
		switch {
		case c.OldPod == nil:
			out = append(out, c.NewPod)
		case c.NewPod == nil:
			out = slices.Delete(out, place, place+1)
		default:
			out[place] = c.NewPod
		}
	}
	return slices.DeleteFunc(out, func(p *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(p)
		return owner == nil || owner.UID != job
	})
}

// recorder counts the pods of an event, as the controller's own writer does.
type recorder struct{ *simevents.Recorder }

func (r recorder) Pods(job *batchv1.Job, reason, verb string, names []string) {
	for _, name := range names {
		r.Event(job, corev1.EventTypeNormal, reason, verb+" pod: "+name)
	}
}

func (r recorder) Failures(job *batchv1.Job, reason string, f cause.Record, n int) {
	for range n {
		r.AnnotatedEventf(job, f.Annotations(), corev1.EventTypeWarning, reason, "%s", f.Text())
	}
}

func (r recorder) Finished(*batchv1.Job) {}
