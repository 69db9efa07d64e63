package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: PND-03
func TestImageIsLoadedByTheToolOfTheLocalCluster(t *testing.T) {
	for node, want := range map[string]string{
		"kind-control-plane":  "kind load docker-image etl:7 --name kind",
		"kind-ci-worker2":     "kind load docker-image etl:7 --name kind-ci",
		"minikube":            "minikube image load etl:7 -p minikube",
		"k3d-dev-server-0":    "k3d image import etl:7 -c dev",
		"prod-control-plane":  "ctr -n k8s.io images import FILE there, as root; k3s ctr on K3s",
		"kind-of-a-worker-vm": "ctr -n k8s.io images import FILE there, as root; k3s ctr on K3s",
		"":                    "ctr -n k8s.io images import FILE there, as root; k3s ctr on K3s",
	} {
		assert.Equal(t, (&Where{Node: node, Image: "etl:7"}).load(), want, node)
	}
	assert.Contains(t, (&Where{Image: "bitnamilegacy/kubectl:1.35"}).moved(), "publishes no tag for this version")
	assert.Equal(t, (&Where{Node: "minikube", Image: "etl; reboot"}).load(), "minikube image load IMAGE -p minikube")
}

// Requirements: PND-03
func TestMissingImageNamesItsTagAndHowToListTheOthers(t *testing.T) {
	for image, want := range map[string][2]string{
		"rancher/kubectl:1.34":           {"its tag 1.34", " (skopeo list-tags docker://rancher/kubectl lists its tags)"},
		"rancher/kubectl:1.3":            {"its tag 1.3", " (skopeo list-tags docker://rancher/kubectl lists its tags; without quotes, YAML reads 1.30 as the number 1.3)"},
		"registry.example:5000/team/etl": {"its tag latest", " (skopeo list-tags docker://registry.example:5000/team/etl lists its tags)"},
		"etl:7@sha256:0f1e2d3c4b5a":      {"its digest", ""},
		"$(reboot):1":                    {"its tag 1", ""},
		"":                               {"it", ""},
	} {
		assert.Equal(t, tagOf(image), want[0], image)
		assert.Equal(t, (&Where{Image: image}).listTags(), want[1], image)
	}
}

// Requirements: PND-03
func TestPullSecretThatDoesNotExistIsTheReason(t *testing.T) {
	lost := LostSecrets("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (regcred, other); attempting to pull the image may not succeed.")
	assert.Equal(t, lost, "regcred, other")
	assert.Equal(t, LostSecrets("Failed", "Unable to retrieve some image pull secrets (regcred)"), "")
	of := &Trouble{Kind: Unauthorized, Pod: Where{Lost: "regcred", Account: "reports"}}
	assert.Equal(t, of.Note(), "its pull secret regcred does not exist")
	assert.Contains(t, of.Advice(""), "create Secret regcred of type kubernetes.io/dockerconfigjson")
	assert.Contains(t, of.Advice(""), "imagePullSecrets of the pod template, or of its ServiceAccount reports")
	of.Pod.Secrets = "Secret hub"
	assert.NotContains(t, of.Advice(""), "reports")
}

// Requirements: PND-03
func TestRegistryIsPartOfTheNameOfAnImage(t *testing.T) {
	for image, want := range map[string]string{
		"etl:7": "docker.io", "team/etl": "docker.io", "localhost/etl": "localhost", "registry.example:5000/team/etl:7": "registry.example:5000", "quay.io/etl@sha256:0f": "quay.io", "": "",
	} {
		assert.Equal(t, registryOf(image), want, image)
	}
}
