package meaning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// summary returns a text such as "1 InsufficientResource nvidia.com/gpu, 8 NodeAffinity".
func summary(all []Unfit) string {
	var parts []string
	for _, u := range all {
		part := string(u.Kind)
		if u.Nodes > 0 {
			part = fmt.Sprintf("%d %s", u.Nodes, part)
		}
		parts = append(parts, strings.TrimSpace(part+" "+u.Name))
	}
	return strings.Join(parts, ", ")
}

// unfitCases are messages from the filters of kube-scheduler 1.20 to 1.37, and from user reports.
func unfitCases() map[string]string {
	const preemption = " preemption: 0/9 nodes are available: 1 No preemption victims found for incoming pod, 8 Preemption is not helpful for scheduling."
	return map[string]string{
		"0/9 nodes are available: 1 Insufficient nvidia.com/gpu, 8 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling.": "1 InsufficientResource nvidia.com/gpu, 8 NodeAffinity",
		"0/9 nodes are available: 1 Insufficient memory, 8 Too many pods." + preemption: "1 InsufficientResource memory, 8 TooManyPods",
		// https://github.com/kubernetes-sigs/karpenter/issues/932
		"0/8 nodes are available: 1 Insufficient memory, 1 node(s) didn't find available persistent volumes to bind, 2 node(s) had untolerated taint {eks.amazonaws.com/compute-type: fargate}, 4 node(s) had untolerated taint {im-a-sparklike: true}. preemption: 0/8 nodes are available: 1 No preemption victims found for incoming pod, 7 Preemption is not helpful for scheduling..": "1 InsufficientResource memory, 1 NoVolume, 2 Taint eks.amazonaws.com/compute-type: fargate, 4 Taint im-a-sparklike: true",
		"0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 2 Insufficient cpu.":                                              "1 Taint node-role.kubernetes.io/master, 2 InsufficientResource cpu",
		"0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints (missing required label).":                                         "1 Cordoned, 2 TopologySpread missing required label",
		"0/3 nodes are available: 1 node(s) didn't match pod affinity rules, 1 node(s) didn't match pod anti-affinity rules, 1 node(s) didn't satisfy existing pods anti-affinity rules.": "1 PodAffinity pod affinity, 1 PodAffinity pod anti-affinity, 1 PodAffinity existing pods anti-affinity",
		"0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) didn't match the requested node name, 1 node(s) exceed max volume count.":       "1 HostPort, 1 NodeName, 1 VolumeLimit",
		"0/6 nodes are available: 1 node(s) had volume node affinity conflict, 2 node(s) didn't match PersistentVolume's node affinity, 3 node(s) had no available volume zone.":          "6 VolumeNodeAffinity",
		`0/5 nodes are available: persistentvolumeclaim "sync-config" not found. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.`:                        "ClaimMissing sync-config",
		`0/1 nodes are available: 1 persistentvolumeclaim "data" not found.`:                                                                                                              "1 ClaimMissing data",
		`persistentvolumeclaim "data" not found`:                                                                                                                      "ClaimMissing data",
		`0/5 nodes are available: persistentvolumeclaim "data" is being deleted.`:                                                                                     "ClaimDeleted data",
		`0/5 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim "x-scratch".`:                                           "ClaimPending x-scratch",
		"0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.": "ClaimUnbound",
		"0/2 nodes are available: 2 pod has unbound immediate PersistentVolumeClaims.":                                                                                "2 ClaimUnbound",
		"pod has unbound PersistentVolumeClaims (repeated 3 times)":                                                                                                   "ClaimUnbound",
		"0/2 nodes are available: 1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode, 1 Insufficient ephemeral-storage.":  "1 ClaimInUse, 1 InsufficientResource ephemeral-storage",
		"0/2 nodes are available: 2 node(s) dislike the pod, strongly. preemption: not eligible due to preemptionPolicy=Never.":                                       "2 Other",
		"Unschedulable": "Other",
		"":              "",
	}
}

// Requirements: PND-01
func TestSchedulersReasonsAreValues(t *testing.T) {
	for message, want := range unfitCases() {
		assert.Equal(t, summary(UnfitsOf(message)), want, message)
	}
}

// matchingUnfits returns the rows that match the message and yield to no other row that does.
func matchingUnfits(message string) []*unfitRow {
	var all []*unfitRow
	for i := range unfits {
		if unfits[i].matches(message) {
			all = append(all, &unfits[i])
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *unfitRow) bool {
		return slices.ContainsFunc(all, func(other *unfitRow) bool { return slices.Contains(r.yieldsTo, other.kind) })
	})
}

// The order of the rows must not decide what a reason means.
func TestNoReasonOfTheSchedulerMatchesTwoRows(t *testing.T) {
	for message := range unfitCases() {
		for _, u := range UnfitsOf(message) {
			if best := matchingUnfits(u.Message); len(best) > 1 {
				t.Errorf("%q is both %s and %s: one has to yield to the other", u.Message, best[0].kind, best[1].kind)
			}
		}
	}
}

func TestEveryReasonOfTheSchedulerHasARowWithAllOfItsColumns(t *testing.T) {
	seen := map[UnfitKind]bool{}
	for _, r := range unfits {
		if r.kind == "" || seen[r.kind] || r.patterns == nil || (r.advice == "") == (r.advise == nil) {
			t.Errorf("%+v", r)
		}
		seen[r.kind] = true
		for _, u := range []Unfit{{Kind: r.kind, Message: "m"}, {Kind: r.kind, Name: "n", Requested: "1", Message: "m"}} {
			claims := []Claim{{Name: "n", Warning: "no"}, {Name: "o"}}
			for _, text := range []string{u.Text(claims), u.Advice(claims)} {
				if text == "" || strings.Contains(strings.NewReplacer("{n}", "", "{recreate}", "", "{?", "").Replace(text), "{") {
					t.Errorf("%s: %q", r.kind, text)
				}
			}
		}
	}
}

// Requirements: PND-01
func TestUnknownReasonKeepsTheSchedulersWords(t *testing.T) {
	for message, want := range map[string]string{
		"0/2 nodes are available: 2 node(s) dislike the pod, strongly. preemption: not eligible due to preemptionPolicy=Never.": "node(s) dislike the pod, strongly",
		"pod group is not ready,\n 1 Pending.": "pod group is not ready, 1 Pending",
	} {
		if all := UnfitsOf(message); len(all) != 1 || all[0].Message != want {
			t.Errorf("%s: %+v, want %q", message, all, want)
		}
	}
}

// What all nodes lack is one reason, so that a single node does not read as two.
// Requirements: PND-01
func TestResourcesThatAllNodesLackAreOneReason(t *testing.T) {
	for message, want := range map[string]string{
		"0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.":                                              "the only node lacks free cpu and memory",
		"0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory, 3 Too many pods.":                             "3 nodes lack free cpu and memory, 3 run as many pods as they may",
		"0/5 nodes are available: 1 node(s) had untolerated taint {a: b}, 4 Insufficient cpu, 4 Insufficient memory.":      "1 node has an untolerated taint {a: b}, 4 lack free cpu and memory",
		"0/3 nodes are available: 3 Insufficient cpu, 1 Insufficient memory.":                                              "3 nodes lack free cpu, 1 lacks free memory",
		"0/1 nodes are available: 1 Too many pods, 1 Insufficient cpu.":                                                    "the only node runs as many pods as it may, it lacks free cpu",
		"0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.":                       "the only node is not ready (taint node.kubernetes.io/not-ready)",
		"0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/2 nodes are available: 2 No x.": "1 node lacks free cpu, 1 lacks free memory",
	} {
		assert.Equal(t, strings.Join(Sentences(UnfitsOf(message), nil, "node", "nodes"), ", "), want, message)
	}
}

// Requirements: PND-01
func TestNothingIsToBeFreedIfNoPodsAreInTheWay(t *testing.T) {
	const message = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: b}. preemption: 0/2 nodes are available: "
	for end, frees := range map[string]bool{"2 Preemption is not helpful for scheduling.": false, "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.": true} {
		u := UnfitsOf(message + end)[0]
		u.Requested = "64"
		assert.Equal(t, strings.Contains(u.Advice(nil), "free some of it"), frees, end)
	}
}

// Requirements: PND-01
func FuzzUnfitsOf(f *testing.F) {
	f.Add("0/9 nodes are available: 1 Insufficient nvidia.com/gpu, 8 node(s) didn't match Pod's node affinity/selector. preemption: none")
	f.Add(`0/1 nodes are available: , 99999999999 x, 1 , persistentvolumeclaim "" not found`)
	f.Fuzz(func(t *testing.T, message string) {
		size := 0
		for _, u := range UnfitsOf(message) {
			size += len(u.Message)
			if u.Kind == "" || u.Nodes < 0 || len(u.Name) > len(u.Message) {
				t.Errorf("%q: %+v", message, u)
			}
		}
		if size > len(message) {
			t.Errorf("%q: the reasons are longer", message)
		}
	})
}
