//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	kubeVersion = "v1.37.1" // as in go.mod; TestVersionsAreThoseOfTheModule compares them
	etcdVersion = "v3.7.0"
	kwokVersion = "v0.8.0"

	// Clients reject a server without a version.
	ldflags = "-s -w" +
		" -X k8s.io/component-base/version.gitVersion=" + kubeVersion +
		" -X k8s.io/component-base/version.gitMajor=1" +
		" -X k8s.io/component-base/version.gitMinor=37"
	kwokLdflags = "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=0.8.0"
)

// component is one binary: either a main package of this module, or a package
// of another module that brings its own dependencies ("path@version").
type component struct {
	name, what string
	install    string
}

var components = []component{
	{name: "etcd", what: "the store, etcd " + etcdVersion},
	{name: "kube-apiserver", what: "the API server, Kubernetes " + kubeVersion},
	{name: "kube-controller-manager", what: "Kubernetes' own controllers, " + kubeVersion},
	{name: "kwok", what: "the nodes that pretend, kwok " + kwokVersion, install: "sigs.k8s.io/kwok/cmd/kwok@" + kwokVersion},
	{name: "kwokctl", what: "what starts them all, kwok " + kwokVersion, install: "sigs.k8s.io/kwok/cmd/kwokctl@" + kwokVersion},
	{name: "kubectl", what: "the client, Kubernetes " + kubeVersion},
}

// builder builds the binaries.
type builder struct {
	source string // this module
	cache  string // holds a folder per version, the lock, and temporary folders
	bin    string // cache/<key>
	goTool string
	out    io.Writer

	// For another release than that of this module (KUBE_VERSION); else nil.
	release *release
	base    *builder
}

func newBuilder(source string) (*builder, error) {
	userCache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache folder for the binaries: set HOME or XDG_CACHE_HOME (%w)", err)
	}
	cache := filepath.Join(userCache, "kubectl-batchjob", "controlplane")
	key, err := versionKey(source)
	if err != nil {
		return nil, err
	}
	return &builder{source: source, cache: cache, bin: filepath.Join(cache, key), goTool: "go", out: os.Stderr}, nil
}

// versionKey identifies a set of binaries by everything they depend on.
func versionKey(source string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, ldflags, kwokLdflags, kwokVersion, runtime.GOOS, runtime.GOARCH)
	mains, err := filepath.Glob(filepath.Join(source, "cmd", "*", "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range append([]string{filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum")}, mains...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", rel, len(data))
		h.Write(data)
	}
	return kubeVersion + "-" + hex.EncodeToString(h.Sum(nil))[:12], nil
}

// missing returns the components that b.bin lacks. Each binary is renamed into place,
// so one that exists is complete.
func (b *builder) missing() []component {
	var list []component
	for _, c := range components {
		if !exists(filepath.Join(b.bin, c.name)) {
			list = append(list, c)
		}
	}
	return list
}

// build builds what is missing.
func (b *builder) build(ctx context.Context) error {
	switch {
	case len(b.missing()) == 0:
		return nil
	case b.release != nil:
		return b.buildRelease(ctx)
	}
	return b.buildAll(ctx)
}

// lock prevents concurrent builds.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	return lock(ctx, filepath.Join(b.cache, "lock"), func() {
		fmt.Fprintln(b.out, "waiting for another build to finish")
	})
}

func (b *builder) buildAll(ctx context.Context) error {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	missing := b.missing() // another build may have built them
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath(b.goTool); err != nil {
		return fmt.Errorf("building the control plane needs Go: install it from https://go.dev/dl and put `go` into PATH")
	}
	if len(missing) > 2 {
		fmt.Fprintf(b.out, "Building a control plane from Go modules into %s\n"+
			"(once; on two cores 5 to 8 minutes, or half a minute if Go's build cache has most of it).\n", b.bin)
	}
	temp, err := b.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return err
	}
	for i, c := range components {
		if exists(filepath.Join(b.bin, c.name)) {
			continue
		}
		p := startProgress(b.out, fmt.Sprintf("[%d/%d] %s: %s", i+1, len(components), c.name, c.what))
		done, err := b.make(ctx, c, temp)
		p.stop(done, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// tempDir creates a directory next to the final one, so that binaries can be renamed,
// and removes what killed builds have left. The caller holds the lock.
func (b *builder) tempDir() (string, error) {
	old, err := filepath.Glob(filepath.Join(b.cache, ".build-*"))
	if err != nil {
		return "", err
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(b.cache, ".build-")
}

// make builds one component in temp and moves it into place. It returns a remark for
// the progress line.
func (b *builder) make(ctx context.Context, c component, temp string) (string, error) {
	final := filepath.Join(b.bin, c.name)
	if c.name == "kubectl" {
		if found, err := exec.LookPath("kubectl"); err == nil {
			// A link completes the directory for tools that expect all binaries there.
			_ = os.Remove(final) // may point to a kubectl that is gone
			return "using " + found, os.Symlink(found, final)
		}
	}
	args := []string{"build", "-trimpath", "-ldflags", ldflags, "-o", filepath.Join(temp, c.name), "./cmd/" + c.name}
	if c.install != "" {
		args = []string{"install", "-trimpath", "-ldflags", kwokLdflags, c.install}
	}
	cmd := command(ctx, b.goTool, args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "GOBIN="+temp, "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", b.explain(c, output, err)
	}
	return "", os.Rename(filepath.Join(temp, c.name), final)
}

// explain saves the compiler's output in a file and returns its last line as an error.
func (b *builder) explain(c component, output []byte, err error) error {
	path := filepath.Join(b.cache, c.name+".log")
	if writeErr := os.WriteFile(path, output, 0o644); writeErr != nil {
		path = writeErr.Error()
	}
	return fmt.Errorf("building %s: %s (%w); the whole output is in %s; fix it and run the same command again, what is built already is kept",
		c.name, lastLine(output), err, path)
}

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
