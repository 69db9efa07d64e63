//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// tarball packs files, given by name.
func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	for name, text := range files {
		if err := packed.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(packed, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// serveArchive serves an index with one archive of this release, and older ones.
func serveArchive(t *testing.T, data []byte, sum string) *archives {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/index" {
			_, _ = w.Write(data)
			return
		}
		fmt.Fprintln(w, "releases:")
		for _, version := range []string{"v1.36.9", minor(kubeVersion) + ".9", minor(kubeVersion) + ".10", minor(kubeVersion) + ".2"} {
			fmt.Fprintf(w, "  %s:\n", version)
			for _, platform := range []string{"plan9-" + runtime.GOARCH, runtime.GOOS + "-" + runtime.GOARCH} {
				fmt.Fprintf(w, "    envtest-%s-%s.tar.gz:\n      hash: %s\n      selfLink: %s/%s\n", version, platform, sum, server.URL, version)
			}
		}
	}))
	t.Cleanup(server.Close)
	return &archives{index: server.URL + "/index", download: true, client: server.Client(), out: io.Discard}
}

func sumOf(data []byte) string {
	sum := sha512.Sum512(data)
	return hex.EncodeToString(sum[:])
}

func TestArchiveIsDownloaded(t *testing.T) {
	data := tarball(t, map[string]string{
		"controller-tools/envtest/etcd": "store", "controller-tools/envtest/kube-apiserver": "server",
		"../../kubectl": "outside", "controller-tools/envtest/README": "text",
	})
	a := serveArchive(t, data, sumOf(data))
	var out bytes.Buffer
	a.out = &out
	b, calls := testBuilder(t, `echo binary > "$out"`)
	b.purpose, b.fetch = forDemo, a.fetch
	if err := b.build(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"etcd": "store", "kube-apiserver": "server"} {
		path := filepath.Join(b.bin, name)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if built, _ := os.ReadFile(calls); strings.Contains(string(built), "kube-apiserver") {
		t.Errorf("built %q all the same", built)
	}
	// The newest of this minor release; .10 is newer than .9.
	if want := "/" + minor(kubeVersion) + ".10, and verifying its SHA-512"; !strings.Contains(out.String(), want) {
		t.Errorf("printed %q without %q", &out, want)
	}
	if got := files(t, b.cache); !slices.Equal(got, []string{"key", "lock"}) {
		t.Errorf("the cache holds %v", got)
	}
}

// If a download fails in any way, its files are removed, and the binaries are built.
func TestFailedDownloadIsBuiltInstead(t *testing.T) {
	good := tarball(t, map[string]string{"etcd": "store", "kube-apiserver": "server"})
	half := tarball(t, map[string]string{"etcd": "store"})
	off := serveArchive(t, good, sumOf(good))
	off.download = false
	gone := serveArchive(t, good, sumOf(good))
	gone.index += "/not-there"
	for name, c := range map[string]struct {
		archives *archives
		wantText string
	}{
		"changed on the way": {serveArchive(t, half, sumOf(good)), "has the SHA-512 " + sumOf(half)},
		"cut off":            {serveArchive(t, good[:50], sumOf(good[:50])), "unpacking"},
		"incomplete":         {serveArchive(t, half, sumOf(half)), "does not have all of etcd, kube-apiserver"},
		"no archive":         {serveArchive(t, []byte("<html>"), sumOf([]byte("<html>"))), "unpacking"},
		"not listed":         {gone, "is listed"},
		"turned off":         {off, "CONTROLPLANE_DOWNLOAD is off"},
		"no network":         {&archives{index: "http://127.0.0.1:1/", download: true, client: http.DefaultClient, out: io.Discard}, "can be downloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			b, calls := testBuilder(t, `echo binary > "$out"`)
			var out bytes.Buffer
			b.purpose, b.fetch, b.out = forDemo, c.archives.fetch, &out
			if err := b.build(context.Background()); err != nil {
				t.Fatal(err)
			}
			if built, _ := os.ReadFile(calls); !strings.HasPrefix(string(built), "etcd\nkube-apiserver\n") {
				t.Errorf("built %q", built)
			}
			if !strings.Contains(out.String(), c.wantText) || !strings.Contains(out.String(), ": building them instead.") {
				t.Errorf("printed %q without %q", &out, c.wantText)
			}
			if got, _ := os.ReadFile(filepath.Join(b.bin, "etcd")); string(got) != "binary\n" {
				t.Errorf("etcd is %q", got)
			}
		})
	}
}

func TestMeterCountsWhatIsCompiled(t *testing.T) {
	var shown bytes.Buffer
	p := &progress{out: &shown}
	m := &meter{weights: map[string]int64{"a": 30, "b": 70}, all: 100, progress: p}
	for _, text := range []string{"a\n# c", "ommand\nerror: x", "\nb", "\n"} {
		if n, err := m.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		p.show()
	}
	if got := string(m.rest()); got != "# command\nerror: x\n" {
		t.Errorf("left %q", got)
	}
	if want := "10% 20% 30% 40% 50% 60% 70% 80% 90% 100% "; shown.String() != want {
		t.Errorf("shown %q, want %q", &shown, want)
	}
}

func TestProgressHasPercentageAndTimeLeft(t *testing.T) {
	for permille, want := range map[int64]string{0: "1m30s", 49: "1m30s", 333: "33%, 1m30s, about 3m0s left", 1000: "100%, 1m30s, about 0s left"} {
		if got := state(permille, 90*time.Second); got != want {
			t.Errorf("%d: %q, want %q", permille, got, want)
		}
	}
}
