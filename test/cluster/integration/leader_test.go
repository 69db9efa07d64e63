package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The leader of two replicas crashes at each of its writes, before the API server receives it or before the response
// comes back. The other replica takes over once the Lease has expired, and ends the Job, in which one pod fails, is
// retried, and all succeed, with exact counts.
// Requirements: JOB-56, TRK-03
func TestKillTheLeader(t *testing.T) {
	t.Parallel()
	const writes = 12
	var mu sync.Mutex
	longest, killed := time.Duration(0), 0
	t.Run("at", func(t *testing.T) {
		for n := range int64(writes) {
			for when, committed := range map[string]bool{"before": false, "after": true} {
				t.Run(fmt.Sprintf("%s write %d", when, n+1), func(t *testing.T) {
					t.Parallel()
					f := newFixture(t)
					leader, standby := f.startPair(shortLease)
					leader.wire.severAt(n+1, committed)
					f.create(newJob(indexed(2), perIndexLimit(1)))
					f.kubelet.play(firstFails)
					f.until("the leader dies, or has finished", func() bool {
						return leader.wire.severed.Load() || history.IsFinished(f.history.job("a"))
					})
					died, early := time.Now(), leader.wire.severed.Load()
					leader.crash()
					f.untilLeading(standby)
					_, since := standby.leads()
					f.wantIndexes(f.untilComplete("a", 2, 1), "0,1", "")
					f.wantPodsEver(3)
					f.untilReleased()
					mu.Lock()
					defer mu.Unlock()
					if early {
						killed++
					}
					longest = max(longest, since.Sub(died))
				})
			}
		}
	})
	t.Logf("%d leaders died before the end; with a lease of %v and tries every %v, the other one led after at most %v", killed, shortLease.lease, shortLease.retry, longest)
}

// While one replica works, the other one only reads the Lease.
// Requirements: JOB-56
func TestStandbyOnlyReadsTheLease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	leader, standby := f.startPair(longLease)
	f.create(newJob(completions(3), parallelism(2)))
	f.kubelet.play(firstFails)
	f.untilComplete("a", 3, 1)
	seen := len(standby.lease.recorded(leaseGet))
	f.until("the standby has looked again", func() bool { return len(standby.lease.recorded(leaseGet)) > seen })
	standby.stop()
	if n := len(standby.wire.recorded(everyCall)); n > 0 {
		t.Errorf("the standby has made %d requests", n)
	}
	for _, c := range standby.lease.recorded(everyCall) {
		if !leaseGet(c) {
			t.Errorf("the standby asks for %s %s", c.method, c.resource)
		}
	}
	if led, _ := standby.leads(); led != 0 || !leader.isWorking() || f.holder() != leader.identity {
		t.Errorf("the standby has led %d times, the leader works: %v, and the Lease is held by %q", led, leader.isWorking(), f.holder())
	}
	// A leader without work renews its Lease.
	renewed := len(leader.lease.recorded(leasePut))
	f.until("the Lease is renewed", func() bool { return len(leader.lease.recorded(leasePut)) > renewed })
}

// A leader that is stopped waits for its calls in flight, then releases the Lease, and the other one leads at once, long
// before the Lease would expire.
// Requirements: JOB-56
func TestNextLeaderLeadsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	leader, standby := f.startPair(longLease)
	f.create(newJob(indexed(2), backoffLimit(1)))
	pods := f.untilActive(2)
	f.untilCounts("a", counts{active: 2})
	removal := leader.wire.hold(podPatch)
	f.kubelet.fail(pods[0])
	f.kubelet.succeed(pods[1])
	f.until("a finalizer is about to be removed", func() bool { return removal.count() > 0 })

	leader.cancel()
	renewed := len(leader.lease.recorded(leasePut))
	f.until("the Lease is renewed several times while the call is under way", func() bool {
		return len(leader.lease.recorded(leasePut)) >= renewed+3
	})
	if led, _ := standby.leads(); led != 0 || f.holder() != leader.identity {
		t.Errorf("the Lease is held by %q, and the standby has led %d times", f.holder(), led)
	}
	begun := time.Now()
	removal.lift()
	f.untilLeading(standby)
	_, since := standby.leads()
	t.Logf("handed over after %v", since.Sub(begun))
	leader.stop()
	if last := leader.wire.recorded(anyWrite); len(last) == 0 || last[len(last)-1].code != http.StatusOK {
		t.Errorf("the last write of the leader was not finished: %+v", last)
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 1)
	f.wantPodsEver(3)
	f.untilReleased()
	standby.stop()
	assert.Equal(t, f.holder(), "", "the Lease is held by")
}

// A write of a leader is in flight for so long that another one leads when it arrives.
// Requirements: JOB-56, TRK-03
func TestLateWriteOfTheLastLeader(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late match
		// follows waits until the next leader has acted, before the write arrives.
		follows func(f *fixture)
		answer  int
		pods    int
	}{
		"status":    {statusPut, func(f *fixture) { f.untilCounts("a", counts{active: 1, succeeded: 1}); f.untilReleasedBut(1) }, http.StatusConflict, 2},
		"finalizer": {podPatch, func(f *fixture) { f.untilReleasedBut(1) }, http.StatusOK, 2},
		"pod":       {podPost, func(f *fixture) { f.untilActive(2) }, http.StatusCreated, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			// The pod that is created too late is surplus until it is deleted.
			f.tolerated = []string{"S5", "S6"}
			leader, standby := f.startPair(steadyLease)
			var late *held
			if name == "pod" {
				late = leader.wire.hold(c.late)
			}
			f.create(newJob(indexed(2), backoffLimit(0), onNode))
			if name != "pod" {
				pods := f.untilActive(2)
				f.untilCounts("a", counts{active: 2})
				late = leader.wire.hold(c.late)
				f.kubelet.succeed(pods[0])
			}
			f.until("the write is under way", func() bool { return late.count() > 0 })
			leader.lease.severed.Store(true)
			f.until("the leader begins nothing more", func() bool { return strings.Contains(leader.log.String(), "Stopping") })
			f.untilLeading(standby)
			c.follows(f)
			answers := leader.wire.answered(c.late, c.answer)
			late.lift()
			f.until("the write arrives", func() bool { return leader.wire.answered(c.late, c.answer) > answers })
			f.kubelet.play(everySucceeds)
			f.wantIndexes(f.untilComplete("a", 2, 0), "0,1", none)
			f.wantPodsEver(c.pods)
			f.untilReleased()
		})
	}
}

// untilReleasedBut waits until n pods hold the tracking finalizer.
func (f *fixture) untilReleasedBut(n int) {
	f.t.Helper()
	f.untilPods(n, "tracked", history.IsTracked)
}

// Two leaders at once create all pods twice at the same time, and count the pods that fail, are retried, and succeed.
// Requirements: JOB-56
func TestTwoLeadersAtOnce(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]*batchv1.Job{
		"global limit":     newJob(indexed(6), parallelism(4), backoffLimit(20)),
		"limits per index": newJob(indexed(6), parallelism(4), perIndexLimit(20)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			// Each may create a pod that the other one has created too, even when the other one has ended the Job.
			f.tolerated = []string{"S5", "S6", "L2"}
			first, second := f.startController(), f.startController()
			f.untilWorking()
			holds := []*held{first.wire.hold(podPost), second.wire.hold(podPost)}
			f.create(job)
			f.until("both are about to create", func() bool { return holds[0].count() > 0 && holds[1].count() > 0 })
			for _, h := range holds {
				h.lift()
			}
			f.kubelet.play(func(_ *corev1.Pod, nth int) corev1.PodPhase {
				if nth%3 == 0 && nth < 12 {
					return corev1.PodFailed
				}
				return corev1.PodSucceeded
			})
			done := f.untilIs("a", batchv1.JobComplete)
			f.untilReleased()
			if got := countsOf(done); got.succeeded != 6 || done.Status.CompletedIndexes != "0-5" {
				t.Errorf("the Job counts %+v, and %q", got, done.Status.CompletedIndexes)
			}
		})
	}
}
