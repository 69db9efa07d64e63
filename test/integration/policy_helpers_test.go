package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

func maxFailedIndexes(n int32) jobOption { return func(s *batchv1.JobSpec) { s.MaxFailedIndexes = &n } }

// none is the failedIndexes of a status that has no such field.
const none = "none"

// failedIndexesOf returns the failed indexes; an empty list differs from an unset one.
func failedIndexesOf(job *batchv1.Job) string { return ptr.Deref(job.Status.FailedIndexes, none) }

// untilIndexes waits for a status with exactly these numbers and indexes.
func (f *fixture) untilIndexes(name string, want counts, completed, failed string) *batchv1.Job {
	f.t.Helper()
	return f.untilJob(name, fmt.Sprintf("counts %+v, completed %q, failed %q", want, completed, failed), func(job *batchv1.Job) bool {
		return countsOf(job) == want && job.Status.CompletedIndexes == completed && failedIndexesOf(job) == failed
	})
}

func (f *fixture) wantIndexes(job *batchv1.Job, completed, failed string) {
	f.t.Helper()
	if job.Status.CompletedIndexes != completed || failedIndexesOf(job) != failed {
		f.t.Errorf("completedIndexes %q, failedIndexes %q, want %q, %q", job.Status.CompletedIndexes, failedIndexesOf(job), completed, failed)
	}
}

// podOfIndex waits for the only active pod of an index.
func (f *fixture) podOfIndex(i int32) *corev1.Pod {
	f.t.Helper()
	return f.untilPods(1, fmt.Sprintf("active of index %d", i), ofIndex(i))[0]
}

// wantFailureCount checks the failure count of the index on a pod; none if it is unset.
func (f *fixture) wantFailureCount(pod *corev1.Pod, want string) {
	f.t.Helper()
	got, there := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]
	if !there {
		got = none
	}
	if got != want {
		f.t.Errorf("pod %s of index %d has the failure count %s, want %s", pod.Name, history.IndexOf(pod), got, want)
	}
}

// statuses are the versions of the Job with another status than the one before, the
// latest before a place in the history included.
func (f *fixture) statuses(since *batchv1.Job) (out []*batchv1.Job) {
	for _, v := range f.history.sorted() {
		if v.job == nil || v.job.UID != since.UID {
			continue
		}
		if v.job.ResourceVersion == since.ResourceVersion {
			out = nil
		}
		out = append(out, v.job)
	}
	return out
}

// wantSteps checks that the numbers of the Job went through these, and no others.
func (f *fixture) wantSteps(since *batchv1.Job, want ...counts) {
	f.t.Helper()
	var got []counts
	for _, job := range f.statuses(since) {
		got = append(got, countsOf(job))
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		f.t.Errorf("the Job counted %+v, want %+v", got, want)
	}
}

// oneWorker makes a controller that syncs one Job after the other.
func oneWorker(c *controller.Config) { c.Workers = 1 }

// untilSynced waits until a controller with one worker has looked at the Job again, be
// there nothing to see. It creates the Job idle.
func (f *fixture) untilSynced(name string) {
	f.t.Helper()
	f.edit(name, map[string]any{"parallelism": 1})
	f.untilWorking()
}

// restart ends one controller, and starts the next.
func (f *fixture) restart(p *process, options ...func(*controller.Config)) *process {
	f.t.Helper()
	p.stop()
	return f.startController(options...)
}

// shiftedClock goes as the real one does, and can be put forward.
type shiftedClock struct {
	*clocktesting.FakeClock
	shifts chan time.Duration
}

func newShiftedClock(t *testing.T) *shiftedClock {
	t.Helper()
	c := &shiftedClock{clocktesting.NewFakeClock(time.Now()), make(chan time.Duration)}
	stop, ended := make(chan struct{}), make(chan struct{})
	go c.run(stop, ended)
	t.Cleanup(func() {
		close(stop)
		<-ended
	})
	return c
}

func (c *shiftedClock) run(stop, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var shift time.Duration
	for {
		select {
		case <-stop:
			return
		case by := <-c.shifts:
			shift += by
		case <-tick.C:
		}
		c.SetTime(time.Now().Add(shift))
	}
}

// forward puts the clock forward.
func (c *shiftedClock) forward(by time.Duration) {
	c.shifts <- by
	// The second one is taken when the first has had its effect.
	c.shifts <- 0
}

func (c *shiftedClock) use(config *controller.Config) { config.Clock = c }
