package analysis_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// dice draws parts of random Jobs.
type dice struct{ t *rapid.T }

func (d dice) yes(what string) bool { return rapid.Bool().Draw(d.t, what) }

func (d dice) n(what string, lo, hi int32) int32 { return rapid.Int32Range(lo, hi).Draw(d.t, what) }

func (d dice) of(what string, words ...string) string {
	return rapid.SampledFrom(words).Draw(d.t, what)
}

// at returns a time around noon, or no time at all.
func (d dice) at(what string) metav1.Time {
	if n := d.n(what, -5000, 500); n > -4500 {
		return metav1.NewTime(explaintest.Noon.Add(time.Duration(n) * time.Second))
	}
	return metav1.Time{}
}

// some returns a time around noon, for objects that always have one.
func (d dice) some(what string) metav1.Time {
	return metav1.NewTime(explaintest.Noon.Add(time.Duration(d.n(what, -5000, 500)) * time.Second))
}

func maybe[T any](d dice, what string, value func() T) *T {
	if !d.yes("has " + what) {
		return nil
	}
	v := value()
	return &v
}

func (d dice) number(what string, lo, hi int32) *int32 {
	return maybe(d, what, func() int32 { return d.n(what, lo, hi) })
}

func (d dice) job() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "job", CreationTimestamp: d.at("created")}}
	s := &job.Spec
	s.Completions, s.Parallelism, s.BackoffLimit = d.number("completions", 0, 12), d.number("parallelism", 0, 5), d.number("limit", 0, 3)
	s.CompletionMode = maybe(d, "mode", func() batchv1.CompletionMode {
		return batchv1.CompletionMode(d.of("mode", "Indexed", "Indexed", "NonIndexed", "Future"))
	})
	s.BackoffLimitPerIndex, s.MaxFailedIndexes = d.number("per index", 0, 2), d.number("max failed", 0, 3)
	s.ActiveDeadlineSeconds = maybe(d, "deadline", func() int64 { return int64(d.n("deadline", 0, 6000)) })
	s.TTLSecondsAfterFinished = d.number("ttl", 0, 1000)
	s.Suspend = maybe(d, "suspend", func() bool { return d.yes("suspend") })
	s.ManagedBy = maybe(d, "managedBy", func() string { return d.of("managedBy", "", "batchjob.dev/controller", "a/b") })
	s.PodReplacementPolicy = maybe(d, "replacement", func() batchv1.PodReplacementPolicy {
		return batchv1.PodReplacementPolicy(d.of("replacement", "Failed", "TerminatingOrFailed", "?"))
	})
	s.PodFailurePolicy = maybe(d, "failure policy", d.failurePolicy)
	s.SuccessPolicy = maybe(d, "success policy", d.successPolicy)
	if d.yes("annotation") {
		job.Annotations = map[string]string{rulename.Annotation: d.of("annotation", "0=A", "0=A;1=B", "7=A", "", "0==;", "\x00")}
	}
	if d.yes("deleted") {
		job.DeletionTimestamp, job.Finalizers = ptr.To(d.some("deleted at")), []string{d.of("finalizer", "x/y", "orphan", "foregroundDeletion")}
	}
	job.Status = d.status()
	if d.yes("tidy") { // Wild values are mostly empty.
		s.CompletionMode, s.Completions, s.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To(d.n("completions", 2, 6)), ptr.To[int32](3)
		job.Status.CompletedIndexes, job.Status.FailedIndexes, job.Status.Conditions = "", ptr.To(""), nil
	}
	return job
}

func (d dice) failurePolicy() batchv1.PodFailurePolicy {
	p := batchv1.PodFailurePolicy{}
	for range d.n("rules", 0, 3) {
		r := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyAction(d.of("action", "FailJob", "Ignore", "Count", "FailIndex", ""))}
		if d.yes("on exit codes") {
			r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOperator(d.of("operator", "In", "NotIn", "")), Values: []int32{d.n("code", 0, 3)},
				ContainerName: maybe(d, "container", func() string { return d.of("container", "main", "side") }),
			}
		} else if d.yes("on conditions") {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget", Status: corev1.ConditionStatus(d.of("status", "True", ""))}}
		}
		p.Rules = append(p.Rules, r)
	}
	return p
}

func (d dice) successPolicy() batchv1.SuccessPolicy {
	p := batchv1.SuccessPolicy{}
	for range d.n("success rules", 0, 3) {
		p.Rules = append(p.Rules, batchv1.SuccessPolicyRule{
			SucceededIndexes: maybe(d, "indexes", func() string { return d.indexes("indexes") }), SucceededCount: d.number("count", 0, 13),
		})
	}
	return p
}

// indexes returns a list of indexes that may be invalid or beyond completions.
func (d dice) indexes(what string) string {
	return d.of(what, "", "0", "0-3", "2,4-5", "0-11", "3-2", "x", "10-20", ",", "99999999999")
}

func (d dice) status() batchv1.JobStatus {
	s := batchv1.JobStatus{Active: d.n("active", 0, 5), Succeeded: d.n("succeeded", 0, 9), Failed: d.n("failed", 0, 9)}
	s.Ready, s.Terminating = d.number("ready", 0, 3), d.number("terminating", 0, 3)
	s.StartTime, s.CompletionTime = maybe(d, "start", func() metav1.Time { return d.some("start") }), maybe(d, "completion", func() metav1.Time { return d.some("completion") })
	s.CompletedIndexes, s.FailedIndexes = d.indexes("completed"), maybe(d, "failed indexes", func() string { return d.indexes("failed indexes") })
	s.UncountedTerminatedPods = maybe(d, "uncounted", func() batchv1.UncountedTerminatedPods {
		return batchv1.UncountedTerminatedPods{Failed: []types.UID{"pod-0"}, Succeeded: []types.UID{"nobody"}}
	})
	for range d.n("conditions", 0, 3) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{
			Type:   batchv1.JobConditionType(d.of("type", "FailureTarget", "Failed", "SuccessCriteriaMet", "Complete", "Suspended", "Future")),
			Status: corev1.ConditionStatus(d.of("status", "True", "True", "False", "")), LastTransitionTime: d.at("since"),
			Reason: d.of("reason", "", "PodFailurePolicy", "PodFailurePolicy_A", "PodFailurePolicy_1", "PodFailurePolicy_", "BackoffLimitExceeded",
				"DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "SuccessPolicy", "CompletionsReached", "Future"),
			Message: d.of("message", "", "Container main for pod ns/pod-1 failed with exit code 1 matching FailJob rule at index 1", "Pod ns/pod-0 has condition X matching FailJob rule at index 0", "%d\n“"),
		})
	}
	return s
}

func (d dice) pod(i int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint("pod-", i)), CreationTimestamp: d.at("pod created")}}
	p.Status.Phase = corev1.PodPhase(d.of("phase", "Failed", "Failed", "Succeeded", "Running", "Pending", "Unknown", ""))
	p.Status.Reason, p.Status.Message = d.of("pod reason", "", "", "Evicted", "NodeLost"), d.of("pod message", "", "said\nso")
	if d.yes("annotated") {
		p.Annotations = map[string]string{
			batchv1.JobCompletionIndexAnnotation:   d.of("index", "0", "0", "0", "1", "1", "5", "11", "40", "x"),
			batchv1.JobIndexFailureCountAnnotation: d.of("failures", "0", "1", "2147483647", "x"), "batchjob.dev/attempt": d.of("attempt", "1", "2", "0", "x"),
		}
	}
	if d.yes("tracked") {
		p.Finalizers = []string{batchv1.JobTrackingFinalizer, "x/y"}[:d.n("finalizers", 1, 2)]
	}
	if d.yes("pod deleted") {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(d.some("pod deleted at")), maybe(d, "grace", func() int64 { return int64(d.n("grace", 0, 60)) })
	}
	p.Spec.NodeName = d.of("node", "", "node-1")
	if d.yes("gated") {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	}
	if d.yes("pod conditions") {
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: "False", Reason: d.of("scheduled", "Unschedulable", "SchedulingGated")},
			{Type: "DisruptionTarget", Status: corev1.ConditionStatus(d.of("disrupted", "True", "False")), Reason: d.of("disruption", "", "DeletionByPodGC")},
			{Type: corev1.PodReady, Status: corev1.ConditionStatus(d.of("ready", "True", "False"))},
		}
	}
	for _, name := range []string{"main", "side"}[:d.n("containers", 0, 2)] {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, d.container(name))
	}
	return p
}

func (d dice) container(name string) corev1.ContainerStatus {
	c := corev1.ContainerStatus{Name: name, RestartCount: d.n("restarts", 0, 4)}
	end := func() corev1.ContainerStateTerminated {
		return corev1.ContainerStateTerminated{ExitCode: d.n("exit code", -1, 3), Reason: d.of("why", "", "Error", "OOMKilled"), Message: d.of("last words", "", "a\nb\n", "“%s”"), StartedAt: d.at("started"), FinishedAt: d.at("finished")}
	}
	c.State.Terminated, c.LastTerminationState.Terminated = maybe(d, "end", end), maybe(d, "end before", end)
	c.State.Waiting = maybe(d, "waiting", func() corev1.ContainerStateWaiting {
		return corev1.ContainerStateWaiting{Reason: d.of("for", "ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError", "InvalidImageName", ""), Message: "m"}
	})
	return c
}

func (d dice) event(i int) *corev1.Event {
	e := &corev1.Event{
		Type: d.of("event type", "Warning", "Normal", ""), Count: int32(i),
		Reason:  d.of("event reason", "FailedCreate", "SuccessfulCreate", "PodFailed", "BackOff", "FailedScheduling", ""),
		Message: d.of("event message", "exceeded quota", "Container main exited with code 1. First in pod pod-0", "É", "") + fmt.Sprint(i),
	}
	e.LastTimestamp, e.FirstTimestamp = explaintest.Ago(time.Duration(d.n("last", 0, 2))*time.Minute), d.at("first")
	if d.yes("of a pod") {
		e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Name: d.of("event pod", "pod-0", "train-9")}
	}
	return e
}

func (d dice) facts() input.Input {
	f := input.Input{Now: explaintest.Noon, OurName: "batchjob.dev/controller", Job: d.job(), PodsRead: d.yes("pods read"), EventsRead: d.yes("events read")}
	if f.PodsRead {
		for i := range d.n("pods", 0, 7) {
			f.Pods = append(f.Pods, input.PodOf(d.pod(int(i))))
		}
	}
	for i := range d.n("events", 0, 4) {
		f.Events = append(f.Events, input.EventOf(d.event(int(i))))
	}
	f.Lease = maybe(d, "lease", func() input.Lease {
		return input.Lease{Name: "l", Holder: d.of("holder", "", "me"), Renewed: d.at("renewed").Time, Duration: 15 * time.Second}
	})
	if d.yes("gone nodes") {
		f.GoneNodes = map[string]string{"node-1": "gone"}
	}
	if d.yes("logs") {
		f.Logs = []input.LogTail{{Pod: "pod-0", Container: "main", Lines: []string{"x"}}}
	}
	if d.yes("native names") {
		f.RuleNames = []string{"N", ""}
	}
	return f
}

func (d dice) options() explain.Options {
	o := explain.Options{Pod: d.of("focus", "", "", "pod-0", "nobody"), MaxPods: int(d.n("max pods", -1, 3))}
	if index := d.number("index", 0, 14); index != nil {
		o.Indexes = indexset.Of(*index, *index+2)
	}
	return o
}
