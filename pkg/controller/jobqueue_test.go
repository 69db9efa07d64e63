package controller

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Ending Jobs come first, each once, including Jobs that began to end while they waited.
// Requirements: SCL-17
func TestJobsThatEndComeFirst(t *testing.T) {
	ending := map[types.UID]bool{"c": true}
	config := Config{}
	config.setDefaults()
	queue := newJobQueue(config, func(job types.UID) bool { return ending[job] })
	defer queue.ShutDown()
	for _, job := range []types.UID{"a", "b", "c", "d", "e", "c"} {
		queue.Add(job)
	}
	ending["d"] = true
	for _, job := range []types.UID{"d", "b", "d"} {
		queue.Add(job)
	}
	var order []types.UID
	for queue.Len() > 0 && len(order) < 10 {
		job, _ := queue.Get()
		order = append(order, job)
		if job == "a" && !ending["a"] {
			ending["a"] = true
			queue.Add("a") // The Job is being synced: another sync follows.
		}
		queue.Done(job)
	}
	assert.SlicesEqual(t, order, []types.UID{"c", "d", "a", "a", "b", "e"})
}

// A Job whose sync fails is tried again after delays that double up to a limit; another Job has its own.
// Requirements: STV-22
func TestDelaysOfAFailingJobGrowForItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := Config{RetryMin: time.Second, RetryMax: 8 * time.Second}
		config.setDefaults()
		queue := newJobQueue(config, func(types.UID) bool { return false })
		defer queue.ShutDown()
		comes := func(job types.UID, after time.Duration) {
			t.Helper()
			begun := time.Now()
			queue.AddRateLimited(job)
			got, _ := queue.Get()
			queue.Done(got)
			assert.Equal(t, got, job, after.String())
			assert.Equal(t, time.Since(begun), after, string(job))
		}
		for _, after := range []time.Duration{1, 2, 4, 8, 8} {
			comes("a", after*time.Second)
		}
		comes("b", time.Second)
		queue.Forget("a")
		comes("a", time.Second)
	})
}

// A small Job creates its pods beside the calls of other small Jobs, and once all of them have ended, its calls come
// first. A large Job comes last, also when it ends.
// Requirements: SCL-17, SCL-09
func TestPriorityOfCalls(t *testing.T) {
	for _, c := range []struct {
		pods, ended     int
		creates, endsBy cluster.Priority
	}{{1, 1, cluster.Small, cluster.Ending}, {2, 1, cluster.Small, cluster.Small}, {minChanges + 1, minChanges + 1, cluster.Large, cluster.Large}} {
		f := newFakeCluster(t, nil)
		job := ourJob(int32(c.pods))
		f.addTrusted(job)
		f.syncs()
		assert.Equalf(t, f.priorities[0], c.creates, "%d pods: created with priority", c.pods)
		f.priorities = nil
		for _, pod := range slices.Collect(maps.Values(f.pods))[:c.ended] {
			ended := pod.DeepCopy()
			ended.Status.Phase, ended.ResourceVersion = corev1.PodSucceeded, "900"
			f.addPods(ended)
		}
		f.syncs()
		if len(f.priorities) == 0 || slices.ContainsFunc(f.priorities, func(p cluster.Priority) bool { return p != c.endsBy }) {
			t.Errorf("%d of %d pods ended: priorities %v, want %d", c.ended, c.pods, f.priorities, c.endsBy)
		}
	}
}
