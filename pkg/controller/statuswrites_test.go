package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubemetrics "k8s.io/component-base/metrics"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// TRK-19: after a creation that may have succeeded despite its error, the pods are listed before anything else is
// created; after a creation that cannot have succeeded, they are not.
func TestPodsAreListedAfterAnAmbiguousCreation(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, c := range []struct {
		err   error
		lists int
	}{
		{apierrors.NewInternalError(errors.New("etcdserver: request timed out")), 1},
		{apierrors.NewTimeoutError("timed out", 1), 1},
		{apierrors.NewServerTimeout(pods, "create", 1), 1},
		{errors.New("connection reset"), 1},
		{fmt.Errorf("posting: %w", context.DeadlineExceeded), 1},
		{apierrors.NewForbidden(pods, "train", errors.New("exceeded quota")), 0},
		{apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "train", nil), 0},
		{apierrors.NewTooManyRequests("later", 1), 0},
		{apierrors.NewServiceUnavailable("no endpoints"), 0},
	} {
		r := refusing(t, func() error { return c.err })
		job := ourJob(1)
		r.addTrusted(job)
		if _, err := r.sync(); err == nil || r.did("create") != 1 || r.did("list") != c.lists {
			t.Errorf("%v: %v, calls %q", c.err, err, r.calls)
		}
		// The fake cluster returns no lists: until it returns one, nothing is created.
		if _, err := r.sync(); err == nil || r.did("create") != 1-c.lists || r.did("list") != c.lists {
			t.Errorf("%v, again: %v, calls %q", c.err, err, r.calls)
		}
	}
}

// A status write that was stored, but got no response, brings its back-off with it, although the failed pod is gone by
// then.
// Requirements: JOB-18
func TestUnansweredWriteKeepsItsBackoff(t *testing.T) {
	f := newFakeCluster(t, nil)
	job := ourJob(1)
	f.addTrusted(job)
	failed := runningPod("failed", job)
	failed.Status.Phase = corev1.PodFailed
	failed.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(testTime)},
	}}}
	f.addPods(failed)
	var sent *batchv1.Job
	f.statusErr, f.onStatus = errors.New("connection reset"), func(j *batchv1.Job) { sent = j.DeepCopy() }
	if _, err := f.engine.Sync(t.Context(), "uid"); err == nil || len(sent.Status.UncountedTerminatedPods.Failed) != 1 {
		t.Fatalf("%v, sent %+v", err, sent.Status)
	}
	sent.ResourceVersion = "50"
	f.addJob(sent)
	assert.NoError(t, f.cache.PodStore("").Delete(failed))
	f.statusErr, f.onStatus = nil, nil
	if _, err := f.engine.Sync(t.Context(), "uid"); err != nil {
		t.Fatal(err)
	}
	f.clock.Step(f.engine.config.BatchPeriod)
	result, err := f.engine.Sync(t.Context(), "uid")
	if err != nil || f.did("create") != 0 || f.cache.Job("uid").Status.Failed != 1 {
		t.Errorf("%v, calls %q, status %+v", err, f.calls, f.cache.Job("uid").Status)
	}
	if want := f.engine.config.Limits.Backoff.Base - f.engine.config.BatchPeriod; result.After != want {
		t.Errorf("%+v, want %v; remembered %+v", result, want, f.engine.memory.get("uid").backoff)
	}
}

// Each rejection of a status fails the sync, and is counted; one event reports the field, also if its value changes at each try. Once
// the API server accepts the status, the Job goes on.
// Requirements: STV-22
func TestRejectedStatusIsReportedOnce(t *testing.T) {
	f, events := newTalkingCluster(t)
	registry := kubemetrics.NewKubeRegistry()
	f.engine.config.Metrics = metrics.New(registry, f.clock)
	job := ourJob(0)
	f.addTrusted(job)
	for try := range 3 {
		wrong := field.ErrorList{field.Invalid(field.NewPath("status", "startTime"), try, "forged by the test")}
		f.statusErr = apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), job.Name, wrong)
		if _, err := f.sync(); !errors.Is(err, f.statusErr) {
			t.Errorf("try %d: %v", try, err)
		}
	}
	if len(events.texts) != 1 || !strings.HasPrefix(events.texts[0], "Warning StatusRejected: ") || !strings.Contains(events.texts[0], "status.startTime: Invalid value: 0: forged by the test") {
		t.Errorf("events %q", events.texts)
	}
	assert.Equal(t, counted(t, registry, "status_writes_rejected")["status_writes_rejected_total"], 3, "rejected")
	f.statusErr = nil
	f.syncs()
	assert.Equal(t, events.heard("Completed"), true, "the Job completes")
}
