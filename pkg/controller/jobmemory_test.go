package controller

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// SCL-11: the memory of a Job with nothing left to do is freed after a while, not earlier.
func TestMemoryIsFreed_SCL_11(t *testing.T) {
	m := newMemory()
	begin := time.Unix(1_000_000, 0)
	for _, uid := range []types.UID{"a", "b"} {
		m.update(uid, func(j *jobMemory) { j.ours = true; j.status = &batchv1.JobStatus{} })
	}
	m.retire("a", begin)
	if j := m.get("a"); !j.ours || j.status != nil {
		t.Errorf("right after the end: %+v", j)
	}
	m.retire("nobody", begin.Add(keepRetired))
	if len(m.jobs) != 1 || !m.get("b").ours {
		t.Errorf("later: %v", m.jobs)
	}
}

// SCL-11, MGB-01: nothing is kept about Jobs of other controllers.
func TestTrustOnlyOwnJobs_SCL_11_MGB_01(t *testing.T) {
	e := NewEngine(Config{}, observe.NewCache(nil, nil, nil), cluster.Cluster{})
	e.Trust(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "foreign"}})
	e.Trust(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "ours"}, Spec: batchv1.JobSpec{ManagedBy: ptr.To(DefaultManagedBy)}})
	if _, err := e.Sync(t.Context(), "unknown"); err != nil {
		t.Error(err)
	}
	if len(e.memory.jobs) != 1 || e.memory.get("ours").status == nil {
		t.Errorf("%v", e.memory.jobs)
	}
}
