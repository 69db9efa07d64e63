package integration

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// createWarned creates a Job, and returns the API server's warnings.
func (f *fixture) createWarned(job *batchv1.Job) (*batchv1.Job, string) {
	f.t.Helper()
	output := &warnings{}
	config := rest.CopyConfig(apiServer.Config)
	config.WarningHandler = output
	stored, err := newClient(f.t, config, "user").BatchV1().Jobs(f.namespace).Create(f.t.Context(), job, metav1.CreateOptions{})
	assert.NoError(f.t, err, "creating the Job")
	f.untilSeen(stored)
	return stored, strings.Join(output.texts, "\n")
}

// A Job larger than the API server recommends, in which all but the last few indexes have succeeded: they run, as many
// at once as parallelism allows, and the Job completes.
// Requirements: SCL-13
func TestJobLargerThanRecommendedCompletes(t *testing.T) {
	t.Parallel()
	const indexes, left = 100_001, 4
	f := newFixture(t)
	job, warning := f.createWarned(newJob(indexed(indexes), parallelism(10_001)))
	assert.Contains(t, warning, "completedIndexes", "the API server warns of")
	stored, err := writeStatus(t.Context(), f.client.BatchV1().Jobs(f.namespace), job, []statusEdit{started, func(s *batchv1.JobStatus) {
		s.CompletedIndexes, s.Succeeded = "0-99996", indexes-left
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}})
	assert.NoError(t, err, "writing the status")
	f.untilSeen(stored)
	f.startController()
	pods := f.untilActive(left)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: left, ready: left, succeeded: indexes - left})
	f.kubelet.fail(f.indexOfJob("a", indexes-1))
	f.untilPods(left, "active again", history.IsActive)
	f.kubelet.play(everySucceeds)
	assert.Equal(t, f.untilComplete("a", indexes, 1).Status.CompletedIndexes, "0-100000", "completedIndexes")
	f.wantPodsEver(left + 1)
}

// countingLimiter admits all calls, and counts them.
type countingLimiter struct {
	flowcontrol.RateLimiter
	waits atomic.Int64
}

func (l *countingLimiter) Wait(context.Context) error {
	l.waits.Add(1)
	return nil
}

// Every call of a sync passes the rate limiter of the controller's client; events have their own.
// Requirements: SCL-12, SCL-03
func TestCallsAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	limiter := &countingLimiter{RateLimiter: flowcontrol.NewFakeAlwaysRateLimiter()}
	config := rest.CopyConfig(apiServer.Config)
	config.RateLimiter = limiter
	p := f.startControllerAt(config)
	f.create(newJob(indexed(5)))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 5, 0)
	f.untilEvent("a", "Completed")
	p.stop()
	made := p.wire.recorded(func(c call) bool { return !c.watch })
	if writes := p.wire.recorded(anyWrite); int(limiter.waits.Load()) != len(made) || len(writes) < 10+2 {
		t.Errorf("%d calls were under the limit, of %d, %d of them writes", limiter.waits.Load(), len(made), len(writes))
	}
	for _, c := range made {
		if c.resource == "events" {
			t.Error("an event was under the limit")
		}
	}
}
