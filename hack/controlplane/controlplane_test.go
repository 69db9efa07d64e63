//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// write makes a file with its folders.
func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// source creates a minimal module folder.
func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module x\n", 0o644)
	write(t, filepath.Join(dir, "go.sum"), "", 0o644)
	write(t, filepath.Join(dir, "cmd", "kube-apiserver", "main.go"), "package main\n", 0o644)
	return dir
}

// fakeGo creates a `go` that records its builds, and "builds" each with the given shell lines, which get the output
// path as $out.
func fakeGo(t *testing.T, lines string) (tool, calls string) {
	t.Helper()
	dir := t.TempDir()
	tool, calls = filepath.Join(dir, "go"), filepath.Join(dir, "calls")
	write(t, tool, fmt.Sprintf(`#!/bin/sh
case $1 in list) echo "example.com/compiled $PWD go.mod"; exit;; esac
arguments="$*"
for arg; do
	[ "$before" = -o ] && to=$arg
	before=$arg
done
echo example.com/compiled >&2
for arg; do
	case $arg in
	./cmd/*) name=${arg#./cmd/}; out=${to%%/}; [ "${out##*/}" = "$name" ] || out=$out/$name
		echo "$name" >> %[1]s
		%[2]s;;
	mod) out=/dev/null
		%[2]s;;
	esac
done
`, calls, strings.ReplaceAll(lines, "\n", "\n\t\t")), 0o755)
	return tool, calls
}

// patience is how long a test waits before it fails: far more than a busy machine needs.
const patience = 5 * time.Minute

func testBuilder(t *testing.T, lines string) (b *builder, calls string) {
	t.Helper()
	tool, calls := fakeGo(t, lines)
	cache := filepath.Join(t.TempDir(), "cache")
	return &builder{source: source(t), cache: cache, bin: filepath.Join(cache, "key"), purpose: forAll, goTool: tool, out: io.Discard}, calls
}

// files lists a folder; a missing folder is empty.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestVersionKeyChangesWithItsInputs(t *testing.T) {
	dir := source(t)
	key := func() string {
		t.Helper()
		k, err := versionKey(dir)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key()
	if !strings.HasPrefix(first, kubeVersion+"-") || key() != first {
		t.Fatalf("key %q is not stable or lacks the version", first)
	}
	seen := []string{first}
	for _, file := range []string{"go.mod", "go.sum", "cmd/kube-apiserver/main.go", "cmd/etcd/main.go"} {
		write(t, filepath.Join(dir, file), "// changed\n", 0o644)
		if k := key(); slices.Contains(seen, k) {
			t.Errorf("the key is the same after a change of %s", file)
		} else {
			seen = append(seen, k)
		}
	}
}

func TestVersionsAreThoseOfTheModule(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"k8s.io/kubernetes " + kubeVersion, "go.etcd.io/etcd/server/v3 " + etcdVersion} {
		if !strings.Contains(string(data), line+"\n") {
			t.Errorf("go.mod does not require %s", line)
		}
	}
}

// The plugin, its tests and the control plane share the compiled libraries of Kubernetes in Go's build cache. Compiling
// them takes minutes.
func TestLibrariesAreThoseOfThePlugin(t *testing.T) {
	plugin, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "k8s.io/component-base", "sigs.k8s.io/structured-merge-diff/v6"} {
		line := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(module) + ` v\S+`)
		want := strings.TrimSpace(string(line.Find(plugin)))
		if got := strings.TrimSpace(string(line.Find(ours))); got != want || want == "" {
			t.Errorf("it is %q here, and %q in the plugin's go.mod", got, want)
		}
	}
}

func TestBuildMakesEachComponentOnce(t *testing.T) {
	b, calls := testBuilder(t, `echo binary > "$out"`)
	for range 2 {
		if err := b.build(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "kwokctl", "kubectl"}
	if _, err := exec.LookPath("kubectl"); err == nil {
		want = want[:5]
	}
	if got := strings.Fields(string(data)); !slices.Equal(got, want) {
		t.Errorf("built %s, want %s", got, want)
	}
	if got := files(t, b.bin); len(got) != 6 {
		t.Errorf("the folder holds %v", got)
	}
	if got := files(t, b.cache); !slices.Equal(got, []string{"key", "lock"}) {
		t.Errorf("the cache holds %v", got)
	}
}

func TestFailedBuildLeavesNothingHalfMade(t *testing.T) {
	b, _ := testBuilder(t, `case $out in */kube-apiserver) echo half > "$out"; echo "main.go:1: no such thing" >&2; exit 1;; esac
echo binary > "$out"`)
	err := b.build(context.Background())
	if err == nil || !strings.Contains(err.Error(), "building the control plane: main.go:1: no such thing") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if got := files(t, b.bin); len(got) > 0 && !slices.Equal(got, []string{"kubectl"}) {
		t.Errorf("the folder holds %v", got)
	}
}

func TestInterruptedBuildLeavesNothingHalfMade(t *testing.T) {
	b, calls := testBuilder(t, `case $out in */kube-apiserver) echo half > "$out"; sleep 600;; esac
echo binary > "$out"`)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- b.build(ctx) }()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if data, _ := os.ReadFile(calls); strings.Contains(string(data), "kube-apiserver") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the build did not start")
		}
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the child was not killed")
	}
	if got := files(t, b.bin); len(got) > 0 && !slices.Equal(got, []string{"kubectl"}) {
		t.Errorf("the folder holds %v", got)
	}
	if got := files(t, b.cache); !slices.Equal(got, []string{"key", "lock"}) {
		t.Errorf("the cache holds %v", got)
	}
}

func TestKilledBuildIsCleanedUpByTheNext(t *testing.T) {
	b, _ := testBuilder(t, `echo binary > "$out"`)
	write(t, filepath.Join(b.cache, ".build-1", "etcd"), "half", 0o644)
	if err := b.build(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := files(t, b.cache); !slices.Equal(got, []string{"key", "lock"}) {
		t.Errorf("the cache holds %v", got)
	}
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(context.Background(), path, func() { t.Error("waited for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := lock(context.Background(), path, func() { close(waiting) })
		if err == nil {
			second()
		}
		got <- err
	}()
	<-waiting
	os.Remove(path) // as down does: a deleted file must not count as the lock
	unlock()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

func TestFreePortsCanBeListenedOn(t *testing.T) {
	ports, err := freePorts(5)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range ports {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Error(err)
			continue
		}
		defer l.Close()
	}
	if len(ports) != 5 {
		t.Errorf("ports %v", ports)
	}
}

func TestEnvironmentIsTheClustersOwn(t *testing.T) {
	c := newCluster("/dir", "/bin-of-ours")
	env := strings.Join(c.environment([]string{"HOME=/home/me", "KUBECONFIG=/home/me/.kube/config", "KWOK_KUBE_VERSION=v1.2.3"}), "\n") + "\n"
	if strings.Contains(env, "/home/me/.kube") || strings.Contains(env, "v1.2.3") {
		t.Errorf("the user's settings are in\n%s", env)
	}
	for _, want := range []string{"HOME=/home/me\n", "KUBECONFIG=/dir/kubeconfig\n", "KWOK_WORKDIR=/dir/kwok\n", "PATH=/bin-of-ours:"} {
		if !strings.Contains(env, want) {
			t.Errorf("%q is missing in\n%s", want, env)
		}
	}
}

func TestDownOfNothingRemovesNothing(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "cluster", "notes.txt")
	for _, sub := range []string{"none", "cluster"} {
		c := newCluster(filepath.Join(dir, sub), "")
		c.out = io.Discard
		if sub == "cluster" {
			write(t, mine, "mine", 0o644)
		}
		if err := c.down(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if !exists(mine) {
		t.Error("down removed a file that is not its own")
	}
}

// kwok has no way to share a jq function, so the stages carry copies.
func TestStagesCarryTheSameFunctions(t *testing.T) {
	definition := regexp.MustCompile(`(?ms)^ *def (\w+).*?;$`)
	texts, counts := map[string]string{}, map[string]int{}
	for _, path := range stagePaths(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range definition.FindAllStringSubmatch(string(data), -1) {
			name, text := match[1], strings.Join(strings.Fields(match[0]), " ")
			if texts[name] != "" && texts[name] != text {
				t.Errorf("%s: %s differs from another copy:\n%s\n%s", path, name, text, texts[name])
			}
			texts[name] = text
			counts[name]++
		}
	}
	if counts["value"] < 2 || counts["wait"] < 2 {
		t.Errorf("found the functions %v", counts)
	}
}

// The tracking finalizer belongs to the Job controller.
func TestNoStageTouchesFinalizers(t *testing.T) {
	for _, path := range stagePaths(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, "finalizers") && !strings.HasPrefix(line, "#") {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
}

func stagePaths(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("stages/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no stages", err)
	}
	return paths
}
