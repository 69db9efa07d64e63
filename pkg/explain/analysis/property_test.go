package analysis_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Any Job has a report, which does not depend on the order in which pods and events were read, and whose numbers agree.
// Requirements: CLI-01, CLI-04
func TestNumbersOfAnyReportAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice{t}
		f, o := d.facts(), d.options()
		r := analysis.Explain(f, o)
		_ = analysis.LogTargets(f, o, 3)
		turned := f
		turned.Pods, turned.Events = slices.Clone(f.Pods), slices.Clone(f.Events)
		slices.Reverse(turned.Pods)
		slices.Reverse(turned.Events)
		before, after := marshal(t, r), marshal(t, analysis.Explain(turned, o))
		if before != after {
			t.Errorf("another order, another report:\n%s\n%s", before, after)
		}
		var back explain.Report
		if err := json.Unmarshal([]byte(before), &back); err != nil {
			t.Fatal(err)
		}
		if again := marshal(t, back); again != before {
			t.Errorf("it is another report when it is read back:\n%s\n%s", before, again)
		}
		checkIndexes(t, r.Indexes, f.PodsRead)
		checkCounts(t, r)
	})
}

func marshal(t *rapid.T, r explain.Report) string {
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkIndexes fails unless every index is in exactly one list, and the counts are the lengths of the lists; without pods,
// only ended indexes are in a list.
func checkIndexes(t *rapid.T, x *explain.Indexes, podsRead bool) {
	if x == nil {
		return
	}
	seen := map[int32]string{}
	for _, list := range []struct {
		name, indexes string
		count         int32
	}{
		{"completed", x.Completed, x.CompletedCount}, {"failed", x.Failed, x.FailedCount}, {"active", x.Active, x.ActiveCount},
		{"terminating", x.Terminating, x.TerminatingCount}, {"backing off", x.BackingOff, x.BackingOffCount}, {"pending", x.Pending, x.PendingCount}, {"unknown", x.Unknown, x.UnknownCount},
	} {
		set, err := indexset.Parse(list.indexes)
		if err != nil || set.Len() != int(list.count) {
			t.Errorf("%s is %q (%v), and has %d", list.name, list.indexes, err, list.count)
		}
		for i := range set.All() {
			if seen[i] != "" {
				t.Errorf("index %d is %s and %s", i, seen[i], list.name)
			}
			seen[i] = list.name
		}
	}
	if !podsRead && x.ActiveCount+x.TerminatingCount+x.BackingOffCount+x.PendingCount > 0 {
		t.Errorf("without pods it tells what they do: %+v", x)
	}
	if podsRead && len(seen) != int(x.Total) {
		t.Errorf("%d of %d indexes are told: %+v", len(seen), x.Total, x)
	}
	checkPendingIndexes(t, x)
	checkLiveIndexes(t, x)
	for _, info := range x.Details {
		if info.Attempt < 0 || info.Attempts < 0 || info.Failures < 0 || info.Ignored < 0 {
			t.Errorf("%+v", info)
		}
	}
}

// checkPendingIndexes fails unless each pending index has exactly one reason.
func checkPendingIndexes(t *rapid.T, x *explain.Indexes) {
	all := indexset.Set{}
	for list, count := range map[string]int32{x.NotStarted: x.NotStartedCount, x.Retrying: x.RetryingCount, x.WillNotComplete: x.WillNotCompleteCount} {
		part, err := indexset.Parse(list)
		if err != nil || list != "" && part.Len() != int(count) {
			t.Errorf("%q (%v) has %d", list, err, count)
		}
		all = all.Union(part)
	}
	if all.String() != x.Pending || x.NotStartedCount+x.RetryingCount+x.WillNotCompleteCount != x.PendingCount {
		t.Errorf("pending %q, divided into %q: %+v", x.Pending, all, x)
	}
}

// checkLiveIndexes fails unless ready indexes are active, and indexes out of range are beyond the completions.
func checkLiveIndexes(t *rapid.T, x *explain.Indexes) {
	active, _ := indexset.Parse(x.Active)
	ready, err := indexset.Parse(x.Ready)
	if err != nil || !ready.Difference(active).IsEmpty() || ready.Len() != int(x.ReadyCount) {
		t.Errorf("ready %q (%d) of active %q: %v", x.Ready, x.ReadyCount, x.Active, err)
	}
	beyond, err := indexset.Parse(x.OutOfRange)
	if err != nil || !beyond.Intersection(indexset.Below(x.Total)).IsEmpty() || beyond.Len() != int(x.OutOfRangeCount) {
		t.Errorf("out of range %q (%d) of %d: %v", x.OutOfRange, x.OutOfRangeCount, x.Total, err)
	}
}

func checkCounts(t *rapid.T, r explain.Report) {
	c := &r.Counts
	numbers := []int32{c.Active, c.Succeeded, c.Failed, c.UncountedFailed, c.UncountedSucceeded, c.IgnoredFailures, c.AwaitReplacement, r.FailuresWithoutPod, r.PodsOmitted}
	for _, p := range []*int32{c.Pods, c.FailedPods, c.Finalizers, c.Ready, c.Terminating} {
		numbers = append(numbers, ptr.Deref(p, 0))
	}
	for i := range r.Causes {
		numbers = append(numbers, r.Causes[i].Count-1)
	}
	if slices.Min(numbers) < 0 {
		t.Errorf("a number is negative: %v", numbers)
	}
	if c.Pods != nil && (*c.FailedPods > *c.Pods || *c.Finalizers > *c.Pods) {
		t.Errorf("%d pods, %d failed, %d tracked", *c.Pods, *c.FailedPods, *c.Finalizers)
	}
}

// Causes and unexplained failures add up to the counted failures.
// Requirements: CLI-04
func TestFailuresAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice{t}
		counted, uncounted, gone := int(d.n("counted", 0, 5)), int(d.n("uncounted", 0, 3)), d.n("gone", 0, 4)
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Status.Failed = int32(counted) + gone
			if d.yes("failed") {
				explaintest.FailJob(j, "BackoffLimitExceeded", "")
			}
		})
		var pods []*input.Pod
		for i := range counted + uncounted {
			pods = append(pods, explaintest.PodOf(fmt.Sprint("pod-", i), func(p *corev1.Pod) {
				explaintest.Exits(d.n("exit code", 1, 3), "Error", time.Minute)(p)
				if i >= counted {
					p.Finalizers = []string{batchv1.JobTrackingFinalizer}
					job.Status.UncountedTerminatedPods.Failed = append(job.Status.UncountedTerminatedPods.Failed, p.UID)
				}
				if d.yes("deleted") {
					p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(time.Second)), ptr.To[int64](0)
				}
			}))
		}
		r := explaintest.Report(explaintest.InputOf(job, pods...))
		sum := r.FailuresWithoutPod
		for _, c := range r.Causes {
			sum += c.Count
		}
		if sum != int32(counted+uncounted)+gone || r.FailuresWithoutPod != gone {
			t.Errorf("%d counted, %d uncounted, %d gone: %d are told, %d not known", counted, uncounted, gone, sum, r.FailuresWithoutPod)
		}
	})
}

// Explain does not change its input, which belongs to the caller.
// Requirements: CLI-04
func TestExplainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice{t}
		f, o := d.facts(), d.options()
		job, pods, events := f.Job.DeepCopy(), slices.Clone(f.Pods), slices.Clone(f.Events)
		analysis.Explain(f, o)
		if !equality.Semantic.DeepEqual(job, f.Job) || !slices.Equal(events, f.Events) || len(pods) != len(f.Pods) {
			t.Error("the facts have changed")
		}
		for i := range pods {
			if pods[i].Name != f.Pods[i].Name || pods[i].Deleting != f.Pods[i].Deleting {
				t.Errorf("pod %d has changed", i)
			}
		}
	})
}

// For any pod, its detail agrees with the Report, does not depend on the order of events, and survives JSON.
func TestPodDetailAgreesWithTheReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice{t}
		pod := d.pod(0)
		var events, turned []input.Event
		for i := range d.n("events", 0, 5) {
			e := input.EventOf(d.event(int(i)))
			events, turned = append(events, e), append([]input.Event{e}, turned...)
		}
		detail := explain.PodDetailOf(pod, events)
		if again := explain.PodDetailOf(pod, turned); !reflect.DeepEqual(detail, again) {
			t.Errorf("%+v\nin another order %+v", detail, again)
		}
		r := analysis.Explain(explaintest.InputOf(explaintest.JobWith(nil), input.PodOf(pod)), explain.Options{MaxPods: -1})
		if p := r.Pods[0]; p.Name != detail.Name || p.State != detail.State || p.Phase != detail.Phase || p.Node != detail.Node {
			t.Errorf("the report says %+v, the detail %+v", p, detail)
		}
		data, err := json.Marshal(detail)
		if err != nil {
			t.Fatal(err)
		}
		var back explain.PodDetail
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if again, _ := json.Marshal(back); string(again) != string(data) {
			t.Errorf("%s is read back as %s", data, again)
		}
	})
}
