package controller

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-53: the first event is handled at once, and a burst of 1000 events leads to at most two syncs in the first
// second.
func TestBurstOfEventsIsTwoSyncs(t *testing.T) {
	b := newBatcher(time.Second)
	start := time.Unix(1_000_000, 0)
	syncs := map[time.Time]bool{}
	for i := range 1000 {
		now := start.Add(time.Duration(i) * time.Millisecond)
		d := b.delay("job", now)
		if i == 0 && d != 0 {
			t.Errorf("first event waits %v", d)
		}
		syncs[now.Add(d)] = true
	}
	if len(syncs) > 2 {
		t.Errorf("%d syncs in a second", len(syncs))
	}
	assert.Equal(t, b.delay("other", start), 0, "another Job waits")
	assert.Equal(t, b.delay("job", start.Add(time.Hour)), 0, "after a quiet hour")
	b.forget("job")
	assert.Equal(t, b.delay("job", start.Add(time.Hour)), 0, "after forget")
}

// JOB-53, JOB-54: the changes that are batched, and the changes that are not.
func TestChangedSpecDoesNotWait(t *testing.T) {
	job := func(generation int64, label string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Generation: generation, Labels: map[string]string{"a": label}}}
	}
	deleted := job(1, "")
	deleted.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		change observe.JobChange
		want   urgency
	}{
		"new":     {observe.JobChange{New: job(1, "")}, atOnce},
		"gone":    {observe.JobChange{Old: job(1, "")}, atOnce},
		"spec":    {observe.JobChange{Old: job(1, ""), New: job(2, "")}, atOnce},
		"label":   {observe.JobChange{Old: job(1, ""), New: job(1, "b")}, batched},
		"deleted": {observe.JobChange{Old: job(1, ""), New: deleted}, atOnce},
	} {
		assert.Equalf(t, jobUrgency(c.change), c.want, "job %s", name)
	}
	running := &reconcile.Pod{Phase: corev1.PodRunning}
	ready := &reconcile.Pod{Phase: corev1.PodRunning, Ready: true}
	ended, unreported := &reconcile.Pod{Phase: corev1.PodFailed}, &reconcile.Pod{Phase: corev1.PodFailed, Unreported: true}
	for name, c := range map[string]struct {
		change observe.PodChange
		want   urgency
	}{
		"new":                   {observe.PodChange{New: running, Active: 1}, batched},
		"nothing that matters":  {observe.PodChange{Old: running, New: &reconcile.Pod{Phase: corev1.PodRunning, ResourceVersion: "2"}, Active: 1}, ignore},
		"other labels":          {observe.PodChange{Old: running, New: running, Active: 1, Relabeled: true}, batched},
		"ready":                 {observe.PodChange{Old: running, New: ready, Active: 1}, batched},
		"ended, others run":     {observe.PodChange{Old: ready, New: ended, Active: 3}, batched},
		"ended, the last":       {observe.PodChange{Old: ready, New: ended}, atOnce},
		"gone, the last":        {observe.PodChange{Old: ready}, atOnce},
		"an ended one is gone":  {observe.PodChange{Old: ended}, batched},
		"how it ended is open":  {observe.PodChange{Old: ready, New: unreported}, batched},
		"how it ended is told":  {observe.PodChange{Old: unreported, New: ended}, atOnce},
		"seen first when ended": {observe.PodChange{New: ended}, atOnce},
	} {
		assert.Equalf(t, podUrgency(c.change, true), c.want, "pod %s", name)
	}
	// Without a podFailurePolicy, the exit code does not matter.
	assert.Equal(t, podUrgency(observe.PodChange{Old: ready, New: unreported}, false), atOnce, "how it ended does not matter")
	if got := podUrgency(observe.PodChange{Old: unreported, New: ended}, false); got != batched {
		t.Errorf("how it ended is reported, and does not matter: got %v", got)
	}
}

// SCL-15: a sync is longer if its decisions take long.
func TestSyncsOfHugeJobsAreLonger(t *testing.T) {
	const budget = 750 * time.Millisecond
	for pods, want := range map[int]time.Duration{0: budget, 100_000: budget, 1_000_000: 5 * time.Second} {
		clock := clocktesting.NewFakeClock(time.Now())
		s := &jobSync{Engine: &Engine{config: Config{SyncBudget: budget, Clock: clock}}, pods: pods, begun: clock.Now()}
		clock.Step(want - 1)
		early := s.isOver()
		clock.Step(1)
		if early || !s.isOver() {
			t.Errorf("a sync of %d pods is not over after %v", pods, want)
		}
	}
}

// SCL-15: creations do not come after all releases of a stage, since there may be no time for some of these.
func TestCreationsAreSpread(t *testing.T) {
	var order []int
	operations := func(n, from int) (list []func()) {
		for i := range n {
			list = append(list, func() { order = append(order, from+i) })
		}
		return list
	}
	for _, operation := range spread(operations(400, 0), operations(4, 1000)) {
		operation()
	}
	last := slices.Index(order, 1003)
	if len(order) != 404 || slices.Index(order, 1000) > 2 || last < 300 || last > 310 {
		t.Errorf("%v", order)
	}
}

// While a call takes 10 ms, a sync creates all pods of a small Job, and only some of a large one. While a call takes
// longer, it leaves some of a small Job as well, for its next sync. startTime does not wait for all of them.
// Requirements: SCL-18
func TestSmallJobsGetAllPodsInOneSync(t *testing.T) {
	for _, c := range []struct {
		pods int
		call time.Duration
		soon bool
	}{{minChanges, 10 * time.Millisecond, false}, {minChanges + 1, 10 * time.Millisecond, true}, {minChanges, 100 * time.Millisecond, true}} {
		f := newFakeCluster(t, nil)
		job := ourJob(int32(c.pods))
		f.addTrusted(job)
		started := 0 // The number of pods when startTime was stored.
		f.webhook = func(*corev1.Pod) {
			if f.clock.Step(c.call); f.cache.Job(job.UID).Status.StartTime == nil {
				started++
			}
		}
		result, err := f.engine.Sync(t.Context(), job.UID)
		if err != nil || result.Soon != c.soon || (len(f.pods) < c.pods) != c.soon {
			t.Errorf("%d pods, calls of %v: %+v, %v, %d pods exist", c.pods, c.call, result, err, len(f.pods))
		}
		for range 100 {
			if err == nil && len(f.pods) < c.pods {
				_, err = f.engine.Sync(t.Context(), job.UID)
			}
		}
		if err != nil || len(f.pods) != c.pods || started == c.pods {
			t.Errorf("%d pods, calls of %v: %v, in the end %d pods exist, %d before startTime", c.pods, c.call, err, len(f.pods), started)
		}
	}
}
