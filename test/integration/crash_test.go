package integration

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// firstFails lets the first pod of the namespace fail and all others succeed.
func firstFails(_ *corev1.Pod, nth int) corev1.PodPhase {
	if nth == 1 {
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

// crashStory is a Job, what a user and the kubelet do to it, and how it ends.
type crashStory struct {
	job  func() *batchv1.Job
	user func(f *fixture, dead func() bool)
	// plays is what the pods do; firstFails if nil.
	plays outcome
	ends  func(f *fixture)
	// writes is how many writes it takes, at most: those are the crash points.
	writes int64
}

// whenRunning waits until n pods are there to edit the Job, or nobody is to create them.
func whenRunning(n int, edits ...map[string]any) func(*fixture, func() bool) {
	return func(f *fixture, dead func() bool) {
		f.until("the pods run", func() bool { return dead() || len(f.pods(history.IsActive)) == n })
		for _, edit := range edits {
			f.edit("a", edit)
		}
	}
}

var crashStories = map[string]crashStory{
	"NonIndexed": {
		job:  func() *batchv1.Job { return newJob(completions(2), parallelism(2)) },
		ends: func(f *fixture) { f.untilComplete("a", 2, 1); f.wantPodsEver(3) }, writes: 12,
	},
	"Indexed": {
		job:  func() *batchv1.Job { return newJob(indexed(2)) },
		ends: func(f *fixture) { f.untilComplete("a", 2, 1); f.wantPodsEver(3) }, writes: 12,
	},
	"fails": {
		job: func() *batchv1.Job { return newJob(completions(2), parallelism(2), backoffLimit(0), onNode) },
		plays: func(_ *corev1.Pod, nth int) corev1.PodPhase {
			if nth == 1 {
				return corev1.PodFailed
			}
			return ""
		},
		ends: func(f *fixture) {
			// Every pod that there was; a dead controller may have created fewer.
			f.untilIs("a", batchv1.JobFailed)
			f.untilFinished("a", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded, 0, int32(f.history.everCreated()))
		}, writes: 9,
	},
	"is scaled down": {
		job:   func() *batchv1.Job { return newJob(completions(3), parallelism(3), backoffLimit(0), onNode) },
		user:  whenRunning(3, map[string]any{"parallelism": 1}),
		plays: everySucceeds,
		ends:  func(f *fixture) { f.untilComplete("a", 3, 0) }, writes: 12,
	},
	"is suspended and resumed": {
		job:   func() *batchv1.Job { return newJob(indexed(2), backoffLimit(0), onNode) },
		user:  whenRunning(2, suspend(true), suspend(false)),
		plays: everySucceeds,
		ends:  func(f *fixture) { f.untilComplete("a", 2, 0) }, writes: 12,
	},
}

// The controller dies at each of its writes, before the API server has it or
// before the answer comes back; the next one ends the Job with exact counts.
func TestCrashAtAnyWriteKeepsCountsExact_TRK_02_TRK_03_JOB_56(t *testing.T) {
	t.Parallel()
	for name, story := range crashStories {
		for n := range story.writes {
			for when, committed := range map[string]bool{"before": false, "after": true} {
				t.Run(fmt.Sprintf("%s/%s write %d", name, when, n+1), func(t *testing.T) {
					t.Parallel()
					f := newFixture(t)
					p := f.startController()
					p.wire.severAt(n+1, committed)
					f.tell(story, p)
				})
			}
		}
	}
}

// tell runs the story with a controller that crashes, and another one after it.
func (f *fixture) tell(story crashStory, p *process) {
	f.t.Helper()
	f.create(story.job())
	if story.user != nil {
		story.user(f, p.wire.severed.Load)
	}
	plays := story.plays
	if plays == nil {
		plays = firstFails
	}
	f.kubelet.play(plays)
	f.until("the controller dies, or has finished", func() bool {
		return p.wire.severed.Load() || history.IsFinished(f.history.job("a"))
	})
	p.crash()
	f.startController()
	story.ends(f)
	f.untilReleased()
}

// A creation whose answer is lost is not repeated, by the same controller, which
// no watch reports the pod, or by the next.
func TestCreationAnswerIsLost_TRK_18(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"same controller", "next controller"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.untilWorking()
			p.wire.freeze(watches("pods"))
			loss := p.wire.loseAnswer(podPost)
			f.create(newJob(indexed(3)))
			f.until("an answer is lost", func() bool { return loss.count() > 0 })
			if name == "next controller" {
				p.crash()
				f.startController()
			}
			loss.lift()
			f.untilCounts("a", counts{active: 3})
			p.wire.thaw()
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 3, 0)
			f.wantPodsEver(3)
		})
	}
}

// Two controllers run at once, as they may for a moment when the leader changes.
// They create pods too many, and yet count each that ends exactly once.
func TestTwoControllersAtOnce_JOB_56_TRK_03(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]*batchv1.Job{
		"NonIndexed": newJob(completions(3), parallelism(2), backoffLimit(1)),
		"Indexed":    newJob(indexed(3), backoffLimit(1), onNode),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tolerated = []string{"S5", "S6", "L2"}
			f.startController()
			f.startController()
			f.create(job)
			f.kubelet.play(firstFails)
			done := f.untilIs("a", batchv1.JobComplete)
			f.untilReleased()
			if got := countsOf(done); got.failed > 1 || got.succeeded < 3 || name == "Indexed" && got.succeeded > 3 {
				t.Errorf("the Job counts %+v", got)
			}
		})
	}
}
