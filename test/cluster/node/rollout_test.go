//go:build node

package node

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The Deployment is rolled out again while a Job runs. The lead moves to a new pod, soon after the old leader released it, and the
// Job has neither too many nor too few pods. If the new pods are not ready together, as on a busy node, the Deployment stops the old
// ones one after the other: the lead may then move to the other old pod first.
func TestRolloutMovesTheLeadToANewPod(t *testing.T) {
	before := twoReady(t)
	unharmed := runLongJob(t)
	lead := followLease(t)
	started := time.Now()
	if r := kubectl(t, system, "rollout", "restart", "deployment", deployment); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	lead.one(t)
	after := twoReady(t)
	eventually(t, "a new leader", func(context.Context) bool {
		changes := lead.all()
		return !ledBy(changes[len(changes)-1].to, before)
	})
	changes := lead.all()
	for i, change := range changes {
		t.Logf("hand-over %d: nobody led for %.2f s; %.1f s after the rollout began", i+1, change.gap().Seconds(), time.Since(started).Seconds())
		wantReleased(t, change)
	}
	if last := changes[len(changes)-1]; len(changes) > len(before) || !ledBy(last.to, after) {
		t.Errorf("want a new pod to lead, after at most %d hand-overs: %+v", len(before), changes)
	}
	unharmed()
}

// ledBy reports whether the holder of the Lease is one of the pods.
func ledBy(holder string, pods []corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool { return strings.HasPrefix(holder, p.Name+"_") })
}

// runLongJob starts a Job of many short pods and waits until the first has succeeded. unharmed waits for the end of the
// Job and checks its result.
func runLongJob(t *testing.T) (unharmed func()) {
	t.Helper()
	const completions = 24
	ns := namespace(t)
	create(t, ns, indexed(newJob("long", "sleep 2"), completions, 3))
	eventually(t, "the first pod to succeed", func(context.Context) bool { return job(t, ns, "long").Status.Succeeded > 0 })
	return func() {
		t.Helper()
		if done := job(t, ns, "long").Status.Succeeded; done == completions {
			t.Error("the Job was over too soon to show anything")
		}
		wantComplete(t, ns, "long")
		status := job(t, ns, "long").Status
		if status.Succeeded != completions || status.Failed != 0 || status.CompletedIndexes != "0-23" || status.UncountedTerminatedPods != nil && len(status.UncountedTerminatedPods.Succeeded) > 0 {
			t.Errorf("the Job's status is %+v", status)
		}
		all := pods(t.Context(), t, ns, jobPods("long"))
		assert.Equal(t, len(all), completions)
		for _, pod := range all {
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				t.Errorf("pod %s was not let go", pod.Name)
			}
		}
	}
}

// Issue 7, point 1: the leader is killed without warning. The other pod takes over once the Lease has expired, the
// kubelet restarts the container, and the Job is unharmed.
func TestKilledLeaderIsReplaced(t *testing.T) {
	twoReady(t)
	unharmed := runLongJob(t)
	lead := followLease(t)
	leader := leaderPod(t)
	kill(t, leader)
	change := lead.one(t)
	t.Logf("nobody led for %.1f s", change.gap().Seconds())
	if ledBy(change.to, []corev1.Pod{*leader}) {
		t.Logf("the container that was started anew leads")
	}
	if change.gap() < change.expiry {
		t.Errorf("another pod led after %s, before the Lease expired", change.gap())
	}
	eventually(t, "the container to run again", func(ctx context.Context) bool {
		pod, err := client.CoreV1().Pods(system).Get(ctx, leader.Name, metav1.GetOptions{})
		return err == nil && pod.Status.ContainerStatuses[0].RestartCount == 1 && pod.Status.ContainerStatuses[0].Ready
	})
	unharmed()
}

// kill kills the process of a pod with SIGKILL, as the kernel does when memory is short.
func kill(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	for _, dir := range processesOf(t) {
		if !strings.Contains(file(t, filepath.Join(dir, "environ")), "HOSTNAME="+pod.Name+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		assert.NoError(t, err)
		assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		return
	}
	t.Fatalf("pod %s has no process", pod.Name)
}

// leaderPod returns the pod that holds the Lease.
func leaderPod(t *testing.T) *corev1.Pod {
	t.Helper()
	now, err := client.CoordinationV1().Leases(system).Get(t.Context(), lease, metav1.GetOptions{})
	assert.NoError(t, err)
	for _, pod := range controllers(t.Context(), t) {
		if ledBy(*now.Spec.HolderIdentity, []corev1.Pod{pod}) {
			return &pod
		}
	}
	t.Fatalf("no pod is %s", *now.Spec.HolderIdentity)
	return nil
}

// Issue 7, point 1: a drain evicts one pod at a time.
func TestDrainTakesOnePodAtATime(t *testing.T) {
	before := twoReady(t)
	eventually(t, "the PodDisruptionBudget to know its pods", func(ctx context.Context) bool {
		pdb, err := client.PolicyV1().PodDisruptionBudgets(system).Get(ctx, deployment, metav1.GetOptions{})
		return err == nil && pdb.Status.DisruptionsAllowed == 1
	})
	unharmed := runLongJob(t)
	lead := followLease(t)
	leader := leaderPod(t)
	assert.NoError(t, evict(t, leader.Name))
	for _, pod := range before {
		if pod.Name == leader.Name {
			continue
		}
		if err := evict(t, pod.Name); !apierrors.IsTooManyRequests(err) {
			t.Errorf("the other pod is evicted as well: %v", err)
		}
	}
	change := lead.one(t)
	t.Logf("nobody led for %.2f s", change.gap().Seconds())
	wantReleased(t, change)
	twoReady(t)
	unharmed()
}

func evict(t *testing.T, pod string) error {
	t.Helper()
	return client.PolicyV1().Evictions(system).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: system}})
}
