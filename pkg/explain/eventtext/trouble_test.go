package eventtext

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

func troubleOf(t *explain.Trouble) explain.Trouble {
	if t == nil {
		return explain.Trouble{}
	}
	return *t
}

// backOff returns the kubelet's message about an image while it waits to pull it again.
func backOff(err string) string {
	return `Back-off pulling image "team/not-found-denied:1": ErrImagePull: ` + err
}

// The messages come from containerd and CRI-O, as the kubelet passes them on. Words in an image's name have no effect.
//
// Requirements: PND-03
func TestImageThatCannotBePulledHasAMeaning(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, message string
		want            explain.TroubleKind
	}{
		"docker.io limits":        {"ImagePullBackOff", backOff(`failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/postgres/manifests/sha256:8d: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.`), explain.TroubleRateLimit},
		"docker.io limits CRI-O":  {"ErrImagePull", "rpc error: code = Unknown desc = Error reading manifest v3.20.0 in docker.io/calico/kube-controllers: toomanyrequests: You have reached your pull rate limit.", explain.TroubleRateLimit},
		"the kubelet limits":      {"ErrImagePull", "pull QPS exceeded", explain.TroublePullsThrottled},
		"docker.io denies":        {"ImagePullBackOff", backOff("failed to resolve reference \"docker.io/acme/x:3\": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"), explain.TroubleUnauthorized},
		"quay.io denies":          {"ErrImagePull", "reading manifest 1.0 in quay.io/acme/x: unauthorized: access to the requested resource is not authorized", explain.TroubleUnauthorized},
		"ghcr.io denies":          {"ErrImagePull", "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token: 403 Forbidden", explain.TroubleUnauthorized},
		"ECR denies":              {"ErrImagePull", "pulling from host 1.dkr.ecr.eu-west-1.amazonaws.com failed with status code [manifests 1]: 401 Unauthorized", explain.TroubleUnauthorized},
		"GCR denies":              {"ErrImagePull", "denied: Permission \"artifactregistry.repositories.downloadArtifacts\" denied on resource", explain.TroubleUnauthorized},
		"no tag, containerd":      {"ImagePullBackOff", backOff("failed to resolve reference \"docker.io/library/x:9\": docker.io/library/x:9: not found"), explain.TroubleImageNotFound},
		"no tag, CRI-O":           {"ErrImagePull", "reading manifest latest in registry.example/x: manifest unknown: manifest unknown", explain.TroubleImageNotFound},
		"no platform, containerd": {"ImagePullBackOff", backOff("no match for platform in manifest: not found"), explain.TroubleNoPlatform},
		"no platform, CRI-O":      {"ErrImagePull", `choosing an image from manifest list docker://x:1: no image found in image index for architecture "arm64", variant "v8", OS "linux"`, explain.TroubleNoPlatform},
		"no platform, Docker":     {"ErrImagePull", "no matching manifest for linux/arm64/v8 in the manifest list entries", explain.TroubleNoPlatform},
		"never":                   {"ErrImageNeverPull", `Container image "train:dev" is not present with pull policy of Never`, explain.TroubleNotOnNode},
		"no DNS":                  {"ImagePullBackOff", backOff(`failed to do request: Head "https://registry.corp/v2/x/manifests/1": dial tcp: lookup registry.corp on 10.0.0.2:53: no such host`), explain.TroubleUnreachable},
		"no route":                {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/x/manifests/1": dial tcp 10.1.2.3:443: i/o timeout`, explain.TroubleUnreachable},
		"nobody listens":          {"ErrImagePull", `pinging container registry localhost:5000: Get "https://localhost:5000/v2/": dial tcp [::1]:5000: connect: connection refused`, explain.TroubleUnreachable},
		"only unavailable":        {"RegistryUnavailable", "", explain.TroubleUnreachable},
		"own certificate":         {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/x/manifests/1": tls: failed to verify certificate: x509: certificate signed by unknown authority`, explain.TroubleRegistryTLS},
		"plain HTTP":              {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/": http: server gave HTTP response to HTTPS client`, explain.TroubleRegistryTLS},
		"the registry fails":      {"ErrImagePull", "unexpected status from HEAD request to https://registry.corp/v2/x/manifests/1: 503 Service Unavailable", explain.TroubleRegistryFails},
		"no signature":            {"SignatureValidationFailed", "image pull failed for x because the signature validation failed: Source image rejected: A signature was required, but no signature exists", explain.TroubleSignature},
		"full disk":               {"ErrImagePull", "failed to extract layer sha256:1: write /var/lib/containerd/x: no space left on device: unknown", explain.TroubleNoDiskSpace},
		"an old kubelet":          {"ImagePullBackOff", `Back-off pulling image "team/not-found-denied:1"`, ""},
		"its event":               {"ImagePullBackOff", `Failed to pull image "team/not-found-denied:1": rpc error: code = NotFound desc = not found`, explain.TroubleImageNotFound},
		"no name":                 {explain.InvalidImageName, `Failed to apply default image tag "X": couldn't parse image name: not found`, ""},
		"something else":          {"ErrImagePull", "rpc error: code = Canceled desc = stopped", ""},
	} {
		if got := troubleOf(ImageTrouble(tc.reason, tc.message)); got.Kind != tc.want {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
}

// Requirements: PND-04
func TestPodThatDoesNotStartHasAMeaning(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, message string
		want            explain.Trouble
	}{
		"no Secret":      {"FailedMount", `MountVolume.SetUp failed for volume "key" : secret "google-cloud-key" not found`, explain.Trouble{Kind: explain.TroubleObjectMissing, Object: "Secret", Name: "google-cloud-key", Volume: "key"}},
		"no ConfigMap":   {"FailedMount", `MountVolume.SetUp failed for volume "config" : configmap "settings" not found`, explain.Trouble{Kind: explain.TroubleObjectMissing, Object: "ConfigMap", Name: "settings", Volume: "config"}},
		"no claim":       {"FailedMount", `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC ns/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found`, explain.Trouble{Kind: explain.TroubleObjectMissing, Object: "claim", Name: "data", Volume: "data"}},
		"no key":         {"FailedMount", `MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.key`, explain.Trouble{Kind: explain.TroubleKeyMissing, Object: "Secret", Key: "tls.key", Volume: "tls"}},
		"no config key":  {"FailedMount", `MountVolume.SetUp failed for volume "c" : references non-existent config key: app.yaml`, explain.Trouble{Kind: explain.TroubleKeyMissing, Object: "ConfigMap", Key: "app.yaml", Volume: "c"}},
		"no driver":      {"FailedMount", `MountVolume.MountDevice failed for volume "pvc-77" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name efs.csi.aws.com not found in the list of registered CSI drivers`, explain.Trouble{Kind: explain.TroubleDriverMissing, Name: "efs.csi.aws.com", Volume: "pvc-77"}},
		"no CSINode":     {"FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-77" : CSINode worker-1 does not contain driver ebs.csi.aws.com`, explain.Trouble{Kind: explain.TroubleDriverMissing, Name: "ebs.csi.aws.com", Volume: "pvc-77"}},
		"no attacher":    {"FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-77" : timed out waiting for external-attacher of ebs.csi.aws.com CSI driver to attach volume vol-1`, explain.Trouble{Kind: explain.TroubleAttacher, Name: "ebs.csi.aws.com", Volume: "pvc-77"}},
		"attached":       {"FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already used by pod(s) bootstrap-sync`, explain.Trouble{Kind: explain.TroubleMultiAttach, Volume: "pvc-0a1b", Said: "used by pod(s) bootstrap-sync"}},
		"attached once":  {"FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already exclusively attached to one node and can't be attached to another`, explain.Trouble{Kind: explain.TroubleMultiAttach, Volume: "pvc-0a1b", Said: "exclusively attached to one node and can't be attached to another"}},
		"a timeout":      {"FailedMount", "Unable to attach or mount volumes: unmounted volumes=[config], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition", explain.Trouble{Kind: explain.TroubleMountTimeout, Volume: "config"}},
		"a hostPath":     {"FailedMount", `MountVolume.SetUp failed for volume "host" : hostPath type check failed: /data is not a directory`, explain.Trouble{Kind: explain.TroubleHostPath, Volume: "host", Said: "/data is not a directory"}},
		"NFS denies":     {"FailedMount", "MountVolume.SetUp failed for volume \"nfs\" : mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t nfs 10.0.0.1:/x /var/lib/kubelet/pods/1\nOutput: mount.nfs: access denied by server while mounting 10.0.0.1:/x", explain.Trouble{Kind: explain.TroubleMountDenied, Volume: "nfs", Said: "mount.nfs: access denied by server while mounting 10.0.0.1:/x"}},
		"NFS is gone":    {"FailedMount", `MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32: Connection timed out`, explain.Trouble{Kind: explain.TroubleVolume, Volume: "nfs", Said: `mount failed: exit status 32: Connection timed out`}},
		"no VPC address": {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "25": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`, explain.Trouble{Kind: explain.TroubleNoAddress, Name: "aws-cni"}},
		// https://github.com/kubernetes/test-infra/issues/13039
		"no range":      {"FailedCreatePodSandBox", `(combined from similar events): Failed create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": failed to allocate for range 0: no IP addresses available in range set: 10.60.28.1-10.60.28.254`, explain.Trouble{Kind: explain.TroubleNoAddress}},
		"Calico failed": {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized`, explain.Trouble{Kind: explain.TroubleNetworkPlugin, Name: "calico", Said: "error getting ClusterInformation: connection is unauthorized: Unauthorized"}},
		"no plugin":     {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42": plugin type="flannel" failed (add): failed to find plugin "flannel" in path [/opt/cni/bin]`, explain.Trouble{Kind: explain.TroubleNetworkPlugin, Name: "flannel", Said: `failed to find plugin "flannel" in path [/opt/cni/bin]`}},
		"not ready":     {"NetworkNotReady", "network is not ready: container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", explain.Trouble{Kind: explain.TroubleNetworkNotReady}},
		"no gVisor":     {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "gvisor" is configured`, explain.Trouble{Kind: explain.TroubleNoRuntime, Name: "gvisor"}},
		"no pause":      {"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`, explain.Trouble{Kind: explain.TroubleSandboxImage, Name: "registry.k8s.io/pause:3.9", Said: `failed to get sandbox image "registry.k8s.io/pause:3.9": dial tcp: i/o timeout`}},
		"other trouble": {"FailedCreatePodSandBox", "no cgroup left", explain.Trouble{Kind: explain.TroubleSandbox, Said: "no cgroup left"}},
		"other reason":  {"Unhealthy", `secret "x" not found`, explain.Trouble{}},
		"no message":    {"FailedMount", "", explain.Trouble{}},
	} {
		if got := troubleOf(StartTrouble(tc.reason, tc.message)); got != tc.want {
			t.Errorf("%s: %+v\nwant %+v", name, got, tc.want)
		}
	}
}

// The API server calls a webhook through its Service, and reports what is wrong with the Service.
//
// Requirements: PND-05
func TestWebhookThatCannotBeCalledHasAMeaning(t *testing.T) {
	const call = `Error creating: Internal error occurred: failed calling webhook "v.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": `
	for message, want := range map[string]explain.Trouble{
		call + `no endpoints available for service "kyverno-svc"`:                                                            {Kind: explain.TroubleNoEndpoints, Name: "kyverno-svc"},
		call + `service "kyverno-svc" not found`:                                                                             {Kind: explain.TroubleNoService, Name: "kyverno-svc"},
		call + `dial tcp 10.96.0.7:443: connect: connection refused`:                                                         {Kind: explain.TroubleRefused, Name: "kyverno-svc", Said: "dial tcp 10.96.0.7:443: connect: connection refused"},
		call + `context deadline exceeded`:                                                                                   {Kind: explain.TroubleNoAnswer, Name: "kyverno-svc", Said: "context deadline exceeded"},
		call + `tls: failed to verify certificate: x509: certificate signed by unknown authority`:                            {Kind: explain.TroubleCertificate, Name: "kyverno-svc", Said: "x509: certificate signed by unknown authority"},
		`failed calling webhook "w": failed to call webhook: Post "https://hooks.corp/x?timeout=1s": dial tcp: no such host`: {Kind: explain.TroubleNoHost, Said: "dial tcp: no such host"},
		`failed calling webhook "w": received invalid webhook response: expected response.uid="1", got ""`:                   {},
	} {
		r := RefusalOf(message)
		got := troubleOf(r.Trouble)
		if got.Kind != want.Kind || got.Name != want.Name || (want.Said == "") != (got.Said == "") || r.Reason != explain.RefusalWebhookDown {
			t.Errorf("%s: %s %+v\nwant %+v", message, r.Reason, got, want)
		}
	}
}

// Requirements: PND-06
func TestQuotaNamesWhatPodsLack(t *testing.T) {
	for message, want := range map[string]int{
		"Error creating: pods is forbidden: failed quota: compute: must specify limits.cpu for: main; limits.memory for: main": 2,
		`Error creating: pods "x" is forbidden: failed quota: compute: must specify limits.cpu,limits.memory,requests.cpu`:     3,
		`Error creating: pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1`:     0,
	} {
		r := RefusalOf(message)
		if len(r.Lacks) != want || want > 0 && r.Lacks[1] != "limits.memory" {
			t.Errorf("%s: %q", message, r.Lacks)
		}
	}
}

// Requirements: PND-03, PND-04
func FuzzTroubles(f *testing.F) {
	f.Add("FailedMount", `MountVolume.SetUp failed for volume "key" : secret "google-cloud-key" not found`)
	f.Add("ErrImagePull", `Failed to pull image "x": toomanyrequests`)
	f.Fuzz(func(t *testing.T, reason, message string) {
		for _, trouble := range []*explain.Trouble{ImageTrouble(reason, message), StartTrouble(reason, message), WebhookTrouble(message)} {
			if x := troubleOf(trouble); trouble != nil && (x.Kind == "" || len(x.Name)+len(x.Key)+len(x.Volume)+len(x.Said) > 4*len(message)) {
				t.Errorf("%q: %q: %+v", reason, message, x)
			}
		}
	})
}
