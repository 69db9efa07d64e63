package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// noRetry makes a controller that does not retry by itself within a test.
func noRetry(c *controller.Config) { c.RetryMin, c.RetryMax = time.Hour, time.Hour }

// failedSyncs returns the number of failed syncs.
func (p *process) failedSyncs() int { return strings.Count(p.log.String(), `"Sync failed`) }

// asking returns resource requests; a CPU quota requires them.
func asking(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
}

// quota limits the pods of the namespace, and waits until the API server enforces it. No quota controller runs, so the
// API server only increases the usage. The CPU limit appears in error messages, and shows which quota is in force.
func (f *fixture) quota(pods, cpu string) {
	f.t.Helper()
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods), corev1.ResourceRequestsCPU: resource.MustParse(cpu)}
	quotas := f.client.CoreV1().ResourceQuotas(f.namespace)
	_, err := quotas.Create(f.t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		f.t.Fatalf("creating the quota: %v", err)
	}
	assert.NoError(f.t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		q, err := quotas.Get(f.t.Context(), "pods", metav1.GetOptions{})
		if err != nil {
			return err
		}
		q.Spec.Hard = hard
		if q, err = quotas.Update(f.t.Context(), q, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if q.Status.Hard = hard; q.Status.Used == nil {
			q.Status.Used = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0"), corev1.ResourceRequestsCPU: resource.MustParse("0")}
		}
		_, err = quotas.UpdateStatus(f.t.Context(), q, metav1.UpdateOptions{})
		return err
	}), "setting the quota")
	f.until("the quota counts", func() bool {
		greedy := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "greedy"}, Spec: newJob().Spec.Template.Spec}
		greedy.Spec.Containers[0].Resources = asking("100")
		_, err := f.client.CoreV1().Pods(f.namespace).Create(f.t.Context(), greedy, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "limited: requests.cpu="+cpu)
	})
}

// A quota admits ten of a hundred pods: the first sync finds out with at most 15 calls, each later sync with a single
// call. When there is room, the Job continues.
// Requirements: JOB-45
func TestQuotaCostsFewCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.quota("10", "1")
	p := f.startController(noRetry)
	job := newJob(completions(100), parallelism(100))
	job.Spec.Template.Spec.Containers[0].Resources = asking("1m")
	f.create(job)
	pods := f.untilActive(10)
	f.untilCounts("a", counts{active: 10})
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 10, ready: 10})
	// A sync creates 1, 2, 4 and so on, so it makes at most one more failing call than it has created pods. A sync ends
	// when counts are due: on a slow machine, several may create pods. Another sync may be running.
	f.until("a sync that creates nothing makes one call in vain", func() bool { return p.failedSyncs() > 2 })
	if syncs, refused := p.failedSyncs(), p.wire.answered(podPost, http.StatusForbidden); refused > 10+syncs+1 {
		t.Errorf("%d calls in vain in %d syncs", refused, syncs)
	}
	if n := p.wire.answered(podPost, http.StatusCreated); n != 10 {
		t.Errorf("%d pods were created", n)
	}
	if n := len(p.wire.recorded(podPost)); n > 30 {
		t.Errorf("%d calls", n)
	}
	f.quota("200", "2")
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 100, 0)
	f.wantPodsEver(100)
}

// In a namespace that is being terminated no pod can be created. A sync tries one; the error is not retried, and the pod
// does not count as active. Existing pods continue.
// Requirements: JOB-46
func TestTerminatingNamespaceIsNoError(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController(f.telling)
	f.create(newJob(indexed(50), parallelism(2)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	assert.NoError(t, f.client.CoreV1().Namespaces().Delete(f.t.Context(), f.namespace, metav1.DeleteOptions{}))
	posts := len(p.wire.recorded(podPost))
	for i := range 5 {
		f.edit("a", map[string]any{"parallelism": 10 * (i + 1)})
		f.until("a creation is tried and refused", func() bool { return p.wire.answered(podPost, http.StatusForbidden) == i+1 })
	}
	f.kubelet.succeed(pods[0])
	f.untilCounts("a", counts{active: 1, ready: 1, succeeded: 1})
	f.untilPods(1, "tracked", history.IsTracked)
	if n := p.failedSyncs(); n != 0 {
		t.Errorf("%d syncs have failed, and will be tried again", n)
	}
	// Each edit, the end of the pod, and each status cause another attempt; nothing else does.
	if n := len(p.wire.recorded(podPost)) - posts; n > 15 {
		t.Errorf("%d creations were tried", n)
	}
	f.wantPodsEver(2)
}
