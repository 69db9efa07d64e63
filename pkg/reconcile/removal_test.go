package reconcile

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-12: of two pods, the less advanced is removed: each row is decided by one property, whatever the later properties
// in the list.
func TestLeastAdvancedGoes(t *testing.T) {
	// The properties in their order, each as in the less and in the more advanced pod.
	properties := []struct {
		name       string
		less, more func(*Pod)
	}{
		{"scheduled", func(p *Pod) { p.Scheduled = false }, func(p *Pod) { p.Scheduled = true }},
		{"Pending, not Unknown", inPhase(corev1.PodPending), inPhase(corev1.PodUnknown)},
		{"ready", func(p *Pod) { p.Ready = false }, ready},
		{"ready for longer", func(p *Pod) { p.ReadySince = now.Add(-time.Minute) }, func(p *Pod) { p.ReadySince = now.Add(-time.Hour) }},
		{"restarts", restarted(2), restarted(1)},
		{"older", func(p *Pod) { p.CreatedAt = now.Add(-time.Minute) }, func(p *Pod) { p.CreatedAt = now.Add(-time.Hour) }},
		{"name", func(p *Pod) { p.Name, p.UID = "z", "z" }, func(p *Pod) { p.Name, p.UID = "a", "a" }},
	}
	check := func(name string, less, more []func(*Pod)) {
		for _, swapped := range []bool{false, true} {
			o := observeJob(sized(1, 1))
			o.with("a", less...).with("b", more...)
			if o.Pods[0].Name == o.Pods[1].Name {
				t.Fatalf("%s: two pods %s", name, o.Pods[0].Name)
			}
			want := "release " + o.Pods[0].Name
			if swapped {
				o.Pods[0], o.Pods[1] = o.Pods[1], o.Pods[0]
			}
			assert.Equal(t, planText(o.compute()), want, name)
		}
	}
	for i, property := range properties {
		less, more := []func(*Pod){property.less}, []func(*Pod){property.more}
		for _, later := range properties[i+1:] {
			less, more = append(less, later.more), append(more, later.less)
		}
		if property.name == "ready for longer" {
			less, more = append(less, isReady), append(more, isReady)
		}
		check(property.name, less, more)
	}
	other := func(p *Pod) { p.Name, p.UID = "other", "other" }
	check("Unknown, not Running", []func(*Pod){inPhase(corev1.PodUnknown), ready, other}, []func(*Pod){inPhase(corev1.PodRunning)})
	check("Pending, not Running", []func(*Pod){inPhase(corev1.PodPending), ready, other}, []func(*Pod){inPhase(corev1.PodRunning)})
}

func isReady(p *Pod) { p.Ready = true }

// JOB-12: from five pods to two, the three least advanced are removed; from two to five, none.
func TestLoweredParallelismRemovesTheLeastAdvanced(t *testing.T) {
	five := func(parallelism int32) *observed {
		return observeJob(sized(9, parallelism), activePods(5)).
			with("ready", ready).with("running").with("unknown", inPhase(corev1.PodUnknown)).
			with("pending", inPhase(corev1.PodPending)).with("unscheduled", inPhase(corev1.PodPending), func(p *Pod) { p.Scheduled = false })
	}
	order := []string{"unscheduled", "pending", "unknown", "running", "ready"}
	for n := range int32(6) {
		plan := five(n).compute()
		if len(plan.Release) != int(5-n) || len(plan.Findings.Excess) != int(5-n) {
			t.Errorf("to %d: %s", n, planText(plan))
		}
		for _, r := range plan.Release {
			assert.Contains(t, strings.Join(order[:5-n], " "), r.Name, n)
			if r.ResourceVersion == "" {
				t.Errorf("%s may end at this moment", r.Name)
			}
		}
	}
	if plan := five(7).compute(); len(plan.Create) != 2 || len(plan.Release) != 0 {
		t.Error(planText(plan))
	}
}

// JOB-08: pods without an index, with an index out of range, or with an ended index, and the less advanced of two pods
// of one index, are removed, and nothing is created before they are gone.
func TestMisfitsGoBeforeAnythingIsCreated(t *testing.T) {
	for name, o := range map[string]*observed{
		"no index":          observeJob(indexed(3, 3)).with("x").with("a", index(0)),
		"out of range":      observeJob(indexed(3, 3)).with("x", index(3)).with("a", index(0)),
		"completed":         observeJob(indexed(3, 3), endedIndexes("1", 1, ""), noFailedIndexes).with("x", index(1)).with("a", index(0)),
		"failed":            observeJob(indexed(3, 3), perIndex(0), endedIndexes("", 0, "1")).with("x", index(1)).with("a", index(0)),
		"twice":             observeJob(indexed(3, 3)).with("x", index(0), inPhase(corev1.PodPending)).with("a", index(0)),
		"twice, both ready": observeJob(indexed(3, 3)).with("x", index(0), ready, restarted(1)).with("a", index(0), ready),
		"three times":       observeJob(indexed(3, 3)).with("x", index(0)).with("a", index(0), ready).with("x2", index(0)),
	} {
		plan := o.compute()
		for _, r := range plan.Release {
			if r.Name == "a" || r.ResourceVersion == "" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if want := len(o.Pods) - 1; len(plan.Release) != want || len(plan.Findings.Misfits) != want || len(plan.Create) != 0 {
			t.Errorf("%s: %s", name, planText(plan))
		}
		// A pod that cannot be removed takes up space, but does not delay other pods.
		names := []string{}
		for _, r := range plan.Release {
			names = append(names, r.Name)
		}
		left := 3 - len(o.Pods)
		if name == "completed" || name == "failed" {
			left--
		}
		if plan = o.skip(names...).compute(); len(plan.Create) != max(0, left) || len(plan.Release) != 0 {
			t.Errorf("%s, which stays: %s", name, planText(plan))
		}
	}
}

// JOB-07: the lowest indexes that have neither ended nor have a pod come first.
func TestLowestIndexesComeFirst(t *testing.T) {
	observeJob(indexed(9, 3)).want(t, "create 0; create 1; create 2")
	observeJob(indexed(9, 4), endedIndexes("0,3", 2, ""), noFailedIndexes).with("a", index(1)).with("b", index(4)).
		want(t, "create 2; create 5")
	observeJob(indexed(4, 3), endedIndexes("1,2", 2, ""), noFailedIndexes).with("a", index(0)).want(t, "create 3")
	// An index that has failed before comes before indexes that have not begun.
	observeJob(indexed(9, 2), counters(0, 1)).with("f", index(0), failedPod(1, time.Hour), untracked).with("a", index(1)).want(t, "create 0")
}
