package integration

import (
	"reflect"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Pods get the schedulingGroup of the template, and no other object is created for it.
// Requirements: JOB-64
func TestSchedulingGroupIsPassedOn(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]jobOption{"NonIndexed": completions(2), "Indexed": indexed(2)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			group := &corev1.PodSchedulingGroup{PodGroupName: ptr.To("gang")}
			stored := f.create(newJob(mode, parallelism(2), func(s *batchv1.JobSpec) { s.Template.Spec.SchedulingGroup = group }))
			if !reflect.DeepEqual(stored.Spec.Template.Spec.SchedulingGroup, group) {
				t.Fatalf("the API server stored %v", stored.Spec.Template.Spec.SchedulingGroup)
			}
			for _, pod := range f.untilActive(2) {
				assert.DeepEqual(t, pod.Spec.SchedulingGroup, group, pod.Name)
			}
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 2, 0)
			for _, c := range p.wire.recorded(anyWrite) {
				if c.resource != "pods" && c.resource != "jobs/status" {
					t.Errorf("%s %s", c.method, c.resource)
				}
			}
		})
	}
}
