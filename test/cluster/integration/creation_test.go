package integration

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// failedSyncs returns the number of failed syncs.
func (p *process) failedSyncs() int { return strings.Count(p.log.String(), `"Sync failed`) }

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
	assert.Equal(t, p.failedSyncs(), 0)
	// Each edit, the end of the pod, and each status cause another attempt; nothing else does.
	if n := len(p.wire.recorded(podPost)) - posts; n > 15 {
		t.Errorf("%d creations were tried", n)
	}
	f.wantPodsEver(2)
}
