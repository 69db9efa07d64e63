//go:build release

package release

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var (
	// root is the project's folder.
	root string
	// dist is GoReleaser's output folder.
	dist string
	// made is the version and commit that GoReleaser recorded.
	made struct{ Version, Commit string }
	// tools is a folder with a kubectl that is independent of the machine's.
	tools string
)

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func prepare() (err error) {
	if root, err = filepath.Abs("../../.."); err != nil {
		return err
	}
	dist = filepath.Join(root, "dist")
	data, err := os.ReadFile(filepath.Join(dist, "metadata.json"))
	if err != nil {
		return fmt.Errorf("%w; run: make snapshot", err)
	}
	if err := json.Unmarshal(data, &made); err != nil {
		return err
	}
	out, err := exec.Command("go", "-C", filepath.Join(root, "hack", "controlplane"), "run", ".", "path").Output()
	tools = strings.TrimSpace(string(out))
	return err
}

// platform is a platform that a release supports.
type platform struct{ os, arch string }

func platforms() []platform {
	return []platform{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
	}
}

func (p platform) String() string { return p.os + "/" + p.arch }

func (p platform) stem() string {
	return fmt.Sprintf("kubectl-batchjob_v%s_%s_%s", made.Version, p.os, p.arch)
}

func (p platform) archive() string {
	if p.os == "windows" {
		return p.stem() + ".zip"
	}
	return p.stem() + ".tar.gz"
}

func (p platform) bill() string { return p.stem() + ".cdx.json" }

func (p platform) binary() string {
	if p.os == "windows" {
		return "kubectl-batchjob.exe"
	}
	return "kubectl-batchjob"
}

// completion returns the name of the program that kubectl runs for the plugin's completion.
func (p platform) completion() string {
	if p.os == "windows" {
		return "kubectl_complete-batchjob.cmd"
	}
	return "kubectl_complete-batchjob"
}

// here returns the platform of this machine, whose binary the tests can run.
func here(t *testing.T) platform {
	t.Helper()
	out, err := exec.Command("go", "env", "GOHOSTOS", "GOHOSTARCH").Output()
	assert.NoError(t, err)
	words := strings.Fields(string(out))
	return platform{words[0], words[1]}
}

// contents reads a file of the project.
func contents(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	assert.NoError(t, err)
	return string(data)
}
