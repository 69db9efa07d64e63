package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

const patience = testcluster.Patience

// runTimeKey is the annotation for a pod's run time, terminationTimeKey for the time it takes to end after its deletion.
const (
	runTimeKey         = "kwok.batchjob.dev/run-time"
	terminationTimeKey = "kwok.batchjob.dev/termination-time"
)

// startController runs a separate controller for a test, until the test ends.
func startController(t *testing.T, args ...string) *testcluster.Process {
	t.Helper()
	return startControllerWith(t, nil, args...)
}

func startControllerWith(t *testing.T, environment []string, args ...string) *testcluster.Process {
	t.Helper()
	p, err := cluster.Launch(t.Context(), binary, environment, args...)
	assert.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the log of a controller:\n%s", p.Stderr.String())
		}
	})
	return p
}

// ownManager returns a managedBy value for one test.
func ownManager(namespace string) string { return "e2e.batchjob.dev/" + namespace }

// managedBy assigns a Job to the controller of one test.
func managedBy(namespace string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To(ownManager(namespace)) }
}

// stop ends a controller with SIGTERM, and returns its exit code.
func stop(t *testing.T, p *testcluster.Process) int {
	t.Helper()
	code, err := p.End()
	assert.NoError(t, err)
	return code
}

// kubectlBatchjob runs the binary, and waits until it ends.
func kubectlBatchjob(t *testing.T, args ...string) command.Result {
	t.Helper()
	r, err := command.Run(t.Context(), patience, "", binary, args...)
	assert.NoError(t, err, args)
	return r
}

// namespace creates a namespace for the test, with the service account that pods need.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := tenant.Namespace(t.Context(), client, metav1.ObjectMeta{GenerateName: "e2e-"})
	assert.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened in %s:\n%s", ns, past.Trace(ns))
		}
	})
	return ns
}

func eventually(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	testcluster.Eventually(t, what, condition)
}

// load reads the Jobs of an example file, and assigns Jobs without managedBy to our controller.
func load(t *testing.T, file string) (jobs []*batchv1.Job) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", file))
	assert.NoError(t, err)
	for _, document := range strings.Split(string(data), "\n---\n") {
		job := &batchv1.Job{}
		assert.NoError(t, yaml.UnmarshalStrict([]byte(document), job), file)
		if job.Spec.ManagedBy == nil {
			job.Spec.ManagedBy = ptr.To(reconcile.DefaultManagedBy)
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// apply creates the Job of an example file, with changes.
func apply(t *testing.T, ns, file string, changes ...func(*batchv1.Job)) *batchv1.Job {
	t.Helper()
	return create(t, ns, load(t, file)[0], changes...)
}

func create(t *testing.T, ns string, job *batchv1.Job, changes ...func(*batchv1.Job)) *batchv1.Job {
	t.Helper()
	for _, change := range changes {
		change(job)
	}
	job, err := client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{})
	assert.NoError(t, err)
	return job
}

// patchJob applies a merge patch to a Job.
func patchJob(t *testing.T, ns, name, patch string) {
	t.Helper()
	if _, err := client.BatchV1().Jobs(ns).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// deletePod deletes a pod with a grace period in seconds.
func deletePod(t *testing.T, pod *corev1.Pod, grace int64) {
	t.Helper()
	err := client.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &grace, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	assert.NoError(t, err)
}

// finished waits for the terminal condition, and returns the Job and the reason.
func finished(t *testing.T, ns, name string) (*batchv1.Job, string) {
	t.Helper()
	var job *batchv1.Job
	reason := ""
	eventually(t, "the end of "+name, func(ctx context.Context) (done bool, err error) {
		if job, err = client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		for _, c := range job.Status.Conditions {
			if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
				reason = string(c.Type) + "/" + c.Reason
			}
		}
		return reason != "", nil
	})
	return job, reason
}

func pods(t *testing.T, ns, job string) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	assert.NoError(t, err)
	return list.Items
}

// noFinalizers fails if a pod still holds the tracking finalizer.
func noFinalizers(t *testing.T, ns, job string) {
	t.Helper()
	for _, pod := range pods(t, ns, job) {
		assert.NotContains(t, strings.Join(pod.Finalizers, " "), batchv1.JobTrackingFinalizer, pod.Name)
	}
}
