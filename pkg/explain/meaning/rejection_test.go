package meaning

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: PND-02
func TestRejectedPodHasAdviceByItsReason(t *testing.T) {
	for _, tc := range []struct{ reason, message, want string }{
		{"SysctlForbidden", `forbidden sysctl: "net.core.somaxconn" not allowlisted`, "without sysctl net.core.somaxconn"},
		{"AppArmor", `Cannot enforce AppArmor: profile "scan" is not loaded`, "load AppArmor profile scan"}, {"AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host", "run on nodes with AppArmor"},
		{"UnexpectedAdmissionError", "rpc error: code = Unknown desc = error creating nvml.Device 5: nvml: GPU is lost", "kubectl cordon"},
		{"OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110", "maxPods"},
		{"OutOfcpu", "Node didn't have enough resource: cpu, requested: 4000, used: 253562, capacity: 254600", "what the node has of cpu"}, {"OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 8000, used: 0, capacity: 4000", "requests of cpu, which is 8: its node has 4 in all"},
		{"Evicted", "The node had condition: [DiskPressure]. ", "no longer has the condition DiskPressure"},
		{"TaintToleration", "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate", "a toleration for it"},
		{"InvalidNodeInfo", "x", "the kubelet of the node refused the pod"},
	} {
		end := Ending{Kind: EndRejected, By: ByKubelet, Reason: tc.reason}
		if got := end.Advice(tc.message); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwithout %q", tc.reason, got, tc.want)
		}
	}
}

// Requirements: PND-02
func TestEvictedPodHasAdviceOnItsLargestContainer(t *testing.T) {
	end := Ending{Kind: EndEvicted, By: ByKubelet}
	message := "The node was low on resource: ephemeral-storage. Threshold quantity: 5217230516, available: 4087796Ki. Container dump was using 18933736Ki, request is 0, has larger consumption of ephemeral-storage. "
	assert.Equal(t, end.Advice(message), "request ephemeral-storage for container dump, which used 18Gi and requests 0, so that it runs on a node that has as much; or have it use less, or write to a volume with a claim")
	assert.Equal(t, end.IsOwnDoing("Pod ephemeral local storage usage exceeds the total limit of containers 5Gi. "), true)
	assert.Contains(t, end.Advice("The node was low on resource: memory. "), "the resource that ran low")
	message = "The node was low on resource: ephemeral-storage. Container dump was using 10304Ki, request is 10Mi, has larger consumption of ephemeral-storage. "
	assert.Contains(t, end.Advice(message), "free disk space on the node (images, logs, files of other pods), or enlarge its disk: container dump used only 10Mi")
}

// Requirements: PND-02
func TestTaintOfAStateIsNoReservation(t *testing.T) {
	for message, want := range map[string][2]string{
		"node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }":                   {"2 nodes have too little free disk space (taint node.kubernetes.io/disk-pressure)", "free disk space on the nodes"},
		"node(s) had untolerated taint {node.cilium.io/agent-not-ready: true}":                 {"2 nodes wait for their agent of node.cilium.io (taint node.cilium.io/agent-not-ready)", "check the agent of node.cilium.io"},
		"node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}": {"2 nodes wait for their cloud controller (taint node.cloudprovider.kubernetes.io/uninitialized)", "cloud-controller-manager"},
		"node(s) had untolerated taint {dedicated: batch}":                                     {"2 nodes have an untolerated taint {dedicated: batch}", "with a toleration for the taint {dedicated: batch}"},
	} {
		all := UnfitsOf("0/2 nodes are available: 2 " + message + ".")
		if got := Sentences(all, nil, "node", "nodes"); len(got) != 1 || got[0] != want[0] {
			t.Errorf("%q, want %q", got, want[0])
		}
		if got := all[0].Advice(nil); !strings.Contains(got, want[1]) {
			t.Errorf("%s: %s", message, got)
		}
	}
}

// Requirements: PND-02
func TestAdviceOnOwnRulesComesBeforeTaintsOfOtherNodes(t *testing.T) {
	var kinds []string
	for _, u := range ForAdvice(UnfitsOf("0/9 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) had untolerated taint {gpu: yes}, 1 node(s) had untolerated taint {tpu: }, 3 node(s) didn't match Pod's node affinity/selector, 3 Insufficient cpu.")) {
		kinds = append(kinds, string(u.Kind)+" "+strings.Join(append([]string{u.Name}, u.More...), " or "))
	}
	assert.Equal(t, strings.Join(kinds, "; "), "InsufficientResource cpu; NodeAffinity ; Taint gpu: yes or tpu; Taint node-role.kubernetes.io/control-plane")
	assert.Contains(t, (&Unfit{Kind: UnfitTaint, Name: "gpu: yes", More: []string{"tpu"}}).Advice(nil), "the taint {gpu: yes} or {tpu} in its pod template (key: gpu, value: yes; or key: tpu, operator: Exists)")
}

// Requirements: PND-02
func TestUnboundClaimNamesWhatItLacks(t *testing.T) {
	u := UnfitsOf("0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.")[0]
	u.Name = "data"
	for _, tc := range []struct {
		claim      Claim
		want, help string
	}{
		{Claim{Name: "data", NoClass: true}, "claim data is not bound: it has no StorageClass, and the cluster has no default one", "is-default-class"},
		{Claim{Name: "data", StorageClass: "gp2", Provisioner: "ebs.csi.aws.com"}, "claim data is not bound: its provisioner ebs.csi.aws.com has not created a volume", "whether ebs.csi.aws.com is installed"},
		{Claim{Name: "data", StorageClass: "gp2", Warning: "error generating accessibility requirements: no topology key found on CSINode n1"}, "claim data is not bound (“error generating accessibility requirements: no topology key found on CSINode n1”)", "the CSI driver of StorageClass gp2 has not registered on node n1"},
		{Claim{Name: "data", StorageClass: "gp2", Provisioner: "ebs.csi.aws.com", Warning: `failed to provision volume with StorageClass "gp2": rpc error: code = DeadlineExceeded desc = context deadline exceeded`}, "claim data is not bound (“context deadline exceeded”)", "whether the storage behind StorageClass gp2 answers"},
	} {
		claims := []Claim{tc.claim}
		if got := u.Text(claims); got != tc.want {
			t.Errorf("%s\nwant %s", got, tc.want)
		}
		if got := u.Advice(claims); !strings.Contains(got, tc.help) {
			t.Errorf("%s\nwithout %s", got, tc.help)
		}
	}
}

// Requirements: PND-02
func TestNodePoolThatPassedMostChecksHasAdvice(t *testing.T) {
	a := OfAutoscaler("karpenter", "FailedScheduling", `Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"605m"}, did not tolerate gpu=1:NoSchedule; incompatible with nodepool "app", daemonset overhead={"cpu":"605m"}, incompatible requirements, label "team" does not have known values`)
	const want = "Karpenter adds no node: NodePool gpu has the taint gpu=1:NoSchedule, NodePool app gives its nodes no label team"
	if got := a.Text(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, _ := a.Advice(); !strings.HasPrefix(got, "have a NodePool give its nodes the label team") {
		t.Error(got)
	}
}
