//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// isolate hides the programs installed on the machine, and returns a folder in PATH.
func isolate(t *testing.T) (path string) {
	t.Helper()
	path = t.TempDir()
	for name, value := range map[string]string{"PATH": path + ":/usr/bin:/bin", "HOME": t.TempDir(), "XDG_DATA_HOME": "", "KUBEBUILDER_ASSETS": ""} {
		t.Setenv(name, value)
	}
	return path
}

// program creates a program that prints its version.
func program(t *testing.T, path, version string) {
	t.Helper()
	write(t, path, "#!/bin/sh\necho 'version "+version+" (x)'\n", 0o755)
}

func TestInstalledBinariesAreUsed(t *testing.T) {
	path := isolate(t)
	assets := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	write(t, filepath.Join(assets, "etcd"), "", 0o755)
	program(t, filepath.Join(assets, "kube-apiserver"), minor(kubeVersion)+".0")
	program(t, filepath.Join(path, "kwok"), kwokVersion)
	program(t, filepath.Join(path, "kwokctl"), kwokVersion)

	b, calls := testBuilder(t, `echo binary > "$out"`)
	b.purpose = forDemo
	b.found, b.note = findInstalled()
	if err := b.build(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"etcd": assets, "kube-apiserver": assets, "kwok": path, "kwokctl": path,
	} {
		if link, _ := os.Readlink(filepath.Join(b.bin, name)); link != filepath.Join(want, name) {
			t.Errorf("%s is a link to %q", name, link)
		}
	}
	built, err := os.ReadFile(calls)
	if err != nil || !strings.HasPrefix(string(built), "kube-job-controller\n") || strings.Contains(string(built), "kube-apiserver") {
		t.Errorf("built %q, %v", built, err)
	}
}

// Another minor release may lack features that the tests need, and kwok's flags change.
func TestOtherVersionsAreNotUsed(t *testing.T) {
	path := isolate(t)
	assets := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	write(t, filepath.Join(assets, "etcd"), "", 0o755)
	program(t, filepath.Join(assets, "kube-apiserver"), "v1.30.2")
	program(t, filepath.Join(path, "kwok"), "v0.4.0")
	program(t, filepath.Join(path, "kwokctl"), "v0.4.0")
	found, note := findInstalled()
	if len(found) > 0 || note != "Not using KUBEBUILDER_ASSETS: the version of its kube-apiserver is v1.30.2, and this needs v1.37." {
		t.Errorf("found %v, %q", found, note)
	}
	program(t, filepath.Join(path, "kwok"), kwokVersion) // kwokctl still has another version
	if found, _ := findInstalled(); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

func TestSetupEnvtestsBinariesAreFound(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("its store is not below XDG_DATA_HOME")
	}
	isolate(t)
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	release := strings.TrimPrefix(minor(kubeVersion), "v")
	for _, version := range []string{"1.36.2", release + ".0", release + ".1"} {
		dir := filepath.Join(data, "kubebuilder-envtest", "k8s", version+"-"+runtime.GOOS+"-"+runtime.GOARCH)
		write(t, filepath.Join(dir, "etcd"), "", 0o755)
		program(t, filepath.Join(dir, "kube-apiserver"), "v"+version)
	}
	found, note := findInstalled()
	if !strings.Contains(found["kube-apiserver"], "/"+release+".1-") || note != "" {
		t.Errorf("found %v, %q", found, note)
	}
}

// Without installed binaries, the key is empty, so the folder is the same as on a machine without any.
func TestFolderNamesWhatIsLinked(t *testing.T) {
	if got := sourceKey(nil); got != "" {
		t.Errorf("%q without anything found", got)
	}
	keys := []string{sourceKey(map[string]string{"etcd": "/a/etcd"}), sourceKey(map[string]string{"etcd": "/b/etcd"}), sourceKey(map[string]string{"kwok": "/a/etcd"})}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 3 {
		t.Errorf("keys %v", keys)
	}
}
