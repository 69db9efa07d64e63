//go:build node

package node

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// answersDir is the environment variable with a folder for the evidence, as docs/explain.md and examples/real-node have it.
const answersDir = "BATCHJOB_ANSWERS"

// The commonest failures, with kubelet, containerd and the built-in controller, have their cause in the first lines of the answer.
// Requirements: CLI-04
func TestCommonFailuresAreExplained(t *testing.T) {
	t.Parallel()
	ns := shop(t)
	loop := newJob("sync-orders", `echo "connecting to orders-db:5432"; sleep 2; nc orders-db 5432`)
	loop.Spec.Template.Spec.RestartPolicy, loop.Spec.BackoffLimit = corev1.RestartPolicyOnFailure, ptr.To[int32](6)
	loop.Spec.Template.Spec.HostAliases = []corev1.HostAlias{{IP: "127.0.0.1", Hostnames: []string{"orders-db"}}}
	image := newJob("report", "true")
	image.Spec.Template.Spec.Containers[0].Image = "registry.shop.example/report:2.4"
	deadline := newJob("export", `echo "exported 100 of 5000 orders"; sleep 600`)
	deadline.Spec.ActiveDeadlineSeconds = ptr.To[int64](8)
	for _, c := range []struct {
		job *batchv1.Job
		// reason is the reason of the condition Failed, "" for a Job that does not end; parts are in the answer, the last to
		// come first.
		reason string
		parts  []string
	}{
		{loop, "", []string{"restarted 2 times", "Container main exited with code 1", "Connection refused"}},
		{limited(newJob("thumbnails", `echo "resizing 300 pictures"; x=0123456789abcdef; while :; do x=$x$x; done`), "24Mi"), batchv1.JobReasonBackoffLimitExceeded,
			[]string{"exited with code 137 (OOMKilled)", "24Mi", "resizing 300 pictures"}},
		{image, "", []string{"cannot be resolved", "Image registry.shop.example/report:2.4 of container main cannot be pulled"}},
		{deadline, batchv1.JobReasonDeadlineExceeded, []string{"activeDeadlineSeconds", "8s", "container main had run for"}},
	} {
		t.Run(c.job.Name, func(t *testing.T) {
			t.Parallel()
			create(t, ns, ofBuiltin(c.job))
			defer func() {
				if t.Failed() {
					t.Log(kubectl(t, ns, "batchjob", "why", c.job.Name).Out, kubectl(t, ns, "get", "events").Out, kubectl(t, ns, "get", "pods").Out)
				}
			}()
			if c.reason != "" {
				wantFailed(t, ns, c.job.Name, c.reason)
			} else {
				eventually(t, "the stall", func(context.Context) bool {
					return strings.Contains(kubectl(t, ns, "batchjob", "why", c.job.Name).Out, c.parts[0])
				})
			}
			want(t, ns, 0, c.parts, "why", c.job.Name)
			if dir := os.Getenv(answersDir); dir != "" {
				want(t, ns, 0, nil, "bundle", c.job.Name, "-f", filepath.Join(dir, c.job.Name+".tar.gz"))
			}
		})
	}
}

// A Job that its ttlSecondsAfterFinished deleted is explained by what is left of it.
// Requirements: CLI-74
func TestDeletedJobIsExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := ofBuiltin(newJob("import", "echo done"))
	j.Spec.TTLSecondsAfterFinished = ptr.To[int32](1)
	create(t, ns, j)
	eventually(t, "the end of the Job", func(ctx context.Context) bool {
		_, err := client.BatchV1().Jobs(ns).Get(ctx, j.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	r := kubectl(t, ns, "batchjob", "why", j.Name)
	wantParts(t, "why", r.ErrOut, []string{`job "import" not found`, "it completed", "ttlSecondsAfterFinished"})
	if dir := os.Getenv(answersDir); dir != "" {
		assert.NoError(t, os.WriteFile(filepath.Join(dir, "import.txt"), []byte(r.ErrOut), 0o644))
	}
}

// shop creates the namespace of the Jobs in the documentation.
func shop(t *testing.T) string {
	t.Helper()
	ns, err := tenant.Namespace(t.Context(), client, metav1.ObjectMeta{Name: "shop"})
	assert.NoError(t, err)
	t.Cleanup(func() { _ = client.CoreV1().Namespaces().Delete(context.Background(), ns, metav1.DeleteOptions{}) })
	return ns
}
