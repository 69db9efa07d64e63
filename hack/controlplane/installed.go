//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// findInstalled looks for binaries of the same minor release that need not be built: in KUBEBUILDER_ASSETS, in the
// downloads of setup-envtest, and kwok in PATH. note explains why KUBEBUILDER_ASSETS is not used.
func findInstalled() (found map[string]string, note string) {
	found = map[string]string{}
	servers := []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"}
	for _, dir := range assetFolders() {
		server := filepath.Join(dir, "kube-apiserver")
		switch got := version(server); {
		case !has(dir, "etcd", "kube-apiserver"):
			continue
		case minor(got) != minor(kubeVersion):
			if dir == os.Getenv("KUBEBUILDER_ASSETS") {
				note = fmt.Sprintf("Not using KUBEBUILDER_ASSETS: the version of its kube-apiserver is %s, and this needs %s.", got, minor(kubeVersion))
			}
			continue
		}
		for _, name := range servers {
			if has(dir, name) {
				found[name] = filepath.Join(dir, name)
			}
		}
		break
	}
	kwok, _ := exec.LookPath("kwok")
	kwokctl, _ := exec.LookPath("kwokctl")
	if kwok != "" && kwokctl != "" && minor(version(kwok)) == minor(kwokVersion) && version(kwok) == version(kwokctl) {
		found["kwok"], found["kwokctl"] = kwok, kwokctl
	}
	return found, note
}

// assetFolders returns KUBEBUILDER_ASSETS, then the folders of setup-envtest for this minor release, newest first.
func assetFolders() []string {
	var folders []string
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		folders = append(folders, dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return folders
	}
	store := filepath.Join(home, ".local", "share", "kubebuilder-envtest")
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		store = filepath.Join(dir, "kubebuilder-envtest")
	}
	if runtime.GOOS == "darwin" {
		store = filepath.Join(home, "Library", "Application Support", "io.kubebuilder.envtest")
	}
	pattern := strings.TrimPrefix(minor(kubeVersion), "v") + ".*-" + runtime.GOOS + "-" + runtime.GOARCH
	stored, _ := filepath.Glob(filepath.Join(store, "k8s", pattern))
	slices.Sort(stored)
	slices.Reverse(stored)
	return append(folders, stored...)
}

var versionPattern = regexp.MustCompile(`v\d+\.\d+\.\d+`)

// version returns the version that a binary prints; "unknown" if it cannot be run.
func version(path string) string {
	output, err := exec.Command(path, "--version").Output()
	if found := versionPattern.Find(output); err == nil && found != nil {
		return string(found)
	}
	return "unknown"
}

// minor returns v1.37 for v1.37.1.
func minor(version string) string {
	if i := strings.LastIndexByte(version, '.'); i > 0 {
		return version[:i]
	}
	return version
}

// sourceKey identifies the binaries found; it is empty if there are none.
func sourceKey(found map[string]string) string {
	if len(found) == 0 {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintln(h, name, found[name])
	}
	return "-" + hex.EncodeToString(h.Sum(nil))[:8]
}
