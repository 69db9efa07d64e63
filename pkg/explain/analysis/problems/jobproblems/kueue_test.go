package jobproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// The reason why Kueue does not admit a Job names the queue, the quota, the resource and the missing amount; the advice shows
// whether waiting helps.
// Requirements: KUE-01, KUE-02, FCT-06.
func TestWhyKueueHoldsAJob(t *testing.T) {
	clusterQueue := "kubectl describe clusterqueues.kueue.x-k8s.io $(kubectl get localqueues.kueue.x-k8s.io team-a -n ns -o jsonpath='{.spec.clusterQueue}')"
	const flavors = "couldn't assign flavors to pod set main: "
	for name, tc := range map[string]struct {
		message string
		change  func(*kueue.Workload)
		kind    kueue.HoldKind
		text    string
		advice  string
	}{
		"quota in use": {
			message: flavors + "insufficient unused quota for nvidia.com/gpu in flavor gpu-a100, 8 more needed", kind: kueue.QuotaInUse,
			text:   "Kueue keeps the Job suspended: queue team-a has too little unused quota for nvidia.com/gpu in flavor gpu-a100 (8 more needed).",
			advice: clusterQueue,
		},
		"quota in use, of an older Kueue": {
			message: flavors + "insufficient unused quota for cpu in flavor default", kind: kueue.QuotaInUse,
			text: "has too little unused quota for cpu in flavor default.", advice: clusterQueue,
		},
		"one flavor too small, another in use": {
			message: flavors + "insufficient quota for cpu in flavor small, request > maximum capacity (2), insufficient unused quota for cpu in flavor large, 3 more needed. Pending the preemption of 1 workload(s)",
			kind:    kueue.Preempting, text: "and preempts others for it: queue team-a has too little unused quota for cpu in flavor large (3 more needed); flavor small has less cpu in all than the Job requests (at most 2).", advice: "kubectl describe workloads.kueue.x-k8s.io job-train-1 -n ns",
		},
		"a flavor in use": {
			message: flavors + "insufficient unused quota for cpu in flavor large, 3 more needed",
			kind:    kueue.QuotaInUse, text: "cpu in flavor large (3 more needed).", advice: clusterQueue,
		},
		"quota too small": {
			message: flavors + "insufficient quota for nvidia.com/gpu in flavor gpu-a100, previously considered podsets requests (0) + current podset request (16) > maximum capacity (8)",
			kind:    kueue.QuotaTooSmall, text: "it requests more nvidia.com/gpu than the quota of queue team-a has in flavor gpu-a100 (at most 8).",
			advice: "kubectl describe localqueues.kueue.x-k8s.io team-a -n ns",
		},
		"no quota for a resource": {
			message: flavors + "resource memory unavailable in ClusterQueue", kind: kueue.NoResource,
			text: "the ClusterQueue of queue team-a has no quota for memory.", advice: "kubectl describe localqueues.kueue.x-k8s.io team-a -n ns",
		},
		"borrowing limit": {
			message: flavors + "borrowing limit for cpu in flavor default exceeded", kind: kueue.BorrowingLimit,
			text: "queue team-a may not borrow more quota for cpu in flavor default.", advice: clusterQueue,
		},
		"no queue": {
			message: "LocalQueue team-a doesn't exist", kind: kueue.QueueMissing,
			text: "Kueue keeps the Job suspended: LocalQueue team-a does not exist.", advice: "kubectl get localqueues.kueue.x-k8s.io -n ns",
		},
		"stopped queue": {
			message: "ClusterQueue gpus is inactive", kind: kueue.QueueInactive,
			text: "Kueue keeps the Job suspended: ClusterQueue gpus is inactive.", advice: "kubectl describe clusterqueues.kueue.x-k8s.io gpus",
		},
		"a namespace that is not selected": {
			message: "Workload namespace doesn't match ClusterQueue selector", kind: kueue.NotSelected,
			text:   "the namespaceSelector of the ClusterQueue of queue team-a does not match its namespace.",
			advice: "kubectl describe localqueues.kueue.x-k8s.io team-a -n ns",
		},
		"a flavor that does not exist": {
			message: flavors + "flavor a100 not found", kind: kueue.FlavorMissing,
			text: "ResourceFlavor a100, which the ClusterQueue of queue team-a names, does not exist.", advice: "kubectl get resourceflavors.kueue.x-k8s.io",
		},
		"requests above the limits": {
			message: "resources validation failed: podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\"]: requests must not exceed its limits", kind: kueue.InvalidRequests,
			text: "its requests are not allowed", advice: "kubectl describe limitrange -n ns",
		},
		"deactivated": {
			message: "The workload is deactivated due to exceeding the maximum number of re-queuing retries", change: func(w *kueue.Workload) { w.Inactive = true },
			kind: kueue.Deactivated, text: "Kueue has deactivated the Job and does not try to start it again (queue team-a); the workload is deactivated due to exceeding the maximum number of re-queuing retries",
			advice: "kubectl describe workloads.kueue.x-k8s.io job-train-1 -n ns",
		},
		"admission check": {
			change: func(w *kueue.Workload) {
				w.Conditions[0].Status, w.Checks = "True", []kueue.AdmissionCheck{{Name: "nodes", State: "Pending"}}
			},
			kind: kueue.AdmissionChecks, text: "Kueue has reserved quota for the Job (queue team-a) and waits for admission check nodes (Pending).",
			advice: "kubectl describe workloads.kueue.x-k8s.io job-train-1 -n ns",
		},
		"something else": {
			message: "Preempted to accommodate a workload (UID: 4a1c, JobUID: 77b2) due to prioritization in the ClusterQueue", kind: kueue.Other,
			text:   "Kueue keeps the Job suspended (queue team-a): preempted to accommodate a workload due to prioritization in the ClusterQueue.",
			advice: clusterQueue,
		},
	} {
		w := &kueue.Workload{Name: "job-train-1", Queue: "team-a", Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Reason: "Pending", Message: tc.message}}}
		if tc.change != nil {
			tc.change(w)
		}
		r := explaintest.Report(heldInput(w))
		if len(r.Problems) != 1 || r.Problems[0].Suspension.Hold == nil {
			t.Errorf("%s: %+v", name, r.Problems)
			continue
		}
		hold := r.Problems[0].Suspension.Hold
		if hold.Kind != tc.kind || hold.Workload != "job-train-1" || !strings.Contains(explaintest.Verdict(r), tc.text) || len(r.Advice) == 0 || r.Advice[0].Command != tc.advice {
			t.Errorf("%s: %+v, %s %+v", name, hold, explaintest.Verdict(r), r.Advice)
		}
	}
}

// Without conditions in the Workload, the explanation uses the Job and its events.
// Requirements: KUE-01, FCT-06.
func TestWorkloadWithoutConditions(t *testing.T) {
	for name, w := range map[string]*kueue.Workload{
		"none":     nil,
		"new":      {Name: "w", Queue: "team-a"},
		"admitted": {Name: "w", Queue: "team-a", Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "True"}, {Type: "Admitted", Status: "True"}}},
	} {
		in := heldInput(w)
		stopped := explaintest.JobEvent("Stopped", "Preempted", 1, time.Minute)
		stopped.Source = "batch/job-kueue-controller"
		in.Events = []input.Event{stopped}
		assert.Equal(t, explaintest.Verdict(explaintest.Report(in)), "Kueue keeps the Job suspended (queue team-a): preempted.", name)
	}
}

// Kueue also holds pods by a scheduling gate: those of an elastic Job that needs more quota than it has, for example.
// Requirements: KUE-01, KUE-02
func TestKueueHoldsPodsByAGate(t *testing.T) {
	const both = "couldn't assign flavors to pod set main: flavor gpu doesn't match node affinity, insufficient quota for nvidia.com/gpu in flavor on-demand, request > maximum capacity (0)"
	admitted := []metav1.Condition{{Type: "QuotaReserved", Status: "True"}, {Type: "Admitted", Status: "True", LastTransitionTime: explaintest.Ago(3 * time.Minute)}}
	for name, tc := range map[string]struct {
		gate          string
		conditions    []metav1.Condition
		first, text   string
		advice, avoid string
	}{
		"no flavor fits": {
			gate: "kueue.x-k8s.io/elastic-job", conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: both}},
			first:  "The Job is stalled: Kueue keeps 1 pod waiting: it requests more nvidia.com/gpu than the quota of queue team-a has in flavor on-demand (at most 0)",
			text:   "flavor gpu does not match its nodeSelector type=on-demand; the scheduling gate kueue.x-k8s.io/elastic-job holds its pods",
			advice: "recreate the Job without the nodeSelector type=on-demand (Kueue writes that of a flavor into a Job that it admits), which keeps its pods from flavor gpu", avoid: "suspend",
		},
		"admitted": {
			gate: "kueue.x-k8s.io/topology", conditions: admitted, advice: "find the reason in the log of Kueue's controller",
			first: "The Job is stalled: Kueue admitted the Job (queue team-a) 3m ago, and has not removed the scheduling gate of its pods",
		},
		"without a Workload": {
			gate: "kueue.x-k8s.io/admission", advice: "find out why Kueue does not admit it",
			first: "The Job is stalled: the pod waits for Kueue to remove its scheduling gate kueue.x-k8s.io/admission",
		},
		"of another controller": {
			gate: "example.com/hold", advice: "find the controller that sets this gate",
			first: "The Job is stalled: the pod is waiting for its scheduling gate example.com/hold to be removed",
		},
	} {
		in := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Labels, j.Spec.Template.Spec.NodeSelector = map[string]string{kueue.QueueLabel: "team-a"}, map[string]string{"type": "on-demand"}
		}), explaintest.PodOf("a", func(p *corev1.Pod) {
			p.Status.Phase, p.Spec.NodeName, p.Spec.SchedulingGates = corev1.PodPending, "", []corev1.PodSchedulingGate{{Name: tc.gate}}
		}))
		if tc.conditions != nil {
			in.Workload = &kueue.Workload{Name: "w", Queue: "team-a", Conditions: tc.conditions}
		}
		r := explaintest.Report(in)
		if verdict := explaintest.Verdict(r); !strings.HasPrefix(verdict, tc.first) || !strings.Contains(verdict, tc.text) || tc.avoid != "" && strings.Contains(verdict, tc.avoid) {
			t.Errorf("%s: %s", name, verdict)
		}
		explaintest.WantText(t, r, tc.advice)
	}
}

// A deactivated Workload needs another remedy for each reason.
// Requirements: KUE-02
func TestReasonOfADeactivationHasItsRemedy(t *testing.T) {
	for reason, advice := range map[string]string{
		"DeactivatedDueToRequeuingLimitExceeded":       "find out why its pods were not ready in time",
		"DeactivatedDueToMaximumExecutionTimeExceeded": "kueue.x-k8s.io/max-exec-time-seconds",
		"InactiveWorkloadAdmissionCheck":               "resolve what the admission check reports",
		"Deactivated":                                  "find out who set spec.active of its Workload to false",
	} {
		w := &kueue.Workload{Name: "w", Inactive: true, Conditions: []metav1.Condition{{Type: "Evicted", Status: "True", Reason: reason, Message: "The workload is deactivated"}}}
		explaintest.WantText(t, explaintest.Report(heldInput(w)), advice, "activate its Workload again")
	}
}

// heldInput returns train in queue team-a, with its Workload.
func heldInput(w *kueue.Workload) input.Input {
	in := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Labels, j.Spec.Suspend = map[string]string{kueue.QueueLabel: "team-a"}, ptr.To(true)
	}))
	in.Workload = w
	return in
}
