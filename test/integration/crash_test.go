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

// The controller dies at chosen points of the accounting of two pods, one of
// which failed. The next one counts each exactly once.
func TestCrashWhileAccountingKeepsCountsExact_TRK_03(t *testing.T) {
	t.Parallel()
	for name, crashPoint := range map[string]func(f *fixture, w *wire){
		"pods run": func(f *fixture, _ *wire) { f.finishTwo() },
		"finished, not recorded": func(f *fixture, w *wire) {
			status := w.reject(statusPut, 500)
			f.finishTwo()
			f.until("a status write has failed", func() bool { return status.count() > 0 })
		},
		"recorded, with finalizers": func(f *fixture, w *wire) {
			w.reject(podPatch, 500)
			f.finishTwo()
			f.untilRecorded()
		},
		"recorded, one finalizer left": func(f *fixture, w *wire) {
			pods := f.untilActive(2)
			w.reject(podPatch.holding(string(pods[0].UID)), 500)
			f.finishTwo()
			f.untilRecorded()
			f.until("the other finalizer is gone", func() bool { return !history.IsTracked(f.history.pod(pods[1].UID)) })
		},
		"without finalizers, not counted": func(f *fixture, w *wire) {
			removal := w.reject(podPatch, 500)
			f.finishTwo()
			f.untilRecorded()
			w.reject(statusPut, 500)
			removal.lift()
			f.untilPods(2, "released", func(pod *corev1.Pod) bool { return history.HasEnded(pod) && !history.IsTracked(pod) })
		},
		"recorded, answer lost": func(f *fixture, w *wire) {
			loss := w.loseAnswer(statusPut)
			f.finishTwo()
			f.until("an answer is lost", func() bool { return loss.count() > 0 })
		},
		"finalizers removed, answers lost": func(f *fixture, w *wire) {
			w.loseAnswer(podPatch)
			f.finishTwo()
			f.untilPods(2, "released", func(pod *corev1.Pod) bool { return history.HasEnded(pod) && !history.IsTracked(pod) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController(neverRetry)
			f.create(newJob(completions(3), parallelism(2)))
			f.kubelet.run(f.untilActive(2)...)
			f.untilCounts("a", counts{active: 2, ready: 2})
			crashPoint(f, p.wire)
			p.crash()
			f.startController()
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 3, 1)
			f.wantPodsEver(4)
			f.untilReleased()
		})
	}
}

// finishTwo lets one of the two active pods fail and the other succeed.
func (f *fixture) finishTwo() {
	f.t.Helper()
	pods := f.untilActive(2)
	f.kubelet.fail(pods[0])
	f.kubelet.succeed(pods[1])
}

// untilRecorded waits until the status holds both, and counts none yet.
func (f *fixture) untilRecorded() {
	f.t.Helper()
	f.untilJob("a", "has recorded two pods", func(job *batchv1.Job) bool {
		return len(history.UncountedFailed(job)) == 1 && len(history.UncountedSucceeded(job)) == 1
	})
}
