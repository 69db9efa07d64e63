//go:build node

package node

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

const patience = 3 * time.Minute

// kubectl runs kubectl in a namespace to completion.
func kubectl(t *testing.T, ns string, args ...string) command.Result {
	t.Helper()
	return kubectlWith(t, "", ns, args...)
}

// kubectlWith is kubectl with input; an empty ns means no namespace flag.
func kubectlWith(t *testing.T, input, ns string, args ...string) command.Result {
	t.Helper()
	if ns != "" {
		args = append(slices.Clip(args), "-n", ns)
	}
	r, err := command.Run(t.Context(), patience, input, "kubectl", args...)
	if err != nil {
		t.Fatalf("kubectl %v: %v", args, err)
	}
	return r
}

// want runs `kubectl batchjob`, which must exit with this code and print all of the parts.
func want(t *testing.T, ns string, code int, parts []string, args ...string) string {
	t.Helper()
	r := kubectl(t, ns, append([]string{"batchjob"}, args...)...)
	if r.Code != code {
		t.Errorf("%v: exit code %d, want %d\n%s%s", args, r.Code, code, r.Out, r.ErrOut)
	}
	wantParts(t, strings.Join(args, " "), r.Out, parts)
	return r.Out
}

// wantParts checks that a text contains all parts, with any white space.
func wantParts(t *testing.T, what, output string, parts []string) {
	t.Helper()
	text := strings.Join(strings.Fields(output), " ")
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: it does not say %q:\n%s", what, part, output)
		}
	}
}

// namespace creates a namespace for a test, with restricted pod security, like the controller's namespace.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := tenant.Namespace(t.Context(), client, metav1.ObjectMeta{
		GenerateName: "node-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	})
	assert.NoError(t, err)
	t.Cleanup(func() { _ = client.CoreV1().Namespaces().Delete(context.Background(), ns, metav1.DeleteOptions{}) })
	return ns
}

func eventually(t *testing.T, what string, reached func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true,
		func(ctx context.Context) (bool, error) { return reached(ctx), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v\n%s", what, err, whatPodsSay())
	}
}

func job(t *testing.T, ns, name string) *batchv1.Job {
	t.Helper()
	job, err := client.BatchV1().Jobs(ns).Get(t.Context(), name, metav1.GetOptions{})
	assert.NoError(t, err)
	return job
}

func pods(ctx context.Context, t *testing.T, ns, selector string) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: selector})
	assert.NoError(t, err)
	return list.Items
}

// controllers returns the pods of the controller.
func controllers(ctx context.Context, t *testing.T) []corev1.Pod {
	t.Helper()
	return pods(ctx, t, system, "app.kubernetes.io/name=kubectl-batchjob,app.kubernetes.io/component=controller")
}

// twoReady waits until the Deployment is in its initial state, without additional pods, and returns its pods.
func twoReady(t *testing.T) []corev1.Pod {
	t.Helper()
	var now []corev1.Pod
	eventually(t, "two ready pods of the controller", func(ctx context.Context) bool {
		d, err := client.AppsV1().Deployments(system).Get(ctx, deployment, metav1.GetOptions{})
		now = controllers(ctx, t)
		return err == nil && settled(d) && len(now) == 2
	})
	return now
}

func settled(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == 2 &&
		d.Status.UpdatedReplicas == 2 && d.Status.AvailableReplicas == 2
}

// file returns the content of a file in /proc.
func file(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NoError(t, err)
	return string(data)
}
