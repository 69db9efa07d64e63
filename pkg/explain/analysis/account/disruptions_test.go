package account_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// ignoringEvictions makes rule 0 ignore disruptions.
func ignoringEvictions(j *batchv1.Job) {
	j.Spec.PodFailurePolicy = explaintest.OnDisruption(batchv1.PodFailurePolicyActionIgnore)
}

// took returns the events about a pod that started 40 minutes ago, and that a component took a given time ago.
func took(pod, source, reason, message string, before time.Duration) []input.Event {
	started, taken := explaintest.Ago(40*time.Minute).Time, explaintest.Ago(before).Time
	return []input.Event{
		{Pod: pod, Type: "Normal", Source: "default-scheduler", Reason: "Scheduled", Message: "Successfully assigned ns/" + pod + " to node-7", Count: 1, First: started, Last: started},
		{Pod: pod, Type: "Normal", Source: "kubelet", Reason: "Started", Message: "Started container main", Count: 1, First: started, Last: started},
		{Pod: pod, Type: "Normal", Source: source, Reason: reason, Message: message, Count: 1, First: taken, Last: taken},
	}
}

// Ignored failures are in no counter of the status, and the built-in controller writes no events about them: their pods are
// counted by the events of whoever took them.
// Requirements: CLI-80
func TestPodsThatOthersTookAreCountedThoughNoCounterHasThem(t *testing.T) {
	f := explaintest.InputOf(explaintest.IndexedJob(4, ignoringEvictions), explaintest.PodOf("train-2-bbbbb", explaintest.OnIndex(2, 1, nil)))
	for i := range 3 {
		f.Events = append(f.Events, took(fmt.Sprintf("train-2-%sbbbb", string("cdf"[i])), "karpenter", "Evicted", "Evicted pod: Underutilized", time.Duration(30-i)*time.Minute)...)
	}
	f.Events = append(f.Events, took("train-1-ccccc", "default-scheduler", "Preempted", "Preempted by pod 5d0c7a1e on node node-7", 20*time.Minute)...)
	r := explaintest.Report(f)
	d := r.Disruptions
	if d == nil || d.Pods != 4 || d.TimedPods != 4 || d.LostSeconds != (10+11+12+20)*60 || ptr.Deref(d.Index, -1) != 2 || d.IndexPods != 3 || len(d.By) != 2 {
		t.Fatalf("%+v", d)
	}
	karpenter, scheduler := &d.By[0], &d.By[1]
	if karpenter.By != meaning.ByKarpenter || karpenter.Why != "Underutilized" || karpenter.Pods != 3 || karpenter.Indexes != "2" || fmt.Sprint(karpenter.Nodes) != "[node-7]" {
		t.Errorf("%+v", karpenter)
	}
	if scheduler.By != meaning.ByScheduler || fmt.Sprint(scheduler.For) != "[5d0c7a1e]" || scheduler.Indexes != "1" {
		t.Errorf("%+v", scheduler)
	}
	if len(karpenter.Rulings) != 1 || karpenter.Rulings[0].Pods != 3 || ptr.Deref(karpenter.Rulings[0].Rule, -1) != 0 || karpenter.Rulings[0].Action != "Ignore" {
		t.Errorf("%+v", karpenter.Rulings)
	}
	explaintest.WantText(t, r, "karpenter.sh/do-not-disrupt", "priorityClassName", "save checkpoints")
	explaintest.WantWithout(t, r, "with action Ignore")

	f.Job.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	explaintest.WantText(t, explaintest.Report(f), "the annotation of the Job itself does not count")
	// Advice that the Job follows is not repeated.
	f.Job.Spec.Template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	explaintest.WantWithout(t, explaintest.Report(f), "do-not-disrupt")
}

// The eviction API leaves no event. A pod that is gone, that the kubelet stopped, and that neither the Job's controller deleted nor
// the status counts, was ignored; who took it is unknown.
// Requirements: CLI-80
func TestPodsWithoutARecordOfWhoTookThemAreCounted(t *testing.T) {
	const stopping = "Stopping container main"
	with := func(change func(*batchv1.Job), events ...[]input.Event) input.Input {
		f := explaintest.InputOf(explaintest.IndexedJob(4, change), explaintest.PodOf("train-2-bbbbb", explaintest.OnIndex(2, 1, nil)))
		for _, e := range events {
			f.Events = append(f.Events, e...)
		}
		return f
	}
	drained := func(pod string) []input.Event { return took(pod, "kubelet", "Killing", stopping, 30*time.Minute) }
	r := explaintest.Report(with(ignoringEvictions, drained("train-2-ccccc"), drained("train-1-ddddd")))
	d := r.Disruptions
	if d == nil || d.Pods != 2 || d.LostSeconds != 20*60 || len(d.By) != 1 || d.By[0].Kind != "" || d.By[0].Indexes != "1,2" || len(d.By[0].Rulings) != 1 || d.By[0].Rulings[0].Pods != 2 {
		t.Fatalf("%+v", d)
	}
	assert.Equal(t, words.DisruptionsText(d), "2 pods (20m of pod time) deleted or evicted by an unknown actor")

	recorded := explaintest.FailedEvent(cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 143}}, "train-2-ccccc", 1, 30*time.Minute)
	var ten []input.Event
	for i := range 10 {
		ten = append(ten, deletionEvent(fmt.Sprintf("Deleted pod: train-%d-eeeee", i), 30*time.Minute))
	}
	for name, f := range map[string]input.Input{
		"without a rule that ignores":   with(nil, drained("train-2-ccccc")),
		"recorded by our controller":    with(ignoringEvictions, drained("train-2-ccccc"), []input.Event{recorded}),
		"it exists":                     with(ignoringEvictions, drained("train-2-bbbbb")),
		"deleted by the controller":     with(ignoringEvictions, drained("train-2-ccccc"), []input.Event{{Reason: "SuccessfulDelete", Message: "Deleted pod: train-2-ccccc", First: explaintest.Ago(30 * time.Minute).Time}}),
		"deletions are combined":        with(ignoringEvictions, drained("train-2-ccccc"), []input.Event{deletionEvent("(combined from similar events): Deleted pod: train-0-eeeee", 30*time.Minute)}),
		"deletions may be combined":     with(ignoringEvictions, drained("train-2-ccccc"), ten),
		"an injected or native sidecar": with(ignoringEvictions, took("train-2-ccccc", "kubelet", "Killing", "Stopping container proxy", 30*time.Minute)),
		"suspended": with(func(j *batchv1.Job) {
			ignoringEvictions(j)
			j.Spec.Suspend = ptr.To(true)
		}, drained("train-2-ccccc")),
		"counted in the status": with(func(j *batchv1.Job) {
			ignoringEvictions(j)
			j.Status.Failed = 1
		}, drained("train-2-ccccc")),
	} {
		if d := explaintest.Report(f).Disruptions; d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A pod that exists, that an event counts, and that another event shows, is one pod.
// Requirements: CLI-80
func TestNoDisruptionIsCountedTwice(t *testing.T) {
	const evicted = "EvictionByEvictionAPI"
	failure := cause.Failure{Condition: corev1.DisruptionTarget, ConditionReason: evicted, Exit: cause.Exit{Container: "main", ExitCode: 143, Reason: "Error"}}
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 3 }), explaintest.PodOf("a", explaintest.WithStatus("", "", evicted, "Eviction API: evicting", explaintest.Exits(143, "Error", 11*time.Minute))))
	r := explaintest.Report(f)
	if d := r.Disruptions; d == nil || d.Pods != 1 || d.LostSeconds != 60 {
		t.Fatalf("%+v", d)
	}
	f.Events = append(f.Events, explaintest.FailedEvent(failure, "a", 3, 11*time.Minute))
	f.Events = append(f.Events, took("train-bbbbb", "karpenter", "Evicted", "Evicted pod: Empty", 30*time.Minute)...)
	d := explaintest.Report(f).Disruptions
	if d == nil || d.Pods != 3 {
		t.Fatalf("%+v", d)
	}
	for _, by := range d.By {
		for _, ruling := range by.Rulings {
			if ruling.Rule != nil || ruling.Action == "Ignore" {
				t.Errorf("%+v", by)
			}
		}
	}
}

// Pods that ended by themselves, that the Job's controller stopped, or that exceeded their own limit, were not taken.
// Requirements: CLI-80
func TestEndsOfPodsThatAreNoDisruptions(t *testing.T) {
	for name, f := range map[string]input.Input{
		"exit code":    explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(1, "Error", 11*time.Minute))),
		"OOMKilled":    explaintest.FailedOnce(explaintest.PodOf("a", explaintest.Exits(137, "OOMKilled", 11*time.Minute))),
		"own limit":    explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.", "", "", nil))),
		"pod deadline": explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("DeadlineExceeded", "Pod was active on the node longer than the specified deadline", "", "", nil))),
		"rejected":     explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu", "", "", nil))),
	} {
		if d := explaintest.Report(f).Disruptions; d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
	f := explaintest.FailedOnce(explaintest.PodOf("a", explaintest.WithStatus("Evicted", "The node was low on resource: memory.", "TerminationByKubelet", "The node was low on resource: memory.", nil)))
	if d := explaintest.Report(f).Disruptions; d == nil || d.By[0].By != meaning.ByKubelet {
		t.Errorf("%+v", d)
	}
}
