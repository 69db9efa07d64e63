//go:build release

package release

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const releases = "https://github.com/batchjob-dev/kubectl-batchjob/releases/download/"

// plugin has the fields of a krew manifest that are checked here.
type plugin struct {
	APIVersion string
	Metadata   struct{ Name string }
	Spec       struct {
		Version, Homepage, ShortDescription, Description, Caveats string
		Platforms                                                 []struct {
			URI, Sha256, Bin string
			Selector         struct{ MatchLabels map[string]string }
		}
	}
}

func parsed(t *testing.T, text string) plugin {
	t.Helper()
	var p plugin
	assert.NoError(t, yaml.Unmarshal([]byte(text), &p))
	return p
}

// krew has krew's own programs, and a home folder for the plugins that they install.
type krew struct {
	t        *testing.T
	home     string
	bin      string
	validate string
	path     string
	index    string
}

func newKrew(t *testing.T) *krew {
	t.Helper()
	k := &krew{t: t, home: t.TempDir()}
	k.bin = filepath.Join(k.home, ".krew", "bin")
	k.validate = tool(t, "validate-krew-manifest")
	// kubectl finds krew by this name. It must not check for newer versions of itself.
	plugins := t.TempDir()
	script := "#!/bin/sh\nKREW_NO_UPGRADE_CHECK=1 exec '" + tool(t, "krew") + "' \"$@\"\n"
	assert.NoError(t, os.WriteFile(filepath.Join(plugins, "kubectl-krew"), []byte(script), 0o755))
	k.path = strings.Join([]string{k.bin, plugins, tools, "/usr/bin", "/bin"}, ":")
	return k
}

// tool returns the path of a tool that hack/release pins.
func tool(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "-C", filepath.Join(root, "hack", "release"), "tool", "-n", name).Output()
	assert.NoError(t, err, name)
	return strings.TrimSpace(string(out))
}

func (k *krew) try(name string, args ...string) (string, error) {
	k.t.Helper()
	if name == "kubectl" {
		name = filepath.Join(tools, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = []string{
		"HOME=" + k.home, "KREW_ROOT=" + filepath.Dir(k.bin), "PATH=" + k.path, "KREW_DEFAULT_INDEX_URI=" + k.index,
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (k *krew) run(name string, args ...string) string {
	k.t.Helper()
	out, err := k.try(name, args...)
	if err != nil {
		k.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

// Issue 7, point 5: the manifest matches the release's archives and follows krew-index's rules for texts.
func TestKrewManifestOfTheArchives(t *testing.T) {
	p := parsed(t, contents(t, "dist", "krew", "batchjob.yaml"))
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Metadata.Name != "batchjob" || p.Spec.Version != "v"+made.Version {
		t.Errorf("it is %s %s %s", p.APIVersion, p.Metadata.Name, p.Spec.Version)
	}
	seen := map[platform]bool{}
	for _, entry := range p.Spec.Platforms {
		on := platform{entry.Selector.MatchLabels["os"], entry.Selector.MatchLabels["arch"]}
		seen[on] = true
		assert.Equal(t, entry.URI, releases+"v"+made.Version+"/"+on.archive(), on)
		if got := sum(t, on.archive()); entry.Sha256 != got || entry.Bin != on.binary() {
			t.Errorf("%s: %s with the sum %s, want %s with %s", on, entry.Bin, entry.Sha256, on.binary(), got)
		}
	}
	for _, on := range platforms() {
		if !seen[on] {
			t.Errorf("it lacks %s", on)
		}
	}
	if s := p.Spec.ShortDescription; utf8.RuneCountInString(s) > 50 || strings.Contains(strings.ToLower(s), "kube") || strings.HasSuffix(s, ".") {
		t.Errorf("the short description is %q", s)
	}
	for line := range strings.Lines(p.Spec.Description + p.Spec.Caveats) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) > 78 {
			t.Errorf("a terminal of 80 columns breaks the line %q", line)
		}
	}
	k := newKrew(t)
	k.run(k.validate, "-skip-install", "-manifest", filepath.Join(dist, "krew", "batchjob.yaml"))
}

// The manifest in the repository is what `make krew` generates from the same texts, for another version.
func TestKrewManifestOfTheRepository(t *testing.T) {
	changing := regexp.MustCompile(`(?m)^#.*\n|v[0-9]+\.[0-9]+\.[0-9]+[^/_\s]*|[0-9a-f]{64}`)
	ours, built := contents(t, "krew", "batchjob.yaml"), contents(t, "dist", "krew", "batchjob.yaml")
	assert.Equal(t, changing.ReplaceAllString(ours, ""), changing.ReplaceAllString(built, ""), ours, built)
	k := newKrew(t)
	k.run(k.validate, "-skip-install", "-manifest", filepath.Join(root, "krew", "batchjob.yaml"))
}

// krew's own validation installs the plugin of every platform from the URLs in the manifest; a server of this test
// replaces GitHub.
func TestKrewInstallsEveryPlatform(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix("/v"+made.Version+"/", http.FileServer(http.Dir(dist))))
	defer server.Close()
	text := strings.ReplaceAll(contents(t, "dist", "krew", "batchjob.yaml"), releases, server.URL+"/")
	manifest := filepath.Join(t.TempDir(), "batchjob.yaml")
	assert.NoError(t, os.WriteFile(manifest, []byte(text), 0o600))
	k := newKrew(t)
	assert.Contains(t, k.run(k.validate, "-manifest", manifest), "all 6 spec.platforms installed fine", "krew says")
}

// knows makes krew fetch an index, in place of krew-index, that has the manifest.
func (k *krew) knows(manifest string) {
	k.t.Helper()
	k.index = k.t.TempDir()
	plugins := filepath.Join(k.index, "plugins")
	assert.NoError(k.t, os.Mkdir(plugins, 0o755))
	k.run("/bin/cp", manifest, plugins)
	k.run("git", "-C", k.index, "init", "--quiet")
	k.run("git", "-C", k.index, "add", "--all")
	k.run("git", "-C", k.index, "commit", "--quiet", "--message=batchjob")
	k.run("kubectl", "krew", "update")
}

// Issue 7, point 5: installed from the local archive, the plugin works, completes as described in the caveats, and can
// be uninstalled.
func TestKrewInstallsTheLocalArchive(t *testing.T) {
	k := newKrew(t)
	manifest := filepath.Join(dist, "krew", "batchjob.yaml")
	k.knows(manifest)
	assert.Contains(t, k.run("kubectl", "krew", "search", "batchjob"), "Explain why Jobs fail", "krew finds")
	out := k.run("kubectl", "krew", "install", "--manifest="+manifest, "--archive="+filepath.Join(dist, here(t).archive()))
	if !strings.Contains(out, "Installed plugin: batchjob") || !strings.Contains(out, "kubectl_complete-batchjob") {
		t.Errorf("krew says\n%s", out)
	}
	assert.Contains(t, k.run("kubectl", "batchjob", "version", "--client"), "v"+made.Version, "the version")
	assert.NotContains(t, k.run("kubectl", "__complete", "batchjob", "expl"), "explain-failure")
	var script strings.Builder
	for line := range strings.Lines(parsed(t, contents(t, "dist", "krew", "batchjob.yaml")).Spec.Caveats) {
		if command, ok := strings.CutPrefix(line, "  "); ok {
			script.WriteString(command)
		}
	}
	k.run("/bin/sh", "-ec", script.String())
	assert.Contains(t, k.run("kubectl", "__complete", "batchjob", "expl"), "explain-failure", "expl")
	k.run("kubectl", "krew", "uninstall", "batchjob")
	if out, err := k.try("kubectl", "batchjob", "version", "--client"); err == nil {
		t.Errorf("after its uninstallation the plugin still says\n%s", out)
	}
}
