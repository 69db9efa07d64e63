package integration

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	kitcommand "github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
)

// configFolder holds the kustomizations.
var configFolder = filepath.Join("..", "..", "..", "config")

// kubectl runs the real kubectl with the permissions of a cluster admin.
type kubectl struct {
	t    *testing.T
	args []string
}

func newKubectl(t *testing.T) kubectl {
	t.Helper()
	return kubectl{t: t, args: []string{"--kubeconfig", adminKubeconfig(t), "--cache-dir", t.TempDir()}}
}

// run returns stdout and stderr; an error ends the test.
func (k kubectl) run(stdin string, args ...string) (out, errOut string) {
	k.t.Helper()
	r, err := kitcommand.Run(k.t.Context(), patience, stdin, filepath.Join(apiServer.Binaries, "kubectl"), append(slices.Clone(k.args), args...)...)
	if err != nil || r.Code != 0 {
		k.t.Fatalf("kubectl %q: exit code %d, %v\n%s", args, r.Code, err, r.ErrOut)
	}
	return r.Out, r.ErrOut
}

// versions returns the resourceVersions of all objects in a stream of YAML documents, by kind and name.
func (k kubectl) versions(manifests string) map[string]string {
	k.t.Helper()
	out, _ := k.run(manifests, "get", "-f", "-", "-o", "json")
	var list struct {
		Items []metav1.PartialObjectMetadata `json:"items"`
	}
	assert.NoError(k.t, json.Unmarshal([]byte(out), &list))
	versions := map[string]string{}
	for _, object := range list.Items {
		versions[object.Kind+"/"+object.Name] = object.ResourceVersion
	}
	return versions
}

// printManifests returns the manifests that the plugin prints for the parts, with these flags.
func printManifests(t *testing.T, parts string, flags ...string) string {
	t.Helper()
	out, errOut, code := runPlugin(t, "", append([]string{"controller", "--print-manifests=" + parts}, flags...)...)
	assert.Equal(t, code, 0, errOut)
	return out
}

// Issue 7, point 3: --print-manifests prints the output of kubectl kustomize, without a checkout.
func TestPrintedManifestsAreThoseOfKubectl(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"default", "admission", "admission/rule-names", "admission/managed-by", "prometheus"} {
		want, _ := newKubectl(t).run("", "kustomize", filepath.Join(configFolder, part))
		assert.Equal(t, printManifests(t, part), want, part)
	}
}

// Issue 7, point 1: a real API server accepts the manifests without warnings, and applying them again changes nothing.
// It evaluates pod security like in any cluster.
func TestManifestsApplyWithoutWarnings(t *testing.T) {
	t.Parallel()
	k, manifests := newKubectl(t), printManifests(t, "default")
	if _, warnings := k.run("", "apply", "-k", filepath.Join(configFolder, "default")); warnings != "" {
		t.Errorf("config/default: %s", warnings)
	}
	first := k.versions(manifests)
	assert.Equalf(t, len(first), strings.Count(manifests, "\nkind: "), "objects that are stored: %v", first)
	if _, warnings := k.run(manifests, "apply", "-f", "-"); warnings != "" {
		t.Errorf("what is printed: %s", warnings)
	}
	if again := k.versions(manifests); !maps.Equal(first, again) {
		t.Errorf("it was applied again, which has changed it:\n%v\n%v", first, again)
	}

	// The optional parts are only applied with a dry run, as their policies would affect all namespaces.
	if _, warnings := k.run(printManifests(t, "admission"), "apply", "-f", "-", "--dry-run=server"); warnings != "" {
		t.Errorf("admission: %s", warnings)
	}
	if _, warnings := k.run(printManifests(t, "admission", "--namespaces", "a,b"), "apply", "-f", "-", "--dry-run=server"); warnings != "" {
		t.Errorf("admission for two namespaces: %s", warnings)
	}
	if _, warnings := k.run("", "apply", "-k", filepath.Join(configFolder, "samples"), "-n", "batchjob-system", "--dry-run=server"); warnings != "" {
		t.Errorf("samples: %s", warnings)
	}

	// The check is effective: a Deployment that violates pod security causes a warning.
	less := strings.Replace(manifests, "runAsNonRoot: true", "runAsNonRoot: false", 1)
	if _, warnings := k.run(less, "apply", "-f", "-", "--dry-run=server"); !strings.Contains(warnings, `would violate PodSecurity "restricted:latest"`) {
		t.Errorf("a Deployment without runAsNonRoot is applied with %q", warnings)
	}
}
