package meaning

import "testing"

// backOff returns the kubelet's message about an image while it waits to pull it again.
func backOff(err string) string {
	return `Back-off pulling image "team/not-found-denied:1": ErrImagePull: ` + err
}

type imageCase struct {
	reason, message string
	want            TroubleKind
}

// imageCases are messages of containerd and CRI-O, as the kubelet passes them on.
func imageCases() map[string]imageCase {
	return map[string]imageCase{
		"docker.io limits":        {"ImagePullBackOff", backOff(`failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/postgres/manifests/sha256:8d: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.`), RateLimit},
		"docker.io limits CRI-O":  {"ErrImagePull", "rpc error: code = Unknown desc = Error reading manifest v3.20.0 in docker.io/calico/kube-controllers: toomanyrequests: You have reached your pull rate limit.", RateLimit},
		"the kubelet limits":      {"ErrImagePull", "pull QPS exceeded", PullsThrottled},
		"docker.io denies":        {"ImagePullBackOff", backOff("failed to resolve reference \"docker.io/acme/x:3\": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"), Unauthorized},
		"quay.io denies":          {"ErrImagePull", "reading manifest 1.0 in quay.io/acme/x: unauthorized: access to the requested resource is not authorized", Unauthorized},
		"ghcr.io denies":          {"ErrImagePull", "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token: 403 Forbidden", Unauthorized},
		"ECR denies":              {"ErrImagePull", "pulling from host 1.dkr.ecr.eu-west-1.amazonaws.com failed with status code [manifests 1]: 401 Unauthorized", CloudRegistry},
		"GCR denies":              {"ErrImagePull", "denied: Permission \"artifactregistry.repositories.downloadArtifacts\" denied on resource", Unauthorized},
		"no tag, containerd":      {"ImagePullBackOff", backOff("failed to resolve reference \"docker.io/library/x:9\": docker.io/library/x:9: not found"), ImageNotFound},
		"no tag, CRI-O":           {"ErrImagePull", "reading manifest latest in registry.example/x: manifest unknown: manifest unknown", ImageNotFound},
		"no platform, containerd": {"ImagePullBackOff", backOff("no match for platform in manifest: not found"), NoPlatform},
		"no platform, CRI-O":      {"ErrImagePull", `choosing an image from manifest list docker://x:1: no image found in image index for architecture "arm64", variant "v8", OS "linux"`, NoPlatform},
		"no platform, Docker":     {"ErrImagePull", "no matching manifest for linux/arm64/v8 in the manifest list entries", NoPlatform},
		"never":                   {"ErrImageNeverPull", `Container image "train:dev" is not present with pull policy of Never`, NotOnNode},
		"no DNS":                  {"ImagePullBackOff", backOff(`failed to do request: Head "https://registry.corp/v2/x/manifests/1": dial tcp: lookup registry.corp on 10.0.0.2:53: no such host`), RegistryUnknown},
		"no route":                {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/x/manifests/1": dial tcp 10.1.2.3:443: i/o timeout`, Unreachable},
		"nobody listens":          {"ErrImagePull", `pinging container registry localhost:5000: Get "https://localhost:5000/v2/": dial tcp [::1]:5000: connect: connection refused`, Unreachable},
		"only unavailable":        {"RegistryUnavailable", "", Unreachable},
		"own certificate":         {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/x/manifests/1": tls: failed to verify certificate: x509: certificate signed by unknown authority`, RegistryTLS},
		"plain HTTP":              {"ErrImagePull", `failed to do request: Head "https://registry.corp/v2/": http: server gave HTTP response to HTTPS client`, RegistryTLS},
		"the registry fails":      {"ErrImagePull", "unexpected status from HEAD request to https://registry.corp/v2/x/manifests/1: 503 Service Unavailable", RegistryFails},
		"no signature":            {"SignatureValidationFailed", "image pull failed for x because the signature validation failed: Source image rejected: A signature was required, but no signature exists", Signature},
		"full disk":               {"ErrImagePull", "failed to extract layer sha256:1: write /var/lib/containerd/x: no space left on device: unknown", NoDiskSpace},
		"an old kubelet":          {"ImagePullBackOff", `Back-off pulling image "team/not-found-denied:1"`, ""},
		"its event":               {"ImagePullBackOff", `Failed to pull image "team/not-found-denied:1": rpc error: code = NotFound desc = not found`, ImageNotFound},
		"no name":                 {"InvalidImageName", `Failed to apply default image tag "X": couldn't parse image name: not found`, ""},
		"something else":          {"ErrImagePull", "rpc error: code = Canceled desc = stopped", Image},
	}
}

// Words in an image's name have no effect.
//
// Requirements: PND-03
func TestImageThatCannotBePulledHasAMeaning(t *testing.T) {
	for name, tc := range imageCases() {
		if got := troubleOf(OfImage(tc.reason, tc.message)); got.Kind != tc.want {
			t.Errorf("%s: %+v, want %q", name, got, tc.want)
		}
	}
}
