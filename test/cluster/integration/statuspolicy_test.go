package integration

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// rejections records status writes that the API server would have found invalid.
type rejections struct {
	*fault
	mu sync.Mutex
	at []time.Time
}

// invalidate rejects the status writes to a Job as the API server does: with the invalid field and its value, which
// contains a new time at each attempt.
func (w *wire) invalidate(job string) *rejections {
	r := &rejections{}
	r.fault = w.add(&fault{
		match: func(c call) bool { return statusPut(c) && c.name == job }, forges: true,
		disturb: func(func() (*http.Response, error)) (*http.Response, error) { return r.answer(job) },
	})
	return r
}

func (r *rejections) answer(job string) (*http.Response, error) {
	r.mu.Lock()
	r.at = append(r.at, time.Now())
	wrong := time.Unix(int64(len(r.at)), 0).UTC().Format(time.RFC3339)
	r.mu.Unlock()
	invalid := apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), job, field.ErrorList{
		field.Invalid(field.NewPath("status", "startTime"), wrong, "forged by the test"),
	})
	status := invalid.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	body, err := json.Marshal(status)
	response := forgedAnswer(http.StatusUnprocessableEntity)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

func (r *rejections) times() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]time.Time(nil), r.at...)
}

// A rejected status is retried after growing waits, reported once, and affects no other Job.
// Requirements: STV-22
func TestStatusIsRejected(t *testing.T) {
	t.Parallel()
	const retry = 50 * time.Millisecond
	f := newFixture(t)
	m := f.newMeter()
	p := f.startController(f.telling, m.counts, func(c *controller.Config) { c.RetryMin, c.Workers = retry, 1 })
	rejected := p.wire.invalidate("a")
	// Without pods, only the retries cause syncs.
	f.create(newJob(completions(1), parallelism(0)))
	f.until("the status is rejected", func() bool { return rejected.count() > 0 })
	f.create(named("b", newJob(completions(2))))
	f.kubelet.play(everySucceeds)
	f.untilComplete("b", 2, 0)
	f.until("the status is rejected again and again", func() bool { return len(rejected.times()) >= 4 })

	at := rejected.times()
	for i, wait := 1, retry; i < 4; i, wait = i+1, 2*wait {
		if waited := at[i].Sub(at[i-1]); waited < wait {
			t.Errorf("retry %d came after %v, want at least %v", i, waited, wait)
		}
	}
	if log := p.log.String(); !strings.Contains(log, "status.startTime: Invalid value") || !strings.Contains(log, "forged by the test") {
		t.Error("the log does not say which field is wrong")
	}
	rejected.lift()
	f.edit("a", map[string]any{"parallelism": 1})
	f.untilComplete("a", 1, 0)
	f.untilEvent("a", "Completed")
	e := f.untilEvent("a", "StatusRejected")
	if e.Type != corev1.EventTypeWarning || !strings.Contains(e.Message, "status.startTime") {
		t.Errorf("the event is %s %q", e.Type, e.Message)
	}
	if n := f.eventsOf("a", "StatusRejected"); n != 1 {
		t.Errorf("the rejection is told of %d times", n)
	}
	m.until(map[string]float64{"status_writes_rejected_total{}": float64(rejected.count())}, "status_writes_rejected_total")
}

// The controller writes only the status of a Job.
// Requirements: STV-24
func TestStatusWritesTouchNothingElse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	var created []*batchv1.Job
	for name, job := range map[string]*batchv1.Job{
		"completes": newJob(indexed(2), successPolicy(countSucceeds(2))),
		"fails":     withNames("0=Bad", newJob(withRules(1))),
		"waits":     newJob(suspended),
	} {
		job.Name, job.Labels = name, map[string]string{"team": "blue"}
		job.Finalizers = []string{foreignFinalizer}
		created = append(created, f.create(job))
	}
	f.kubelet.exit(1, f.podOf("fails"))
	f.kubelet.succeed(f.indexOfJob("completes", 0), f.indexOfJob("completes", 1))
	f.untilFinished("fails", batchv1.JobFailed, "PodFailurePolicy_Bad", 0, 1)
	f.untilFinished("completes", batchv1.JobComplete, batchv1.JobReasonSuccessPolicy, 2, 0)
	f.untilIs("waits", batchv1.JobSuspended)
	for _, before := range created {
		f.wantOnlyStatusOf(before, f.history.job(before.Name))
	}
}

// wantOnlyStatusOf checks that the controller wrote the status, and no other field.
func (f *fixture) wantOnlyStatusOf(before, after *batchv1.Job) {
	f.t.Helper()
	owned := 0
	for _, entry := range after.ManagedFields {
		if entry.Manager != controller.FieldManager {
			continue
		}
		owned++
		fields := map[string]any{}
		assert.NoError(f.t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		delete(fields, "f:status")
		if entry.Subresource != "status" || len(fields) > 0 {
			f.t.Errorf("Job %s: the controller owns %s through the subresource %q", after.Name, entry.FieldsV1.GetRawString(), entry.Subresource)
		}
	}
	if owned != 1 {
		f.t.Errorf("Job %s: the controller owns fields in %d entries, want 1", after.Name, owned)
	}
	before, after = before.DeepCopy(), after.DeepCopy()
	for _, job := range []*batchv1.Job{before, after} {
		job.Status, job.ManagedFields, job.ResourceVersion = batchv1.JobStatus{}, nil, ""
	}
	if !equality.Semantic.DeepEqual(before, after) {
		f.t.Errorf("Job %s was\n%+v\nand is\n%+v", after.Name, before, after)
	}
}

// A recorded pod is gone before its finalizer can be removed, and no watch delivers the deletion: the response to the
// patch is sufficient to count the pod.
// Requirements: TRK-10, TRK-30
func TestPodIsGoneBeforeItsRelease(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*kubelet, ...*corev1.Pod){"succeeded": (*kubelet).succeed, "failed": (*kubelet).fail} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			m := f.newMeter()
			p := f.startController(neverRetry, m.counts)
			f.create(newJob(completions(3), parallelism(2)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			removal := p.wire.hold(podPatch)
			ends(f.kubelet, pods[0])
			f.until("the pod is about to lose its finalizer", func() bool { return removal.count() > 0 })
			p.wire.freeze(watches("pods"))
			f.vanish(pods[0])
			removal.lift()
			f.untilJob("a", "has counted the pod", func(job *batchv1.Job) bool {
				return job.Status.Succeeded+job.Status.Failed == 1 && (job.Status.Succeeded == 1) == (name == "succeeded")
			})
			if n := p.wire.answered(podPatch, http.StatusNotFound); n != 1 {
				t.Errorf("%d patches found no pod, want 1", n)
			}
			assert.NotContains(t, p.log.String(), "Sync failed", "that the pod is gone is taken for a failure")
			m.until(map[string]float64{
				"terminated_pods_tracking_finalizer_total{event=add}":    1,
				"terminated_pods_tracking_finalizer_total{event=delete}": 1,
			}, "terminated_pods_tracking_finalizer_total")
			p.wire.thaw()
		})
	}
}
