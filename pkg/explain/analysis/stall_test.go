package analysis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// CLI-06: the reason why the API server refuses the pods, by the messages of Kubernetes 1.33 and later: the verdict has the
// name and the reason from the API server's message.
func TestRefusedCreationIsExplained(t *testing.T) {
	const restricted = `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ` +
		`unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])`
	for _, tc := range []struct{ message, text string }{
		{`pods "train-x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0`, "ResourceQuota compute allows no such pods (requested: pods=1, used: pods=0, limited: pods=0)"},
		{`pods is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0`, "ResourceQuota compute allows no such pods (requested: pods=1, used: pods=0, limited: pods=0)"},
		{`pods "train-x" is forbidden: failed quota: compute: must specify limits.cpu for: main; requests.memory for: main`,
			"ResourceQuota compute rejects the pod template: must specify limits.cpu for: main; requests.memory for: main"},
		{`pods "train-x" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [system-node-critical]}]`, "insufficient quota to match these scopes: [{PriorityClass In [system-node-critical]}]"},
		{`insufficient quota to match these scopes: [{PriorityClass In [high]}]`, "the API server rejects them: insufficient quota to match these scopes: [{PriorityClass In [high]}]"},
		{`pods "train-x" is forbidden: ` + restricted, "Pod Security restricted:latest does not allow the pod template: allowPrivilegeEscalation != false, unrestricted capabilities"},
		{`pods "train-x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`, "a LimitRange does not allow the pod template: maximum memory usage per Container is 1Gi, but limit is 2Gi"},
		{`pods "train-x" is forbidden: [maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 2Gi, but limit is 4Gi]`,
			"a LimitRange does not allow the pod template. [maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 2Gi, but limit is 4Gi]"},
		{`pods "train-x" is forbidden: minimum memory usage per Container is 1Gi, but request is 1Mi`, "LimitRange"},
		{`pods "train-x" is forbidden: maximum memory usage per Container is 1Gi.  No limit is specified`, "does not allow the pod template: maximum memory usage per Container is 1Gi. No limit is specified"},
		{`pods "train-x" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`, "a LimitRange does not allow the pod template: cpu max limit to request ratio"},
		{`pods "train-x" is forbidden: error looking up service account ns/robot: serviceaccount "robot" not found`, "ServiceAccount robot in namespace ns does not exist"},
		{`pods "train-x" is forbidden: no PriorityClass with name nope was found`, "no PriorityClass with name nope was found"},
		{`pods "train-x" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`,
			"the integer value of priority (5) must not be provided in pod spec"},
		{`pods "train-x" is forbidden: pod rejected: RuntimeClass "gvisor" not found`, "RuntimeClass gvisor does not exist"},
		{`pods "train-x" is forbidden: ValidatingAdmissionPolicy 'no-root' with binding 'all' denied request: run as non-root`, "ValidatingAdmissionPolicy no-root denies them: run as non-root"},
		{`pods is forbidden: ValidatingAdmissionPolicy 'no-root' denied request: exceeded quota`, "ValidatingAdmissionPolicy no-root denies them: exceeded quota"},
		{`admission webhook "guard.example.com" denied the request: serviceaccount "x" exceeded quota`, `admission webhook guard.example.com denies them: serviceaccount "x" exceeded quota`},
		{`admission webhook "validation.gatekeeper.sh" denied the request: [owner] all pods must have an owner` + "\n[cost] and a cost center", "constraint owner of Gatekeeper denies them: all pods must have an owner [cost] and a cost center"},
		{`Internal error occurred: admission webhook "guard.example.com" denied the request without explanation`, "admission webhook guard.example.com denies them without explanation"},
		{`Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.ns.svc:443/v?timeout=10s": dial tcp 10.96.3.1:443: connect: connection refused`,
			`admission webhook guard.example.com cannot be called: its Service guard refuses connections, as if none of its pods is ready. “dial tcp 10.96.3.1:443: connect: connection refused”`},
		{`Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.ns.svc:443/v?timeout=10s": no endpoints available for service "guard"`,
			"admission webhook guard.example.com cannot be called: its Service guard has no endpoints"},
		{`Internal error occurred: failed calling webhook "guard.example.com": received invalid webhook response: expected response.uid="1", got ""`,
			`admission webhook guard.example.com does not work: received invalid webhook response: expected response.uid="1", got ""`},
		{`pods is forbidden: User "system:serviceaccount:kube-system:job-controller" cannot create resource "pods" in API group "" in the namespace "ns"`,
			`User "system:serviceaccount:kube-system:job-controller" cannot create resource "pods" in API group "" in the namespace "ns"`},
		{`pods "train-x" is forbidden: unable to create new content in namespace ns because it is being terminated`, "namespace ns is being deleted"},
		{`Pod "train-x" is invalid: spec.containers[0].image: Required value`, "the API server rejects the pod template as invalid: spec.containers[0].image: Required value"},
		{`etcdserver: request timed out`, "the API server rejects them: etcdserver: request timed out"},
		{``, "the API server rejects them"},
	} {
		for _, prefix := range []string{"Error creating: ", "(combined from similar events): Error creating: "} {
			f := factsOf(jobWith(nil))
			f.Events = []input.Event{jobEvent("FailedCreate", prefix+tc.message, 4, time.Minute), jobEvent("SuccessfulCreate", "", 1, time.Hour)}
			r := report(f)
			p := problem(t, r, explain.ProblemCreationRefused)
			if !strings.Contains(p.Text, tc.text) || len(p.Details) != 1 || p.Details[0] != prefix+tc.message || p.Count != 2 {
				t.Errorf("%+v, want it to say %q", p, tc.text)
			}
			if !r.Verdict.Stalled || !strings.Contains(verdict(r), "is stalled: pods cannot be created: ") {
				t.Errorf("%+v", r.Verdict)
			}
		}
	}
}

// A refusal is over if a later creation succeeded, if it was long ago, or if the Job has ended.
// Requirements: CLI-06
func TestPastRefusalIsOver(t *testing.T) {
	refused := jobEvent("FailedCreate", "exceeded quota", 4, 2*time.Minute)
	for name, f := range map[string]input.Input{
		"created since": {Events: []input.Event{refused, jobEvent("SuccessfulCreate", "", 1, time.Minute)}, Job: jobWith(nil)},
		"long ago":      {Events: []input.Event{jobEvent("FailedCreate", "exceeded quota", 4, 16*time.Minute)}, Job: jobWith(nil)},
		"has failed":    {Events: []input.Event{refused}, Job: jobWith(func(j *batchv1.Job) { ended(j, "DeadlineExceeded", "") })},
		"is to fail":    {Events: []input.Event{refused}, Job: jobWith(func(j *batchv1.Job) { condition(j, batchv1.JobFailureTarget, "DeadlineExceeded", "", 0) })},
		"a pod's event": {Events: []input.Event{{Pod: "train-x", Type: "Warning", Reason: "FailedCreate", Last: noon}}, Job: jobWith(nil)},
	} {
		f.Now, f.PodsRead, f.EventsRead = noon, true, true
		if r := report(f); hasProblem(r, explain.ProblemCreationRefused) {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}

// CLI-06, PRP-23: a pod that does not end, by the obstacle.
func TestStuckPodIsExplainedByItsHolder(t *testing.T) {
	deleted := func(d time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionGracePeriodSeconds, p.DeletionTimestamp = ptr.To[int64](30), ptr.To(ago(d-30*time.Second))
		}
	}
	for name, tc := range map[string]struct {
		since  time.Duration
		event  time.Duration // the age of the event of the kubelet, 0 for none
		gone   map[string]string
		change func(*corev1.Pod)
		kind   explain.ProblemKind
		text   string
	}{
		"in its grace period":     {since: 10 * time.Second, kind: explain.ProblemTerminatingHolds, text: "1 pod is terminating, and is replaced only after it has ended"},
		"beyond it":               {since: 5 * time.Minute, kind: explain.ProblemTerminatingStuck, text: "past the grace period"},
		"its node does not exist": {since: 5 * time.Minute, gone: map[string]string{"node-1": "it no longer exists"}, kind: explain.ProblemNodeGone, text: "on node node-1, which no longer exists"},
		"another node is gone":    {since: 5 * time.Minute, gone: map[string]string{"node-2": "it no longer exists"}, kind: explain.ProblemTerminatingStuck, text: "past the grace period"},
		"its container is not stopped": {since: 5 * time.Minute, event: time.Minute, kind: explain.ProblemTerminatingStuck,
			text: "1 pod is terminating past the grace period, as the container runtime cannot stop container main (context deadline exceeded), and"},
		"it was not stopped an hour ago": {since: 2 * time.Hour, event: time.Hour, kind: explain.ProblemTerminatingStuck, text: "1 pod is terminating past the grace period, and"},
		"the node controller says so": {since: 5 * time.Minute, change: func(p *corev1.Pod) { p.Status.Reason = "NodeLost" },
			kind: explain.ProblemNodeGone, text: "on node node-1, which is lost"},
	} {
		job := jobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
			j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		})
		f := factsOf(job, podOf("train-x", func(p *corev1.Pod) {
			deleted(tc.since)(p)
			if tc.change != nil {
				tc.change(p)
			}
		}))
		f.GoneNodes = tc.gone
		if tc.event > 0 {
			f.Events = []input.Event{podEvent("FailedKillPod", `error killing pod: failed to "KillContainer" for "main" with KillContainerError: "rpc error: code = DeadlineExceeded desc = context deadline exceeded"`, tc.event)}
		}
		r := report(f)
		p := problem(t, r, tc.kind)
		if stuck := tc.kind == explain.ProblemTerminatingStuck; stuck != strings.Contains(fmt.Sprint(r.Advice), "kubectl delete pod train-x --grace-period=0 --force -n ns") {
			t.Errorf("%s: %+v", name, r.Advice)
		}
		if !strings.Contains(p.Text, tc.text) || p.Count != 1 || !p.Blocks || !r.Verdict.Stalled {
			t.Errorf("%s: %+v, stalled %v", name, p, r.Verdict.Stalled)
		}
		grace := false
		for _, w := range r.Waits {
			grace = grace || w.Kind == explain.WaitGrace && w.Until.Equal(ptr.To(ago(tc.since-30*time.Second)))
		}
		if late := tc.since > 30*time.Second; grace == late {
			t.Errorf("%s: waits %+v", name, r.Waits)
		}
	}
}

// Requirements: PRP-23
func TestReportOfOneKubeletIsNotThatOfOthers(t *testing.T) {
	stuck := func(name, node string) *input.Pod {
		return podOf(name, func(p *corev1.Pod) {
			p.Spec.NodeName, p.DeletionGracePeriodSeconds, p.DeletionTimestamp = node, ptr.To[int64](30), ptr.To(ago(5*time.Minute))
		})
	}
	for other, want := range map[string]bool{"node-1": true, "node-2": false} {
		f := factsOf(jobWith(nil), stuck("train-x", "node-1"), stuck("train-y", other))
		f.Events = []input.Event{podEvent("FailedKillPod", `error killing pod: failed to "KillContainer" for "main" with KillContainerError: "context deadline exceeded"`, time.Minute)}
		if p := problem(t, report(f), explain.ProblemTerminatingStuck); p.Count != 2 || strings.Contains(p.Text, "the container runtime cannot stop") != want {
			t.Errorf("the other pod is on %s: %s", other, p.Text)
		}
	}
}

// Requirements: PRP-23
func TestEachGoneNodeIsAProblem(t *testing.T) {
	lost := func(name, node string) *input.Pod {
		return podOf(name, func(p *corev1.Pod) {
			p.Spec.NodeName, p.DeletionGracePeriodSeconds, p.DeletionTimestamp = node, ptr.To[int64](30), ptr.To(ago(5*time.Minute))
		})
	}
	f := factsOf(jobWith(nil), lost("train-x", "node-1"), lost("train-y", "node-2"), lost("train-z", "node-2"))
	f.GoneNodes = map[string]string{"node-1": "it does not respond", "node-2": "it no longer exists"}
	wantText(t, report(f), "1 pod is terminating on node node-1, which does not respond", "2 pods are terminating on node node-2, which no longer exists",
		"kubectl delete node node-1", "kubectl delete node node-2")
}

// CLI-06: ended pods that no controller records show, without a Lease, that the controller is gone; in a finished Job, that
// its last finalizers stick.
func TestUncountedPodsShowAControllerThatIsGone(t *testing.T) {
	held := func(p *corev1.Pod) {
		exits(1, "Error", 5*time.Minute)(p)
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	r := report(factsOf(jobWith(nil), podOf("train-x", held), podOf("train-y", held)))
	if p := problem(t, r, explain.ProblemControllerGone); p.Count != 2 || len(p.Pods) != 2 || !p.Since.Equal(ptr.To(ago(5*time.Minute))) || !r.Verdict.Stalled {
		t.Errorf("%+v", p)
	}
	r = report(factsOf(jobWith(func(j *batchv1.Job) { ended(j, "BackoffLimitExceeded", "") }), podOf("train-x", held)))
	if p := problem(t, r, explain.ProblemFinalizerStuck); p.Count != 1 || !strings.Contains(p.Text, "1 ended pod of the Job still has the finalizer") {
		t.Errorf("%+v", p)
	}
	if r.Verdict.Stalled {
		t.Error("a Job that has ended is stalled")
	}
	fresh := podOf("train-x", func(p *corev1.Pod) {
		held(p)
		p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = ago(20 * time.Second)
	})
	if r := report(factsOf(jobWith(nil), fresh)); hasProblem(r, explain.ProblemControllerGone) {
		t.Errorf("after 20 seconds: %+v", r.Problems)
	}
}

// CLI-06: clocks: the deadline and the TTL, and neither after it has stopped to apply.
func TestClocksStopWhenTheyDoNotCount(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		kind   explain.WaitKind
		until  time.Duration // from noon; 0 for no clock
	}{
		"deadline":            {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](3700) }, explain.WaitDeadline, 100 * time.Second},
		"deadline, suspended": {func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds, j.Spec.Suspend = ptr.To[int64](3700), ptr.To(true) }, explain.WaitDeadline, 0},
		"deadline, decided": {func(j *batchv1.Job) {
			j.Spec.ActiveDeadlineSeconds = ptr.To[int64](3700)
			condition(j, batchv1.JobFailureTarget, "X", "", 0)
		}, explain.WaitDeadline, 0},
		"TTL of a failed Job": {func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600); ended(j, "X", "") }, explain.WaitTTL, time.Minute},
		"TTL of a complete Job": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished, j.Status.CompletionTime = ptr.To[int32](600), ptr.To(ago(8*time.Minute))
			condition(j, batchv1.JobComplete, "CompletionsReached", "", 8*time.Minute)
		}, explain.WaitTTL, 2 * time.Minute},
		"TTL that is over":     {func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60); ended(j, "X", "") }, explain.WaitTTL, 0},
		"TTL of a running Job": {func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600) }, explain.WaitTTL, 0},
		"TTL of a deleted one": {func(j *batchv1.Job) {
			j.Spec.TTLSecondsAfterFinished = ptr.To[int32](600)
			ended(j, "X", "")
			j.DeletionTimestamp = ptr.To(ago(0))
		}, explain.WaitTTL, 0},
	} {
		r := report(factsOf(jobWith(tc.change)))
		var found time.Duration
		for _, w := range r.Waits {
			if w.Kind == tc.kind {
				found = w.Until.Sub(noon)
			}
		}
		if found != tc.until {
			t.Errorf("%s: %v, want %v; %+v", name, found, tc.until, r.Waits)
		}
	}
}

// A failed Job ends with its Failed condition: it has a duration, which does not grow.
// Requirements: CLI-01
func TestDurationOfAFailedJobEndsWithFailed(t *testing.T) {
	r := report(factsOf(jobWith(func(j *batchv1.Job) { ended(j, "X", "") })))
	if !r.Job.Finished.Equal(ptr.To(ago(9*time.Minute))) || *r.Job.DurationSeconds != 51*60 {
		t.Errorf("%v, %v seconds", r.Job.Finished, *r.Job.DurationSeconds)
	}
	if r := report(factsOf(jobWith(nil))); *r.Job.DurationSeconds != 3600 || r.Job.Finished != nil {
		t.Errorf("%v", r.Job)
	}
}

// PFN-16..22: invalid names are reported, each with its error.
// Requirements: CLI-05
func TestInvalidNamesAreReported(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy, j.Spec.ManagedBy = rules(2), ptr.To(recorded.OurName)
		j.Annotations = map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=Same;1=Same"}
	})
	r := report(factsOf(job))
	p := problem(t, r, explain.ProblemInvalidRuleNames)
	if p.Blocks || len(p.Details) != 1 || !strings.Contains(p.Details[0], "same name") || len(r.FailurePolicy.NameViolations) != 1 {
		t.Errorf("%+v, %+v", p, r.FailurePolicy)
	}
}

// The built-in controller writes an event for each refused pod: the problem began with the first refusal since the last creation.
// Requirements: CLI-06
func TestRefusalBeganWithItsFirstEvent(t *testing.T) {
	event := func(reason, pod string, d time.Duration) input.Event {
		e := jobEvent(reason, `Error creating: pods "`+pod+`" is forbidden: exceeded quota`, 1, d)
		e.First = e.Last
		return e
	}
	f := factsOf(jobWith(nil))
	f.Events = []input.Event{
		event("FailedCreate", "train-a", 14*time.Minute), event("SuccessfulCreate", "train-b", 10*time.Minute),
		event("FailedCreate", "train-c", 3*time.Minute), event("FailedCreate", "train-d", time.Minute), event("FailedCreate", "train-e", 8*time.Second),
	}
	if p := problem(t, report(f), explain.ProblemCreationRefused); !p.Since.Equal(ptr.To(ago(3 * time.Minute))) {
		t.Errorf("since %v", p.Since)
	}
}
