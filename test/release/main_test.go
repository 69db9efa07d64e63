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
)

var (
	// root is the folder of the project.
	root string
	// dist is what GoReleaser filled.
	dist string
	// made says what it made.
	made struct{ Version, Commit string }
	// tools is the folder of a kubectl that is no part of the machine.
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
	if root, err = filepath.Abs("../.."); err != nil {
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

// platform is one that a release is for.
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

// completion is what kubectl asks for the words of the plugin.
func (p platform) completion() string {
	if p.os == "windows" {
		return "kubectl_complete-batchjob.cmd"
	}
	return "kubectl_complete-batchjob"
}

// here is the platform of these tests: of the binaries, the one that runs.
func here(t *testing.T) platform {
	t.Helper()
	out, err := exec.Command("go", "env", "GOHOSTOS", "GOHOSTARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	return platform{words[0], words[1]}
}

// contents reads a file of the project.
func contents(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
