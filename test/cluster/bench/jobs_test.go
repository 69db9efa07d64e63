//go:build unix

package main

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestReached(t *testing.T) {
	status := func(s batchv1.JobStatus) *batchv1.Job { return &batchv1.Job{Status: s} }
	for name, c := range map[string]struct {
		reached func(*batchv1.Job) (bool, error)
		job     *batchv1.Job
		want    bool
	}{
		"failed":          {hasFailed(2), status(batchv1.JobStatus{Failed: 2}), true},
		"too few failed":  {hasFailed(2), status(batchv1.JobStatus{Failed: 1}), false},
		"not all counted": {hasFailed(2), status(batchv1.JobStatus{Failed: 2, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"a"}}}), false},
	} {
		if got, err := c.reached(c.job); got != c.want || err != nil {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

// Pods of the floor share no maps: changing one pod leaves the others unchanged.
func TestFloorPod(t *testing.T) {
	job := newJob(floor, 1, shape{2, true})
	job.UID, job.Spec.Template.Labels = "u", map[string]string{batchv1.ControllerUidLabel: "u"}
	first, second := floorPod(job, 0), floorPod(job, 1)
	if first.Labels[batchv1.JobCompletionIndexAnnotation] != "0" || second.Labels[batchv1.JobCompletionIndexAnnotation] != "1" || len(job.Spec.Template.Labels) != 1 {
		t.Errorf("labels %v, %v, %v", first.Labels, second.Labels, job.Spec.Template.Labels)
	}
	if owner := metav1.GetControllerOf(second); owner == nil || owner.UID != "u" || second.Finalizers[0] != batchv1.JobTrackingFinalizer {
		t.Errorf("got %+v", second.ObjectMeta)
	}
}

func TestOutcome(t *testing.T) {
	job := func(conditions ...batchv1.JobCondition) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: conditions}}
	}
	met := batchv1.JobCondition{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}
	for name, c := range map[string]struct {
		job      *batchv1.Job
		complete bool
		failed   bool
	}{
		"new":      {job(), false, false},
		"interim":  {job(met), false, false},
		"complete": {job(met, batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}), true, false},
		"false":    {job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionFalse}), false, false},
		"failed":   {job(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}), false, true},
	} {
		if complete, err := outcome(c.job); complete != c.complete || (err != nil) != c.failed {
			t.Errorf("%s: got %v, %v", name, complete, err)
		}
	}
}

func TestParseOptions(t *testing.T) {
	o, err := parseOptions([]string{"--only", "floor,latency", "--idle-jobs", "3", "--", "-v=3", "--workers=1"})
	if err != nil || !o.runs(partFloor) || o.runs(partThroughput) || !o.runs(partThroughput, partFloor) || o.idleJobs != 3 || len(o.controllerArgs) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, args := range []string{"--only=speed", "--rounds=-1", "--huge-pods=0", "--huge-rounds=0", "--idle-jobs=0", "--idle-job-pods=0", "--idle-pods=0"} {
		if _, err := parseOptions([]string{args}); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
