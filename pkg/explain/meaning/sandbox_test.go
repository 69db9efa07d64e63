package meaning

import "testing"

func sandboxCases() map[string]startCase {
	return map[string]startCase{
		"no VPC address": {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "25": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`, Trouble{Kind: NoAddress, Name: "aws-cni"}},
		// https://github.com/kubernetes/test-infra/issues/13039
		"no range":      {"FailedCreatePodSandBox", `(combined from similar events): Failed create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": failed to allocate for range 0: no IP addresses available in range set: 10.60.28.1-10.60.28.254`, Trouble{Kind: NoAddress}},
		"Calico failed": {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`, Trouble{Kind: NetworkDenied, Name: "calico"}},
		"no plugin":     {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": plugin type="flannel" failed (add): failed to find plugin "flannel" in path [/opt/cni/bin]`, Trouble{Kind: NetworkPlugin, Name: "flannel", Detail: `failed to find plugin "flannel" in path [/opt/cni/bin]`}},
		"not ready":     {"NetworkNotReady", "network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", Trouble{Kind: NetworkNotReady}},
		"no gVisor":     {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "gvisor" is configured`, Trouble{Kind: NoRuntime, Name: "gvisor"}},
		"no pause":      {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`, Trouble{Kind: SandboxImage, Name: "registry.k8s.io/pause:3.9", Detail: `failed to get sandbox image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`}},
		"other trouble": {"FailedCreatePodSandBox", "no cgroup left", Trouble{Kind: Sandbox, Detail: "no cgroup left"}},
	}
}

// Requirements: PND-04
func TestSandboxThatCannotBeCreatedHasAMeaning(t *testing.T) {
	for name, tc := range sandboxCases() {
		tc.check(t, name)
	}
}
