package view

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// nightlyKey is the CronJob of these tests.
var nightlyKey = types.NamespacedName{Namespace: "ns1", Name: "nightly"}

// nightly returns a CronJob, and a Job of it that has failed.
func nightly() (*batchv1.CronJob, *unstructured.Unstructured) {
	job := clitest.WithCondition(clitest.SimpleJob("ns1", "nightly-1", 0), "Failed", "BackoffLimitExceeded", "")
	job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "u", Controller: ptr.To(true)}})
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "nightly", UID: "u"},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *"},
		Status:     batchv1.CronJobStatus{Active: []corev1.ObjectReference{{Name: "nightly-2"}}},
	}, job
}

// The view reads an open CronJob and its events, with the runs that its list of Jobs shows.
// Requirements: CRJ-13, CLI-09.
func TestViewReadsAnOpenCronJob(t *testing.T) {
	cronJob, job := nightly()
	api := newFakeLive(t, job, clitest.SimpleJob("ns1", "other", 1))
	s := startLive(t, api)
	s.source.Look(snapshot.Focus{CronJob: nightlyKey})
	if got := s.until("it is gone", func(got *snapshot.Snapshot) bool { return got.CronJob != nil }); got.CronJob.State != "Gone" {
		t.Errorf("%+v", got.CronJob)
	}
	api.api.Mu.Lock()
	api.api.CronJobs = append(api.api.CronJobs, cronJob)
	api.api.Mu.Unlock()
	api.api.Put(clitest.SimpleJob("ns1", "other", 2)) // A change of the list has the CronJob read again.
	got := s.until("it is there", func(got *snapshot.Snapshot) bool { return got.CronJob != nil && got.CronJob.Schedule != "" })
	if runs := got.CronJob.Runs; len(runs) != 1 || runs[0].Name != "nightly-1" || runs[0].State != "Failed" || got.Job != nil {
		t.Errorf("%+v", got.CronJob)
	}
	if n := api.requests("/cronjobs"); n == 0 || n != api.requests("/cronjobs/nightly") {
		t.Errorf("%q", api.asked)
	}
	s.source.Look(snapshot.Focus{})
	s.until("it is closed", func(got *snapshot.Snapshot) bool { return got.CronJob == nil })
	s.end()
}

// R, enter and y on a CronJob create the Job that run --from creates, and nothing before.
// Requirements: CRJ-15.
func TestViewRunsACronJob(t *testing.T) {
	cronJob, job := nightly()
	api := clitest.NewWrites(t, job)
	api.API.CronJobs = append(api.API.CronJobs, cronJob)
	s := startView(t, api.API)
	s.pressUntil("O", func() bool { return asked(api, "/cronjobs/nightly?") })
	if api.Named() != nil {
		t.Errorf("%q", api.Named())
	}
	s.pressUntil("R\ry", func() bool { return len(api.Named()) > 0 })
	s.end()
	var made batchv1.Job
	assert.NoError(t, json.Unmarshal([]byte(api.Bodies()[0]), &made))
	owner := metav1.GetControllerOf(&made)
	if api.Calls()[0] != "create jobs" || len(api.Calls()) != 1 || made.Annotations["cronjob.kubernetes.io/instantiate"] != "manual" || owner == nil || owner.UID != "u" {
		t.Errorf("%q %s", api.Named(), api.Bodies()[0])
	}
}

// The forms and keys that write are tried with lost answers, conflicts, without permission, and with an end of the view, at each of
// their writes.
// Requirements: CLI-81, CRJ-15, RTY-30, RTY-33, RTY-45, VIE-09
func TestFaultsAtEachWriteOfAForm(t *testing.T) {
	sweep := failedSweep()
	sweep.Object["spec"].(map[string]any)["template"] = map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{
		map[string]any{"name": "main", "image": "i", "resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}},
	}}}
	suspended := sweep.DeepCopy()
	suspended.Object["spec"].(map[string]any)["suspend"] = true
	with := func(job *unstructured.Unstructured) func(t *testing.T) *clitest.Writes {
		return func(t *testing.T) *clitest.Writes { return clitest.NewWrites(t, job) }
	}
	changes := func(change screen.Change) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		return write(func(_ *testing.T, ctx context.Context, r *retrier) error {
			return changer{r}.Apply(ctx, change, types.NamespacedName{Namespace: "ns1", Name: "sweep"}, string(sweep.GetUID()))
		})
	}
	for name, path := range map[string]clitest.WritingPath{
		"suspend": {Names: "sweep", New: with(sweep), Run: changes(screen.Suspend)},
		"resume":  {Names: "sweep", New: with(suspended), Run: changes(screen.Resume)},
		"delete":  {Names: "sweep", New: with(sweep), Run: changes(screen.Delete)},
		"retry": {Names: "sweep-retry-1", Fails: "lost request at create jobs", New: with(sweep), Run: form(func(t *testing.T, r *retrier) (*screen.RetryPlan, error) {
			found, err := r.Find(t.Context(), types.NamespacedName{Namespace: "ns1", Name: "sweep"})
			if err != nil {
				return nil, err
			}
			return found.Plan(nil)
		})},
		"memory": {Names: "sweep-retry-1", Fails: "lost request at create jobs", New: func(t *testing.T) *clitest.Writes {
			api, pod := clitest.NewWrites(t, sweep), clitest.EndedPod(sweep, "sweep-3", 137, "")
			pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "sweep"}
			pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "3"}
			pod.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
			pod.Spec.Containers = []corev1.Container{{Name: "main"}}
			api.Pods.Put(pod)
			return api
		}, Run: form(func(t *testing.T, r *retrier) (*screen.RetryPlan, error) {
			found, err := r.Find(t.Context(), types.NamespacedName{Namespace: "ns1", Name: "sweep"})
			if err != nil {
				return nil, err
			}
			return found.PlanMemory(nil, "x2")
		})},
		"CronJob": {Names: "nightly-", Fails: "lost request at create jobs", New: func(t *testing.T) *clitest.Writes {
			cronJob, _ := nightly()
			api := clitest.NewWrites(t)
			api.API.CronJobs = []*batchv1.CronJob{cronJob}
			return api
		}, Run: form(func(t *testing.T, r *retrier) (*screen.RetryPlan, error) {
			found, err := runner{r}.Find(t.Context(), nightlyKey)
			if err != nil {
				return nil, err
			}
			plan, err := found.Plan(nil)
			if err == nil && (len(plan.Warnings) != 1 || !strings.HasPrefix(plan.Name, "nightly-")) {
				t.Errorf("%+v", plan)
			}
			return plan, err
		})},
	} {
		t.Run(name, path.Try)
	}
}

// form returns a function that plans a form and creates its Job.
func form(plan func(*testing.T, *retrier) (*screen.RetryPlan, error)) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return write(func(t *testing.T, ctx context.Context, r *retrier) error {
		planned, err := plan(t, r)
		if err != nil {
			return err
		}
		return planned.Create(ctx)
	})
}

// write returns a function that writes as the view does.
func write(with func(*testing.T, context.Context, *retrier) error) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		kube := cmdutil.NewKubeFlags()
		kube.Kubeconfig = clitest.WriteKubeconfig(t, api.API.URL())
		config, err := cmdutil.RESTConfig(kube, io.Discard)
		assert.NoError(t, err)
		var out strings.Builder
		if err := with(t, ctx, &retrier{config: config, out: &out, now: clitest.Now}); err != nil {
			return out.String() + err.Error(), errors.Join(err, ctx.Err())
		}
		return out.String(), nil
	}
}

// A CronJob that does not exist is an error before the view takes the terminal.
// Requirements: CRJ-13.
func TestViewOfAnUnknownCronJob(t *testing.T) {
	cronJob, job := nightly()
	api := newFakeLive(t, job)
	kube := cmdutil.NewKubeFlags()
	kube.Kubeconfig = clitest.WriteKubeconfig(t, api.api.URL())
	live, err := OpenLive(0, kube, cmdutil.JobChoice{}, io.Discard, clitest.NewEnv())
	assert.NoError(t, err)
	if err := live.CheckCronJob(t.Context(), "nightly"); err == nil || !strings.Contains(cmdutil.ErrorLine(err), `cronjob "nightly" not found`) {
		t.Errorf("%v", err)
	}
	api.api.CronJobs = append(api.api.CronJobs, cronJob)
	if err := live.CheckCronJob(t.Context(), "nightly"); err != nil || live.Named("nightly") != nightlyKey {
		t.Errorf("%v, %s", err, live.Named("nightly"))
	}
}
