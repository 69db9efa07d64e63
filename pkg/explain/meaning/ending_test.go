package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Each event of the end of a pod has one meaning, whatever the order of the rows.
func TestEventsOfTheEndOfAPod(t *testing.T) {
	for _, tc := range []struct {
		source, reason, message string
		want                    Ending // the zero value for nil
		detail                  string
	}{
		{"kubelet", "Killing", "Container main failed liveness probe", Ending{Kind: EndProbe, By: ByKubelet, Container: "main", Probe: "liveness"}, ""},
		{"kubelet", "Killing", "Container main failed liveness probe, will be restarted", Ending{}, ""},
		{"kubelet", "Killing", "Stopping container main", Ending{}, ""},
		{"kubelet", "Killing", "FailedPostStartHook", Ending{Kind: EndPostStart, By: ByKubelet, Reason: "FailedPostStartHook", Container: "c"}, ""},
		{"kubelet", "FailedPostStartHook", "PostStartHook failed", Ending{Kind: EndPostStart, By: ByKubelet, Reason: "FailedPostStartHook", Container: "c"}, ""},
		{"kubelet", "FailedPostStartHook", `Exec lifecycle hook ([sh -c x]) for Container "main" in Pod "a_ns(u)" failed - error: command 'sh' exited with 1: , message: ""`,
			Ending{Kind: EndPostStart, By: ByKubelet, Reason: "FailedPostStartHook", Container: "main"}, `Exec lifecycle hook ([sh -c x]) for Container "main" in Pod "a_ns(u)" failed - error: command 'sh' exited with 1: , message: ""`},
		{"kubelet", "Evicted", "The node was low on resource: memory.", Ending{Kind: EndEvicted, By: ByKubelet, Reason: "Evicted"}, "The node was low on resource: memory."},
		{"kubelet", "Evicted", "The node had condition: [DiskPressure].", Ending{Kind: EndRejected, By: ByKubelet, Reason: "Evicted"}, "The node had condition: [DiskPressure]."},
		{"kubelet", "OutOfcpu", "Node didn't have enough resource: cpu", Ending{Kind: EndRejected, By: ByKubelet, Reason: "OutOfcpu"}, "Node didn't have enough resource: cpu"},
		{"karpenter", "Evicted", "Evicted pod: Underutilized", Ending{Kind: EndEvicted, By: ByKarpenter, Reason: "Evicted"}, "Underutilized"},
		{"karpenter", "Disrupted", "Evicted pod", Ending{Kind: EndEvicted, By: ByKarpenter, Reason: "Disrupted"}, ""},
		{"cluster-autoscaler", "ScaleDown", "deleting pod for node scale down", Ending{Kind: EndEvicted, By: ByClusterAutoscaler, Reason: "ScaleDown"}, "deleting pod for node scale down"},
		{"descheduler", "LowNodeUtilization", "pod evicted from worker-1 node by sigs.k8s.io/descheduler", Ending{Kind: EndEvicted, By: ByDescheduler, Reason: "LowNodeUtilization"}, "pod evicted from worker-1 node by sigs.k8s.io/descheduler"},
		{"default-scheduler", "Preempted", "Preempted by pod u on node worker-1", Ending{Kind: EndPreempted, By: ByScheduler, Reason: "Preempted"}, "Preempted by pod u on node worker-1"},
		{"kubelet", "Preempting", "Preempted in order to admit critical pod", Ending{Kind: EndPreempted, By: ByKubelet, Reason: "Preempting"}, "Preempted in order to admit critical pod"},
		{"taint-eviction-controller", "TaintManagerEviction", "Marking for deletion Pod ns/a", Ending{Kind: EndTaint, Reason: "TaintManagerEviction"}, ""},
		{"taint-eviction-controller", "TaintManagerEviction", "Cancelling deletion of Pod ns/a", Ending{}, ""},
		{"kubelet", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline", Ending{Kind: EndPodDeadline, By: ByKubelet, Reason: "DeadlineExceeded"}, "Pod was active on the node longer than the specified deadline"},
	} {
		got := Ending{}
		end, detail := OfEnd(tc.source, tc.reason, tc.message, "c")
		if end != nil {
			got = *end
		}
		if got != tc.want || detail != tc.detail {
			t.Errorf("%s: %s: %+v, %q", tc.reason, tc.message, got, detail)
		}
		rows := 0
		for i := range endings {
			for _, e := range endings[i].events {
				if e.matches(tc.source, tc.reason, tc.message) {
					rows++
				}
			}
		}
		if rows > 1 {
			t.Errorf("%s: %s matches %d rows", tc.reason, tc.message, rows)
		}
	}
}

func TestEveryEndHasWords(t *testing.T) {
	type key struct {
		kind EndKind
		by   string
	}
	seen := map[key]bool{}
	for i := range endings {
		r := &endings[i]
		if k := (key{r.kind, r.by}); r.kind == "" || r.brief == "" || r.text == "" || seen[k] {
			t.Errorf("%+v", r)
		} else {
			seen[k] = true
		}
	}
}

// Requirements: FCT-10
func TestOutputOfAProbeDecidesWhatIsAdvised(t *testing.T) {
	for output, want := range map[string]string{
		`strconv.Atoi: parsing "pg-health": invalid syntax`:                                                                "a port of the name pg-health in ports of the container",
		`Get "http://10.42.1.17:8080/healthz": dial tcp 10.42.1.17:8080: connect: connection refused`:                      "(0.0.0.0, not 127.0.0.1) and at the port of its startup probe (10.42.1.17:8080)",
		`Get "http://10.42.1.17:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`: "raise timeoutSeconds of the startup probe of container main",
		"HTTP probe failed with statuscode: 404":                                                                           "correct the path of the startup probe of container main, which answers it with 404",
		"HTTP probe failed with statuscode: 503":                                                                           "give container main more time to start",
		`exec: "curl": executable file not found in $PATH`:                                                                 "that its image has, which has no curl",
		"sh: /ready.sh: not found":                                                                                         "mount or write its file /ready.sh",
	} {
		assert.Contains(t, (&Ending{Kind: EndProbe, By: ByKubelet, Container: "main", Probe: "startup"}).Advice(output), want)
	}
}
