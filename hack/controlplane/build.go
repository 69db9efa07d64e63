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
	"slices"
	"strings"
)

// builder provides the binaries: it builds them, or links to existing ones.
type builder struct {
	source  string // this module
	cache   string // holds a folder per version, with all binaries or only the needed ones, the lock, and temporary folders
	bin     string // one of these folders
	purpose purpose
	found   map[string]string // binaries that need not be built, by name; for forDemo and forTest
	note    string            // explains why installed binaries are not used
	fetch   func(ctx context.Context, dir string) error
	goTool  string
	out     io.Writer

	// For a release other than this module's (KUBE_VERSION); otherwise nil.
	release *release
	base    *builder
}

func newBuilder(source string, p purpose) (*builder, error) {
	userCache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache folder for the binaries: set HOME or XDG_CACHE_HOME (%w)", err)
	}
	cache := filepath.Join(userCache, "kubectl-batchjob", "controlplane")
	key, err := versionKey(source)
	if err != nil {
		return nil, err
	}
	b := &builder{source: source, cache: cache, bin: filepath.Join(cache, key), purpose: forAll, goTool: "go", out: os.Stderr}
	if p == forAll || has(b.bin, needed[forAll]...) {
		return b, nil // the complete set serves any purpose
	}
	b.purpose = p
	b.found, b.note = findInstalled()
	b.fetch = newArchives(b.out).fetch
	b.bin = filepath.Join(cache, key+"-quick"+sourceKey(b.found))
	return b, nil
}

// versionKey identifies a set of binaries by all of their inputs.
func versionKey(source string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, ldflags, compilerFlags(forDemo), compilerFlags(forTest), runtime.GOOS, runtime.GOARCH)
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

// missing returns the components that b.bin lacks.
func (b *builder) missing() []string {
	return slices.DeleteFunc(slices.Clone(needed[b.purpose]), func(name string) bool { return has(b.bin, name) })
}

// build provides the missing components.
func (b *builder) build(ctx context.Context) error {
	switch {
	case len(b.missing()) == 0:
		return nil
	case b.release != nil:
		return b.buildRelease(ctx)
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
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
	if err := b.link(); err != nil {
		return err
	}
	if err := b.download(ctx); err != nil {
		return err
	}
	missing := b.missing()
	if len(missing) == 0 {
		return nil
	}
	return b.compile(ctx, missing)
}

// lock prevents concurrent builds.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	return lock(ctx, filepath.Join(b.cache, "lock"), func() {
		fmt.Fprintln(b.out, "waiting for another build to finish")
	})
}

// link links to existing binaries. The folder is complete then, for tools that expect all binaries in one folder.
func (b *builder) link() error {
	if b.note != "" {
		fmt.Fprintln(b.out, b.note)
	}
	for _, name := range b.missing() {
		found := b.found[name]
		if name == "kubectl" && found == "" {
			found, _ = exec.LookPath(name)
		}
		if found == "" {
			continue
		}
		fmt.Fprintf(b.out, "Using %s\n", found)
		final := filepath.Join(b.bin, name)
		_ = os.Remove(final) // it may point to a removed file
		if err := os.Symlink(found, final); err != nil {
			return err
		}
	}
	return nil
}

// download fetches the API server and etcd, if they are missing. If the download fails, they are built.
func (b *builder) download(ctx context.Context) error {
	if b.fetch == nil || has(b.bin, "etcd", "kube-apiserver") {
		return nil
	}
	temp, err := b.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := b.fetch(ctx, temp); err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(b.out, "%v: building them instead.\n", err)
		}
		return ctx.Err()
	}
	return b.place(temp, "etcd", "kube-apiserver")
}

// place moves finished binaries from a temporary folder.
func (b *builder) place(temp string, names ...string) error {
	for _, name := range names {
		if err := os.Rename(filepath.Join(temp, name), filepath.Join(b.bin, name)); err != nil {
			return err
		}
	}
	return nil
}

// tempDir creates a directory next to the final one, so that binaries can be renamed, and removes the remains of killed
// builds. The caller holds the lock.
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

// compile builds components with one call of Go, which keeps all cores busy to the end.
func (b *builder) compile(ctx context.Context, names []string) error {
	if _, err := exec.LookPath(b.goTool); err != nil {
		return fmt.Errorf("building the control plane needs Go: install it from https://go.dev/dl and put `go` into PATH")
	}
	temp, err := b.tempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	fmt.Fprintf(b.out, "Building these from Go modules into %s, once:\n%s\n", b.bin, describe(names))
	args := []string{"build", "-v", "-buildvcs=false", "-ldflags", ldflags, "-o", temp + string(filepath.Separator)}
	args = append(args, compilerFlags(b.purpose)...)
	var packages []string
	for _, name := range names {
		packages = append(packages, "./cmd/"+name)
	}
	cmd := b.command(ctx, append(args, packages...)...)
	meter, err := b.meter(ctx, packages)
	if err != nil {
		return err
	}
	p := startProgress(b.out, "Building")
	meter.progress = p
	cmd.Stderr = meter
	err = cmd.Run()
	p.stop(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return b.explain(meter.rest(), err)
	}
	return b.place(temp, names...)
}

// command returns a Go command in this module that is independent of the environment.
func (b *builder) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := command(ctx, b.goTool, args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}

// explain saves the compiler's output in a file and returns its last line as an error.
func (b *builder) explain(output []byte, err error) error {
	path := filepath.Join(b.cache, "build.log")
	if writeErr := os.WriteFile(path, output, 0o644); writeErr != nil {
		path = writeErr.Error()
	}
	return fmt.Errorf("building the control plane: %s (%w); the whole output is in %s; fix it and run the same command again, Go keeps what is compiled",
		lastLine(output), err, path)
}

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
