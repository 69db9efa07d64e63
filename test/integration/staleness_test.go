package integration

import (
	"net/http"
	"testing"
)

// The watches are late: what the controller wrote itself it knows all the same,
// and creates no pod twice.
func TestWatchesAreLate_TRK_18_TRK_19(t *testing.T) {
	t.Parallel()
	t.Run("pods", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		p := f.startController()
		f.untilWorking()
		p.wire.freeze(watches("pods"))
		f.create(newJob(indexed(3), parallelism(2)))
		pods := f.untilActive(2)
		f.untilCounts("a", counts{active: 2})
		// Each edit asks for a sync, and so does the status write of the one before.
		f.edit("a", map[string]any{"parallelism": 3})
		pods = append(pods, f.untilActive(3)...)
		f.untilCounts("a", counts{active: 3})
		f.kubelet.run(pods...)
		f.edit("a", map[string]any{"backoffLimit": 1})
		f.kubelet.succeed(pods[0])
		p.wire.thaw()
		f.kubelet.play(everySucceeds)
		f.untilComplete("a", 3, 0)
		f.wantPodsEver(3)
	})
	t.Run("jobs", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		p := f.startController()
		f.create(newJob(completions(2), parallelism(2)))
		f.untilCounts("a", counts{active: 2})
		p.wire.freeze(watches("jobs"))
		f.kubelet.play(everySucceeds)
		f.untilComplete("a", 2, 0)
		p.wire.thaw()
		f.create(named("later", newJob(completions(1))))
		f.untilComplete("later", 1, 0)
		f.wantPodsEver(3)
	})
	t.Run("jobs, with an edit", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		p := f.startController()
		f.create(newJob(indexed(2)))
		pods := f.untilActive(2)
		f.untilCounts("a", counts{active: 2})
		p.wire.freeze(watches("jobs"))
		f.edit("a", elastic(3))
		f.kubelet.succeed(pods...)
		// The status write is a conflict, and the Job is read past the cache.
		f.kubelet.succeed(f.untilActive(1)...)
		f.untilComplete("a", 3, 0)
		f.wantPodsEver(3)
	})
}

// A pod is removed while pods are not watched: the next list does not have it.
func TestWatchMissesADeletion_JOB_55(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	away := p.wire.cut(watches("pods"))
	p.wire.endWatches(watches("pods"))
	f.until("the watch was to begin anew", func() bool { return away.count() > 0 })
	f.setFinalizers(pods[0])
	f.deletePods(pods[0])
	f.kubelet.succeed(pods[1])
	expired := p.wire.reject(watches("pods"), http.StatusGone)
	f.until("the watch has expired", func() bool { return expired.count() > 0 })
	expired.lift()
	away.lift()
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	f.wantPodsEver(3)
}
