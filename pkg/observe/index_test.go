package observe

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// TestIndexesAgreeWithTheRows creates pods, changes their owners, labels and phases, and removes them, by events, by
// the caller's writes and by lists: every index matches the rows.
func TestIndexesAgreeWithTheRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		foreign := rapid.Bool().Draw(t, "k is another controller's")
		c := NewCache(nil, func(job *batchv1.Job) bool { return !foreign || job.UID != "k" }, &recorder{})
		pods, jobs := c.PodStore(""), c.JobStore("")
		version := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			version++
			pod := drawPod(t, version)
			job := testJob(types.UID(rapid.SampledFrom([]string{"j", "k"}).Draw(t, "a Job")), nil)
			job.ResourceVersion = fmt.Sprint(version)
			switch rapid.SampledFrom([]string{"event", "event", "event", "write", "gone", "missing", "relist", "list", "job", "no job"}).Draw(t, "step") {
			case "event":
				_ = pods.Update(pod)
			case "write":
				c.WrotePod(pod)
			case "gone":
				_ = pods.Delete(pod)
			case "missing":
				c.PodMissing("j", "ns", pod.UID)
			case "relist":
				_ = pods.Replace([]any{pod}, fmt.Sprint(version))
			case "list":
				c.ListedPods(job, []corev1.Pod{*pod}, fmt.Sprint(version))
			case "job":
				_ = jobs.Update(job)
			case "no job":
				_ = jobs.Delete(job)
			}
			if problem := inconsistency(c); problem != "" {
				t.Fatal(problem)
			}
		}
	})
}

func drawPod(t *rapid.T, version int) *corev1.Pod {
	owner := types.UID(rapid.SampledFrom([]string{"", "", "j", "k"}).Draw(t, "owner"))
	phase := rapid.SampledFrom([]corev1.PodPhase{corev1.PodRunning, corev1.PodFailed}).Draw(t, "phase")
	pod := testPod(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"), owner, version, phase)
	labeled(pod, rapid.SampledFrom([]string{"", "uid=j", "uid=k", "app=x"}).Draw(t, "labels"))
	if rapid.Bool().Draw(t, "made") {
		made(pod)
	}
	if rapid.IntRange(0, 9).Draw(t, "deleting") == 0 {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(at(1)), ptr.To[int64](30)
	}
	return pod
}

// inconsistency returns a difference between an index and the rows.
func inconsistency(c *Cache) string {
	byJob, strays, active, lost, odd := map[types.UID]int{}, 0, map[types.UID]int{}, map[types.UID]int{}, map[types.UID]int{}
	for k, row := range c.pods.rows {
		r := row.value
		if r.job != "" {
			byJob[r.job]++
			if r.more != nil {
				odd[r.job]++
			}
			if c.byJob[r.job] == nil || c.byJob[r.job].rows[r.at] != row || c.byJob[r.job].pods[r.at] != r.pod {
				return fmt.Sprintf("%v is not at %d of Job %s", k, r.at, r.job)
			}
		}
		if r.isStray() {
			strays++
			lost[r.job]++
			if c.strays[r.more.namespace][types.UID(r.more.labels[batchv1.ControllerUidLabel])][r.more.strayAt] != row {
				return fmt.Sprintf("stray %v is not at %d", k, r.more.strayAt)
			}
		} else if r.pod.IsActive() {
			active[r.job]++
		}
	}
	for job, of := range c.byJob {
		if len(of.rows) != byJob[job] || of.active != active[job] || of.strays != lost[job] || of.odd != odd[job] || len(of.rows) == 0 && of.listed == "" {
			return fmt.Sprintf("Job %s: %+v, want %d pods, %d active", job, of, byJob[job], active[job])
		}
	}
	for _, byLabel := range c.strays {
		for _, rows := range byLabel {
			if strays -= len(rows); len(rows) == 0 {
				return "an empty list is kept"
			}
		}
	}
	if strays != 0 {
		return fmt.Sprintf("the index has %d strays too few", strays)
	}
	return ""
}
