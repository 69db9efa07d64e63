//go:build node

package node

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// needs is a script that holds so many bytes of memory in a child process, and fails with 1 if that is killed.
func needs(bytes string) string {
	return `set -o pipefail; head -c ` + bytes + ` /dev/zero | tail -c ` + bytes + ` | wc -c || exit 1`
}

// ofBuiltin makes the built-in controller run the Job.
func ofBuiltin(j *batchv1.Job) *batchv1.Job {
	j.Spec.ManagedBy = nil
	return j
}

// manifestOf returns the Job as a manifest.
func manifestOf(t *testing.T, j *batchv1.Job) string {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(j)
	assert.NoError(t, err)
	object["apiVersion"], object["kind"] = "batch/v1", "Job"
	delete(object, "status")
	text, err := yaml.Marshal(object)
	assert.NoError(t, err)
	return string(text)
}

// One index needs ten times the memory of the others, and gets it in steps, with the built-in controller.
// Requirements: RUN-20
func TestIndexThatNeedsMoreMemoryGetsIt(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	script := `[ "$JOB_COMPLETION_INDEX" = 7 ] && bytes=200000000 || bytes=10000000; ` + needs(`"$bytes"`)
	j := ofBuiltin(limited(indexed(newJob("shards", script), 8, 4), "64Mi"))
	j.Spec.BackoffLimit, j.Spec.BackoffLimitPerIndex = nil, ptr.To[int32](0)
	r := kubectlWith(t, manifestOf(t, j), ns, "batchjob", "run", "-f", "-", "--logs=none", "--retry", "3", "--on-oom", "memory=x2,max=1Gi", "--timeout", untilEnd)
	if r.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", r.Code, r.Out, r.ErrOut)
	}
	wantParts(t, "run", r.ErrOut, []string{"gets 128Mi of memory instead of 64Mi", "gets 256Mi of memory instead of 128Mi"})
	if last := job(t, ns, "shards-retry-2"); last.Spec.Template.Spec.Containers[0].Resources.Limits.Memory().String() != "256Mi" {
		t.Errorf("%+v", last.Spec.Template.Spec.Containers[0].Resources)
	}
}

// A child process that the kernel kills is evidence, whether its parent is killed with it or exits by itself.
// Requirements: RTY-42, RTY-44
func TestKilledChildIsOutOfMemory(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, limited(newJob("child", needs("100000000")), "32Mi"))
	wantFailed(t, ns, "child", batchv1.JobReasonBackoffLimitExceeded)
	want(t, ns, 0, []string{"job.batch/child-retry-1"}, "retry", "child", "--cause", "OOMKilled", "--memory", "x8", "--wait", "--timeout", untilEnd)
}

// A Job that runs gets more memory, and completes under its name.
// Requirements: RTY-47
func TestRunningJobGetsMoreMemory(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job) *batchv1.Job{"built-in": ofBuiltin, "ours": func(j *batchv1.Job) *batchv1.Job { return j }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			j := change(limited(indexed(newJob("shards", `[ "$JOB_COMPLETION_INDEX" = 0 ] && exit; `+needs("100000000")), 2, 2), "32Mi"))
			j.Spec.BackoffLimit, j.Spec.BackoffLimitPerIndex = nil, ptr.To[int32](100)
			create(t, ns, j)
			eventually(t, "an index that ran out of memory", func(context.Context) bool {
				return job(t, ns, "shards").Status.CompletedIndexes == "0" && slices.ContainsFunc(pods(t.Context(), t, ns, jobPods("shards")), func(p corev1.Pod) bool {
					return p.Status.Phase == corev1.PodFailed
				})
			})
			uid := job(t, ns, "shards").UID
			want(t, ns, 0, []string{"job.batch/shards resource requirements updated"}, "retry", "shards", "--in-place", "--memory", "x8", "--wait", "--timeout", untilEnd)
			if done := job(t, ns, "shards"); done.UID != uid || done.Status.CompletedIndexes != "0,1" {
				t.Errorf("%+v", done.Status)
			}
		})
	}
}

// The Eviction API, by which kubectl drain works, takes a pod; a rule ignores that, and the section Disruptions shows it.
// Requirements: CLI-80
func TestDrainIsShown(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job) *batchv1.Job{"built-in": ofBuiltin, "ours": func(j *batchv1.Job) *batchv1.Job { return j }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			j := change(newJob("long", "sleep 600"))
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}}
			j.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](20) // sleep ignores SIGTERM.
			create(t, ns, j)
			var victim string
			eventually(t, "a running pod", func(ctx context.Context) bool {
				for _, p := range pods(ctx, t, ns, jobPods("long")) {
					if p.Status.Phase == corev1.PodRunning {
						victim = p.Name
						return true
					}
				}
				return false
			})
			err := client.PolicyV1().Evictions(ns).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: victim, Namespace: ns}})
			assert.NoError(t, err)
			// The pod shows it until it is gone; of a Job of ours, an event does after that.
			eventually(t, "the eviction in the explanation", func(context.Context) bool {
				d := explained(t, ns, "long").Disruptions
				return d != nil && d.Pods == 1 && d.By[0].Kind == meaning.EndEvicted
			})
			if name == "ours" {
				want(t, ns, 0, []string{"Disruptions: 1 pod", "Evicted through the Eviction API, as by kubectl drain"}, "why", "long", "--full")
			}
		})
	}
}
