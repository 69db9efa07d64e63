package controller

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-56: once the controller is to stop, no operation of a stage begins: earlier decisions must not undo the work of
// the next leader.
func TestShutdownBeginsNothing(t *testing.T) {
	release := []reconcile.PodRef{{Name: "a", UID: "uid-a"}, {Name: "b", UID: "uid-b"}, {Name: "c", UID: "uid-c"}}
	create := make([]reconcile.NewPod, 7)
	for i := range create {
		create[i].Index = reconcile.NoIndex
	}
	for name, c := range map[string]struct {
		plan   reconcile.Plan
		before bool
		calls  []string
	}{
		"at a release":        {reconcile.Plan{Release: release}, false, []string{"release ns/a@"}},
		"at a creation":       {reconcile.Plan{Create: create}, false, []string{"create"}},
		"before the stage":    {reconcile.Plan{Status: &batchv1.JobStatus{Active: 1}, Release: release, Create: create, Delete: release}, true, nil},
		"before an adoption":  {reconcile.Plan{Adopt: release}, true, nil},
		"before the last one": {reconcile.Plan{Release: release[:1], Disown: release[1:]}, false, []string{"release ns/a@"}},
	} {
		ctx, stop := context.WithCancel(t.Context())
		if c.before {
			stop()
		}
		f := newFakeCluster(t, nil)
		job := ourJob(7)
		f.addJob(job)
		f.addPods(runningPod("a", job), runningPod("b", job), runningPod("c", job))
		f.webhook = func(*corev1.Pod) { stop() }
		s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]why{}}
		if _, err := s.apply(ctx, &c.plan); err != nil || !slices.Equal(f.calls, c.calls) {
			t.Errorf("%s: %v, calls %q, want %q", name, err, f.calls, c.calls)
		}
		stop()
	}
}

// JOB-56: a call in flight when the controller is to stop is completed.
func TestShutdownFinishesCalls(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := newFakeCluster(t, nil)
	job := ourJob(1)
	f.addJob(job)
	var during error
	f.onCreate = func(ctx context.Context) error {
		stop()
		during = ctx.Err()
		return nil
	}
	s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]why{}}
	if _, err := s.apply(ctx, &reconcile.Plan{Create: []reconcile.NewPod{{Index: reconcile.NoIndex}}}); err != nil || during != nil || len(f.cache.Pods("uid")) != 1 {
		t.Errorf("%v, during the call %v, pods %v", err, during, f.cache.Pods("uid"))
	}
}

// limiterAtStop stops the process while calls wait for a token, which none of them gets.
type limiterAtStop struct {
	flowcontrol.RateLimiter
	stop func()
}

func (l limiterAtStop) Wait(ctx context.Context) error {
	l.stop()
	<-ctx.Done()
	return ctx.Err()
}

// Calls that wait for the client's rate limiter when the controller is to stop, or has lost its Lease, are not sent.
// Since nothing has failed, they lead to no errors, events or metrics.
// Requirements: JOB-56, JOB-66
func TestShutdownSendsNothingThatWaits(t *testing.T) {
	for name, plan := range map[string]reconcile.Plan{
		"a status":    {Status: &batchv1.JobStatus{Active: 1}},
		"creations":   {Create: []reconcile.NewPod{{Index: reconcile.NoIndex}, {Index: reconcile.NoIndex}}},
		"a deletion":  {Delete: []reconcile.PodRef{{Name: "a", UID: "uid-a"}}},
		"a release":   {Release: []reconcile.PodRef{{Name: "a", UID: "uid-a"}}},
		"all of them": {Status: &batchv1.JobStatus{Active: 1}, Create: []reconcile.NewPod{{Index: reconcile.NoIndex}}, Release: []reconcile.PodRef{{Name: "a", UID: "uid-a"}}},
	} {
		sent := atomic.Int32{}
		api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) }))
		ctx, stop := context.WithCancel(t.Context())
		client, err := kube.NewForConfig(&rest.Config{Host: api.URL, RateLimiter: limiterAtStop{stop: stop}})
		assert.NoError(t, err)
		f, registry := newMetered(t)
		events := &heard{}
		f.engine.config.Recorder = events
		live, err := cluster.NewLive(client, time.Minute, f.engine.config.Clock, nil)
		assert.NoError(t, err)
		f.engine.cluster = cluster.Metered(live.Cluster(8), f.engine.config.Metrics)
		job := ourJob(2)
		f.addJob(job)
		f.addPods(runningPod("a", job))
		s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]why{}}
		_, err = s.apply(ctx, &plan)
		if m := s.memory.get("uid"); err != nil || len(s.errs) > 0 || s.held || m.unanswered != nil || m.listPods {
			t.Errorf("%s: %v, %v, held %t, unanswered %v, to list pods %t", name, err, s.errs, s.held, m.unanswered, m.listPods)
		}
		if counts := counted(t, registry, ""); sent.Load() > 0 || len(events.texts) > 0 || len(counts) > 0 {
			t.Errorf("%s: sent %d requests, events %q, metrics %v", name, sent.Load(), events.texts, counts)
		}
		api.Close()
	}
}
