package controller

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// JOB-56: once the controller is to stop, no operation of a stage begins anymore: what the
// next leader does is not undone by what was decided before.
func TestShutdownBeginsNothing_JOB_56(t *testing.T) {
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
		s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]bool{}}
		if err := s.apply(ctx, &c.plan); err != nil || !slices.Equal(f.calls, c.calls) {
			t.Errorf("%s: %v, calls %q, want %q", name, err, f.calls, c.calls)
		}
		stop()
	}
}

// JOB-56: a call that is in flight when the controller is to stop is carried through.
func TestShutdownFinishesCalls_JOB_56(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := newFakeCluster(t, nil)
	job := ourJob(1)
	f.addJob(job)
	var during error
	pods := contextPods{fakePods{f}, func(ctx context.Context) {
		stop()
		during = ctx.Err()
	}}
	f.engine.cluster.Pods = pods
	s := &jobSync{Engine: f.engine, uid: "uid", job: job, skip: map[types.UID]bool{}}
	if err := s.apply(ctx, &reconcile.Plan{Create: []reconcile.NewPod{{Index: reconcile.NoIndex}}}); err != nil || during != nil || len(f.cache.Pods("uid")) != 1 {
		t.Errorf("%v, during the call %v, pods %v", err, during, f.cache.Pods("uid"))
	}
}

// contextPods shows the context of creations.
type contextPods struct {
	fakePods
	show func(context.Context)
}

func (p contextPods) Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.show(ctx)
	return p.fakePods.Create(ctx, pod)
}
