//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"slices"
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
		" -X k8s.io/component-base/version.gitMinor=37" +
		" -X sigs.k8s.io/kwok/pkg/consts.Version=0.8.0"
)

// component is one binary: a main package of this module.
type component struct{ name, what string }

var components = []component{
	{"etcd", "the store, etcd " + etcdVersion},
	{"kube-apiserver", "the API server, Kubernetes " + kubeVersion},
	{"kube-controller-manager", "Kubernetes' own controllers, " + kubeVersion},
	{"kube-job-controller", "Kubernetes' own Job controller, " + kubeVersion},
	{"kwok", "simulated nodes, kwok " + kwokVersion},
	{"kwokctl", "starts the others, kwok " + kwokVersion},
	{"kubectl", "the client, Kubernetes " + kubeVersion},
}

// purpose is the use of a control plane.
type purpose string

const (
	forAll  purpose = "all"  // everything, optimized
	forDemo purpose = "demo" // for make demo, as fast as possible
	forTest purpose = "test" // for make test-integration, as fast as possible
)

var needed = map[purpose][]string{
	forAll:  {"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "kwokctl", "kubectl"},
	forDemo: {"etcd", "kube-apiserver", "kube-job-controller", "kwok", "kwokctl", "kubectl"},
	forTest: {"etcd", "kube-apiserver", "kubectl"},
}

// Packages that only the control plane uses, and packages that our tests also use, but not the plugin.
var (
	ofControlPlane = []string{
		"k8s.io/kubernetes/...", "k8s.io/apiserver/...", "k8s.io/kube-aggregator/...", "k8s.io/apiextensions-apiserver/pkg/apiserver/...",
		"github.com/google/cel-go/...", "go.etcd.io/...", "sigs.k8s.io/kwok/...",
	}
	ofClients = []string{
		"k8s.io/client-go/informers/...", "k8s.io/client-go/kubernetes/...", "k8s.io/client-go/listers/...", "k8s.io/client-go/applyconfigurations/...",
	}
)

// compilerFlags returns the flags for a purpose. Without inlining, packages take a quarter less time to compile.
// Packages that the plugin or the tests share are compiled with their flags, so that Go's build cache has them once.
// Measurements need optimized binaries.
func compilerFlags(p purpose) []string {
	var patterns []string
	switch p {
	case forDemo:
		patterns = slices.Concat(ofControlPlane, ofClients)
	case forTest:
		patterns = ofControlPlane
	}
	var flags []string
	for _, pattern := range patterns {
		flags = append(flags, "-gcflags="+pattern+"=-l -dwarf=false")
	}
	return flags
}

// has reports whether dir has the components. Each is renamed into place, so an existing file is complete.
func has(dir string, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !exists(filepath.Join(dir, name)) })
}

// describe lists components with descriptions for users.
func describe(names []string) string {
	var list []string
	for _, c := range components {
		if slices.Contains(names, c.name) {
			list = append(list, fmt.Sprintf("  %-24s %s", c.name, c.what))
		}
	}
	return strings.Join(list, "\n")
}
