package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// heard is a recorder that keeps events as "kind reason: message".
type heard struct {
	mu    sync.Mutex
	texts []string
}

func (h *heard) Event(_ runtime.Object, kind, reason, message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.texts = append(h.texts, fmt.Sprintf("%s %s: %s", kind, reason, message))
}

func (h *heard) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	h.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

func (h *heard) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	h.Eventf(about, kind, reason, format, args...)
}

func (h *heard) heard(reason string) bool {
	return slices.ContainsFunc(h.texts, func(text string) bool { return strings.Contains(text, " "+reason+": ") })
}

// want checks the events since the last call.
func (h *heard) want(t *testing.T, what string, texts ...string) {
	t.Helper()
	if !slices.Equal(h.texts, texts) {
		t.Errorf("%s: said\n%s\nwant\n%s", what, strings.Join(h.texts, "\n"), strings.Join(texts, "\n"))
	}
	h.texts = nil
}

// talkingCluster is a fake cluster with a recorder.
type talkingCluster struct {
	*fakeCluster
	clock *clocktesting.FakeClock
}

func newTalkingCluster(t *testing.T) (talkingCluster, *heard) {
	events, clock := &heard{}, clocktesting.NewFakeClock(testTime)
	return talkingCluster{newFakeCluster(t, func(c *Config) { c.Recorder, c.Clock = events, clock }), clock}, events
}

// setAPI puts an API between the Engine and the fake cluster.
func (f talkingCluster) setAPI(jobs cluster.JobAPI, pods cluster.PodAPI) {
	f.engine = NewEngine(f.engine.config, f.cache, cluster.Cluster{Jobs: jobs, Pods: pods, List: f, Parallel: f.parallel})
}

// sync syncs the Job as soon as another status write is allowed.
func (f talkingCluster) sync() error {
	f.clock.Step(f.engine.config.BatchPeriod)
	_, err := f.engine.Sync(f.t.Context(), "uid")
	return err
}

// faultyJobs stores a status unless there is an error.
type faultyJobs struct {
	fakeJobs
	err *error
}

func (f faultyJobs) UpdateStatus(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	if *f.err != nil {
		return nil, *f.err
	}
	return f.fakeJobs.UpdateStatus(ctx, job)
}

// faultyPods creates and deletes pods unless there is an error.
type faultyPods struct {
	fakePods
	create func(pod *corev1.Pod) error
	remove func(ref reconcile.PodRef) error
}

func (f faultyPods) Create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if err := f.create(pod); err != nil {
		return nil, err
	}
	return f.fakePods.Create(ctx, pod)
}

func (f faultyPods) Delete(ctx context.Context, namespace string, ref reconcile.PodRef) (*corev1.Pod, error) {
	if err := f.remove(ref); err != nil {
		return nil, err
	}
	return f.fakePods.Delete(ctx, namespace, ref)
}
