//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSupportedReleasesAreParsed(t *testing.T) {
	for version, want := range map[string]string{
		"": "", kubeVersion: "", "v1.33.13": "v1alpha1", "v1.34.4": "v1beta1", "v1.35.4": "v1beta1", "v1.37.0": "v1",
	} {
		r, err := parseRelease(version)
		if err != nil || (r == nil) != (want == "") || r != nil && r.policyVersion() != want {
			t.Errorf("%q: %+v, %v, want %q", version, r, err, want)
		}
	}
	for _, version := range []string{"1.33.13", "v1.33", "latest", "v1.31.0", "v2.0.0"} {
		if r, err := parseRelease(version); err == nil {
			t.Errorf("%q: taken as %+v", version, r)
		}
	}
}

// upstreamMod is a minimal go.mod of k8s.io/kubernetes.
const upstreamMod = "module k8s.io/kubernetes\n\ngo 1.24.0\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tk8s.io/api v0.0.0\n)\n\n" +
	"replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tk8s.io/kube-proxy => ./staging/src/k8s.io/kube-proxy\n)\n"

func TestGoModIsThatOfTheRelease(t *testing.T) {
	r := &release{version: "v1.33.13", minor: 33}
	got, err := r.goMod([]byte(upstreamMod))
	if err != nil {
		t.Fatal(err)
	}
	want := "module controlplane\n\ngo 1.24.0\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tk8s.io/api v0.0.0\n)\n\n" +
		"replace (\n\tk8s.io/api => k8s.io/api v0.33.13\n\tk8s.io/kube-proxy => k8s.io/kube-proxy v0.33.13\n)\n\nrequire k8s.io/kubernetes v1.33.13\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := r.goMod([]byte("module other\n")); err == nil {
		t.Error("any go.mod will do")
	}
}

// Another release has its own folder, with two binaries of its own, and does not change the folder and the key of this
// module's release.
func TestAnotherReleaseHasItsOwnFolder(t *testing.T) {
	mod := filepath.Join(t.TempDir(), "kubernetes.mod")
	write(t, mod, upstreamMod, 0o644)
	b, calls := testBuilder(t, fmt.Sprintf(`
case $arg in mod) echo '{"GoMod": %q}'; exit;; esac
grep -qs 'require k8s.io/kubernetes v1.33.13' go.mod && echo "1.33: $arguments" > "$out" || echo "$arguments" > "$out"`, mod))
	write(t, filepath.Join(b.source, "cmd", "kube-controller-manager", "main.go"), "package main\n", 0o644)
	other, err := b.forRelease(&release{version: "v1.33.13", minor: 33})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := other.build(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range needed[forAll] {
		text, err := os.ReadFile(filepath.Join(other.bin, name))
		link, _ := os.Readlink(filepath.Join(other.bin, name))
		itsOwn := slices.Contains(own, name)
		switch {
		case err != nil:
			t.Error(err)
		case itsOwn && !strings.Contains(string(text), "1.33: build") || itsOwn && !strings.Contains(string(text), "gitVersion=v1.33.13"):
			t.Errorf("%s is made by %q", name, text)
		case !itsOwn && link != filepath.Join(b.bin, name):
			t.Errorf("%s is a link to %q", name, link)
		}
	}
	if got := files(t, b.cache); !slices.Equal(got, []string{"key", "lock", filepath.Base(other.bin)}) {
		t.Errorf("the cache holds %v", got)
	}
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "kube-apiserver"); n != 2 {
		t.Errorf("kube-apiserver was built %d times, want once for each release", n)
	}
	if same, err := b.forRelease(nil); err != nil || same != b {
		t.Errorf("without another release the builder changes: %v", err)
	}
}

// The API server's flags and kwok's configuration depend on the release.
func TestFlagsFollowTheRelease(t *testing.T) {
	for _, c := range []struct {
		release *release
		gates   string
		has     []string
		hasNot  []string
	}{
		{nil, "", nil, []string{"feature-gates", "runtime-config"}},
		{&release{"v1.36.0", 36}, "A=true", []string{`"A=true"`}, []string{"runtime-config", "MutatingAdmissionPolicy"}},
		{&release{"v1.33.13", 33}, "JobManagedBy=false", []string{"MutatingAdmissionPolicy=true,JobManagedBy=false", "v1alpha1=true"}, nil},
		{&release{"v1.35.4", 35}, "", []string{`"MutatingAdmissionPolicy=true"`, "v1beta1=true"}, nil},
	} {
		cluster := newCluster(t.TempDir(), "/bin")
		cluster.out, cluster.release, cluster.gates = io.Discard, c.release, c.gates
		config, err := cluster.config()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.has {
			if !strings.Contains(string(config), text) {
				t.Errorf("%+v: %s is missing", c.release, text)
			}
		}
		for _, text := range c.hasNot {
			if strings.Contains(string(config), text) {
				t.Errorf("%+v: %s is there", c.release, text)
			}
		}
	}
}
