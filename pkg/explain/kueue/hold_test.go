package kueue

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestEveryHoldHasWords(t *testing.T) {
	kinds := []HoldKind{Preempting, SharedPreemption, NoLongerFits, AdmissionGated, QuotaInUse, QuotaTooSmall, NoResource, BorrowingLimit, NoQueue, QueueMissing, QueueGone, QueueStopped, QueueInactive, NoDomains, TopologyFull, TopologyMismatch, TopologyRequired, PodsNotReady, Deactivated, UntoleratedTaint, NotSelected, FlavorMismatch, FlavorMissing, InvalidRequests, PodsUnplaced, NotResumed, Evicted, NotRequeued, LeftEvicted, AdmissionChecks, FailedChecks, Other}
	assert.Equal(t, len(holds), len(kinds), "rows")
	for _, kind := range kinds {
		h := Hold{FlavorReason: FlavorReason{Kind: kind}}
		text, _ := h.Text("the Job", "", time.Time{})
		if h.row().kind != kind || h.Advice() == "" || text == "" || strings.ContainsAny(text+strings.ReplaceAll(h.Advice(), "{recreate}", ""), "{}") {
			t.Errorf("%s: %q, %q", kind, text, h.Advice())
		}
	}
}

// A smaller request for a resource without a quota is not admitted either.
// Requirements: CLI-18
func TestResourceWithoutQuotaNeedsAQuota(t *testing.T) {
	hold := Hold{FlavorReason: FlavorReason{Kind: NoResource, Resource: "memory"}}
	if got := hold.Advice(); !strings.Contains(got, "have memory added to the resourceGroups") || strings.Contains(got, "smaller requests") {
		t.Error(got)
	}
}

// Requirements: CLI-18
func TestAFailedAdmissionCheckIsQuoted(t *testing.T) {
	checks := []AdmissionCheck{{Name: "prov", State: "Retry", Message: "Retrying after failure: Max nodepool size reached"}}
	at := metav1.NewTime(time.Unix(600, 0))
	w := Workload{Name: "w", Checks: checks, RequeueAt: &at, Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: "The workload has failed admission checks"}}}
	hold := HoldOf(&w, time.Unix(0, 0))
	if text, _ := hold.Text("the Job", "dws", time.Time{}); text != "Kueue keeps the Job suspended: admission check prov (Retry: Max nodepool size reached)" || hold.RequeueAt != &at {
		t.Errorf("%s: %+v", text, hold)
	}
	w.Inactive, w.Checks[0].State = true, "Rejected"
	rejected, _ := HoldOf(&w, at.Time).Text("the Job", "", at.Time)
	assert.Equal(t, rejected, "Kueue has deactivated the Job and does not try to start it again: admission check prov (Rejected: Max nodepool size reached)")
	w.Inactive, w.Checks[0].State, w.RequeueAt, w.Conditions = false, "Pending", nil, append(w.Conditions, metav1.Condition{Type: "Evicted", Status: "True", Reason: "AdmissionCheck", LastTransitionTime: at})
	later := at.Add(3 * time.Hour)
	text, _ := HoldOf(&w, later).Text("the Job", "dws", later)
	assert.Equal(t, text, "Kueue evicted the Job (queue dws) 3h ago for admission check prov (Pending: Max nodepool size reached) and has not queued it again")
	assert.Equal(t, HoldOf(&w, at.Time).Kind, FailedChecks, "evicted just now")
	w = Workload{Conditions: w.Conditions[:1]}
	assert.Equal(t, HoldOf(&w, later).Kind, Other, "without checks")
}

// All resources without enough unused quota are named: more of the first alone does not help. Other flavors are alternatives.
// Requirements: CLI-18
func TestAllResourcesWithoutUnusedQuotaAreNamed(t *testing.T) {
	for message, want := range map[string]string{
		"insufficient unused quota for cpu in flavor a100, 2 more needed, insufficient unused quota for memory in flavor a100, 2Gi more needed": "cpu (2 more needed) and memory (2Gi more needed) in flavor a100",
		"insufficient unused quota for cpu in flavor spot, 2 more needed, insufficient unused quota for cpu in flavor other, 3 more needed":     "cpu in flavor spot (2 more needed)",
		"insufficient unused quota in cohort for cpu in flavor spot, 1 more needed":                                                             "cpu in flavor spot (1 more needed)",
		"insufficient unused quota for cpu in flavor spot, insufficient unused quota for memory in flavor spot.":                                "cpu and memory in flavor spot",
	} {
		w := Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: message}}}
		text, _ := HoldOf(&w, time.Unix(0, 0)).Text("the Job", "ml", time.Time{})
		assert.Equal(t, text, "Kueue keeps the Job suspended: queue ml has too little unused quota for "+want, message)
	}
}

// Requirements: CLI-18
func TestReasonsAgainstOtherFlavorsAreNamed(t *testing.T) {
	for message, want := range map[string]string{
		"couldn't assign flavors to pod set main: flavor spot doesn't match node affinity, insufficient unused quota for cpu in flavor on-demand, 1 more needed. Pending the preemption of 1 workload(s)":  "flavor spot does not match its nodeSelector or affinity",
		"insufficient unused quota for cpu in flavor a, 1 more needed, insufficient unused quota for cpu in flavor b, 2 more needed, insufficient unused quota for memory in flavor b, 2Gi more needed":    "it has too little for cpu (2 more needed) and memory (2Gi more needed) in flavor b",
		"insufficient unused quota for cpu in flavor a, 1 more needed, untolerated taint {spot true NoSchedule <nil>} in flavor b, insufficient quota for cpu in flavor c, request > maximum capacity (3)": "flavor c has less cpu in all than the Job requests (at most 3), its pods do not tolerate the taint spot=true:NoSchedule of flavor b",
		"insufficient unused quota for cpu in flavor a": "",
	} {
		w := Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: message}}}
		assert.Equal(t, HoldOf(&w, time.Unix(0, 0)).Note(), want, message)
	}
}

// Requirements: CLI-18
func TestTopologiesWithoutRoomAreNamed(t *testing.T) {
	for message, want := range map[string]string{
		`couldn't assign flavors to pod set main: topology "racks" doesn't allow to fit any of 4 pod(s)`:                                              "topology racks has room for none of its 4 pods",
		`topology "racks" allows to fit only 2 out of 4 pod(s). Total nodes: 6; excluded: resource "nvidia.com/gpu": 3, taint "team=a:NoSchedule": 1`: "topology racks has room for only 2 of its 4 pods: of its nodes, 3 lack free nvidia.com/gpu and 1 has taint team=a:NoSchedule",
		`couldn't assign flavors to pod set main: Flavor "cpu" does not support TopologyAwareScheduling`:                                              "flavor cpu does not have the topology level that its annotation asks for",
		`couldn't assign flavors to pod set main: Flavor "gpu" supports only TopologyAwareScheduling`:                                                 "flavor gpu takes only pods that ask for a topology",
	} {
		w := Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: message}}}
		text, _ := HoldOf(&w, time.Unix(0, 0)).Text("the Job", "ml", time.Time{})
		assert.Equal(t, text, "Kueue keeps the Job suspended: "+want, message)
	}
}

// Requirements: CLI-18
func TestAdviceOnATopologyDependsOnWhatExcludesItsNodes(t *testing.T) {
	for message, want := range map[string]string{
		`topology "racks" doesn't allow to fit any of 4 pod(s)`:                                                                        "with smaller requests; with the annotation kueue.x-k8s.io/podset-preferred-topology",
		`topology "racks" doesn't allow to fit any of 4 pod(s). Total nodes: 9; excluded: resource "nvidia.com/gpu": 9`:                "with smaller requests",
		`topology "racks" allows to fit only 1 out of 2 slice(s). Total nodes: 9; excluded: resource "cpu": 1`:                         "or with another podset-slice-size",
		`topology "racks" allows to fit only 1 out of 2 slice(s). Total nodes: 9; excluded: taint "team=a:NoSchedule": 1, affinity: 2`: "or with a toleration for the taint team=a:NoSchedule",
		`topology "racks" allows to fit only 1 out of 2 pod(s). Total nodes: 9; excluded: affinity: 2`:                                 "or with another affinity",
	} {
		w := Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: message}}}
		assert.Contains(t, HoldOf(&w, time.Unix(0, 0)).Advice(), want, message)
		assert.Equal(t, strings.HasSuffix(HoldOf(&w, time.Unix(0, 0)).Advice(), "smaller requests"), want == "with smaller requests", message)
	}
}

// Requirements: CLI-18
func TestPodSetWithoutRoomIsNamedIfThereAreSeveral(t *testing.T) {
	w := Workload{Conditions: []metav1.Condition{{Type: "QuotaReserved", Status: "False", Message: "couldn't assign flavors to pod set workers: insufficient unused quota for cpu in flavor spot"}}}
	for sets, want := range map[int]string{1: "in flavor spot", 2: "in flavor spot, for its pod set workers"} {
		w.PodSets = sets
		text, _ := HoldOf(&w, time.Unix(0, 0)).Text("the JobSet", "ml", time.Time{})
		assert.Equal(t, text, "Kueue keeps the JobSet suspended: queue ml has too little unused quota for cpu "+want)
	}
}
