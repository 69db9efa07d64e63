//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// release is a Kubernetes release other than this module's go.mod requires. Only the API server and Kubernetes' own
// controllers are built from it; the other components stay the same.
type release struct {
	version string // v1.33.13
	minor   int    // 33
}

var releasePattern = regexp.MustCompile(`^v1\.(\d+)\.\d+$`)

// parseRelease parses the environment variable KUBE_VERSION; it returns nil for this module's release.
func parseRelease(version string) (*release, error) {
	if version == "" || version == kubeVersion {
		return nil, nil
	}
	match := releasePattern.FindStringSubmatch(version)
	if match == nil {
		return nil, fmt.Errorf("KUBE_VERSION is %q: give a release such as v1.33.13", version)
	}
	minor, err := strconv.Atoi(match[1])
	if err != nil || minor < 32 {
		return nil, fmt.Errorf("KUBE_VERSION is %q: the nodes of the cluster are assigned by a MutatingAdmissionPolicy, which exists since v1.32", version)
	}
	return &release{version: version, minor: minor}, nil
}

// staging returns the version of the staging modules of a release.
func (r *release) staging() string { return "v0" + strings.TrimPrefix(r.version, "v1") }

func (r *release) ldflags() string {
	return "-s -w" +
		" -X k8s.io/component-base/version.gitVersion=" + r.version +
		" -X k8s.io/component-base/version.gitMajor=1" +
		" -X k8s.io/component-base/version.gitMinor=" + strconv.Itoa(r.minor)
}

// policyVersion returns the newest version of MutatingAdmissionPolicy that the release serves.
func (r *release) policyVersion() string {
	switch {
	case r == nil || r.minor >= 36:
		return "v1"
	case r.minor >= 34:
		return "v1beta1"
	}
	return "v1alpha1"
}

// serverArgs returns the arguments that make the API server serve the policy, if it does not by default.
func (r *release) serverArgs() []map[string]string {
	version := r.policyVersion()
	if version == "v1" {
		return nil
	}
	return []map[string]string{{"key": "runtime-config", "value": "admissionregistration.k8s.io/" + version + "=true"}}
}

// serverGates returns the feature gates for serverArgs.
func (r *release) serverGates() string {
	if r.policyVersion() == "v1" {
		return ""
	}
	return "MutatingAdmissionPolicy=true"
}

// own are the components that are built from the release.
var own = []string{"kube-apiserver", "kube-controller-manager"}

// forRelease returns a builder for another release.
func (b *builder) forRelease(r *release) (*builder, error) {
	if r == nil {
		return b, nil
	}
	h := sha256.New()
	fmt.Fprintln(h, r.ldflags(), runtime.GOOS, runtime.GOARCH, filepath.Base(b.bin))
	for _, name := range own {
		data, err := os.ReadFile(filepath.Join(b.source, "cmd", name, "main.go"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	other := *b
	other.base, other.release = b, r
	other.bin = filepath.Join(b.cache, r.version+"-"+hex.EncodeToString(h.Sum(nil))[:12])
	return &other, nil
}

// buildRelease builds the binaries of another release, with links to the ones that stay the same.
func (b *builder) buildRelease(ctx context.Context) error {
	if err := b.base.build(ctx); err != nil {
		return err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return err
	}
	module, err := b.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(module)
	return b.fillRelease(ctx, module)
}

func (b *builder) fillRelease(ctx context.Context, module string) error {
	written := false
	for _, name := range b.missing() {
		final := filepath.Join(b.bin, name)
		switch {
		case !slices.Contains(own, name):
			_ = os.Remove(final) // it may point to a removed folder
			if err := os.Symlink(filepath.Join(b.base.bin, name), final); err != nil {
				return err
			}
			continue
		case !written:
			if err := b.writeModule(ctx, module); err != nil {
				return err
			}
			written = true
		}
		p := startProgress(b.out, fmt.Sprintf("%s of Kubernetes %s: 3 to 6 minutes on two cores", name, b.release.version))
		err := b.makeOf(ctx, name, module)
		p.stop(err)
		if err != nil {
			return err
		}
	}
	return nil
}

// writeModule creates a module in dir that requires the release: with the requirements of its go.mod, but published
// modules instead of the directories of its repository.
func (b *builder) writeModule(ctx context.Context, dir string) error {
	cmd := command(ctx, b.goTool, "mod", "download", "-json", "k8s.io/kubernetes@"+b.release.version)
	cmd.Dir = dir // outside of any module, so that no go.mod is changed
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	answer, err := cmd.Output()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var module struct{ GoMod, Error string }
	if jsonErr := json.Unmarshal(answer, &module); jsonErr != nil || module.Error != "" || err != nil {
		return fmt.Errorf("downloading k8s.io/kubernetes %s: %s (%w)", b.release.version, module.Error, err)
	}
	upstream, err := os.ReadFile(module.GoMod)
	if err != nil {
		return err
	}
	text, err := b.release.goMod(upstream)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), text, 0o644); err != nil {
		return err
	}
	for _, name := range own {
		if err := os.CopyFS(filepath.Join(dir, "cmd", name), os.DirFS(filepath.Join(b.source, "cmd", name))); err != nil {
			return err
		}
	}
	return nil
}

var stagingPath = regexp.MustCompile(`\./staging/src/(k8s\.io/[a-z0-9-]+)`)

// goMod converts the release's go.mod to the go.mod of a module that requires the release.
func (r *release) goMod(upstream []byte) ([]byte, error) {
	const line = "module k8s.io/kubernetes\n"
	if !bytes.Contains(upstream, []byte(line)) || !stagingPath.Match(upstream) {
		return nil, fmt.Errorf("the go.mod of k8s.io/kubernetes %s is not as expected", r.version)
	}
	text := bytes.Replace(upstream, []byte(line), []byte("module controlplane\n"), 1)
	text = stagingPath.ReplaceAll(text, []byte("$1 "+r.staging()))
	return append(text, "\nrequire k8s.io/kubernetes "+r.version+"\n"...), nil
}

// makeOf builds one component in the module and moves it into place.
func (b *builder) makeOf(ctx context.Context, name, module string) error {
	made := filepath.Join(module, name)
	// -mod=mod: the checksums are not listed in a go.sum. Go verifies them with its checksum database, unless the
	// machine is configured otherwise.
	cmd := command(ctx, b.goTool, "build", "-mod=mod", "-buildvcs=false", "-ldflags", b.release.ldflags(), "-o", made, "./cmd/"+name)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return b.explain(output, err)
	}
	return os.Rename(made, filepath.Join(b.bin, name))
}
