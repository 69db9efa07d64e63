//go:build release

package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// file is a file in an archive.
type file struct {
	mode  fs.FileMode
	time  time.Time
	owner string
	data  []byte
}

// unpacked reads the files of an archive into memory.
func unpacked(t *testing.T, p platform) map[string]file {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dist, p.archive()))
	assert.NoError(t, err)
	read := readTar
	if p.os == "windows" {
		read = readZip
	}
	files, err := read(data)
	assert.NoError(t, err, p.archive())
	return files
}

func readTar(data []byte) (map[string]file, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[h.Name] = file{h.FileInfo().Mode(), h.ModTime, h.Uname + ":" + h.Gname, content}
	}
}

func readZip(data []byte) (map[string]file, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for _, f := range r.File {
		opened, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(opened)
		if err != nil {
			return nil, err
		}
		files[f.Name] = file{f.Mode(), f.Modified, "root:root", content} // zip has no owners
	}
	return files, nil
}

// Issue 7, point 4: the archive of each platform has LICENSE, README.md, notices, the binary and the completion script;
// owners, modes and times are the same whoever builds it.
func TestArchivesHaveAllFiles(t *testing.T) {
	var first time.Time
	for _, p := range platforms() {
		files := unpacked(t, p)
		want := map[string]fs.FileMode{
			"LICENSE": 0o644, "README.md": 0o644, "THIRD_PARTY_NOTICES": 0o644, p.binary(): 0o755, p.completion(): 0o755,
		}
		modes := map[string]fs.FileMode{}
		for name, f := range files {
			modes[name] = f.mode
			if first.IsZero() {
				first = f.time
			}
			if !f.time.Equal(first) || f.owner != "root:root" {
				t.Errorf("%s: %s is of %s and %v; others of root:root and %v", p, name, f.owner, f.time, first)
			}
		}
		if !maps.Equal(modes, want) {
			t.Fatalf("%s: the archive holds %v, want %v", p, modes, want)
		}
		for name, source := range map[string]string{"LICENSE": "LICENSE", "README.md": "README.md", p.completion(): "krew/" + p.completion()} {
			assert.Equalf(t, string(files[name].data), contents(t, source), "%s: %s differs from %s", p, name, source)
		}
		assert.NoError(t, isFor(p, files[p.binary()].data), p)
		checkBuild(t, p, files)
	}
}

// isFor checks the platform in the binary's header.
func isFor(p platform, binary []byte) error {
	r := bytes.NewReader(binary)
	var machine fmt.Stringer
	switch p.os {
	case "linux":
		f, err := elf.NewFile(r)
		if err != nil {
			return err
		}
		if libraries, err := f.ImportedLibraries(); err == nil && len(libraries) > 0 {
			return fmt.Errorf("it needs the libraries %v", libraries)
		}
		machine = f.Machine
	case "darwin":
		f, err := macho.NewFile(r)
		if err != nil {
			return err
		}
		machine = f.Cpu
	case "windows":
		f, err := pe.NewFile(r)
		if err != nil {
			return err
		}
		machine = peMachine(f.Machine)
	}
	want := map[platform]string{
		{"linux", "amd64"}: "EM_X86_64", {"linux", "arm64"}: "EM_AARCH64",
		{"darwin", "amd64"}: "CpuAmd64", {"darwin", "arm64"}: "CpuArm64",
		{"windows", "amd64"}: "8664", {"windows", "arm64"}: "aa64",
	}
	if machine.String() != want[p] {
		return fmt.Errorf("its header says %s, want %s", machine, want[p])
	}
	return nil
}

type peMachine uint16

func (m peMachine) String() string { return fmt.Sprintf("%x", uint16(m)) }

// checkBuild compares the notices with the modules in the binary's build information, and checks its version.
func checkBuild(t *testing.T, p platform, files map[string]file) {
	t.Helper()
	binary, notices := files[p.binary()].data, string(files["THIRD_PARTY_NOTICES"].data)
	info, err := buildinfo.Read(bytes.NewReader(binary))
	assert.NoError(t, err, p)
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	for key, want := range map[string]string{
		"CGO_ENABLED": "0", "-trimpath": "true", "-tags": "kustomize_disable_go_plugin_support", "GOOS": p.os, "GOARCH": p.arch,
	} {
		assert.Equalf(t, built[key], want, "%s: built with %s", p, key)
	}
	for _, stamp := range []string{"v" + made.Version, made.Commit} {
		if !bytes.Contains(binary, []byte(stamp)) {
			t.Errorf("%s: the binary does not know %s", p, stamp)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && bytes.Contains(binary, []byte(home+"/go/")) {
		t.Errorf("%s: the binary tells where it was built", p)
	}
	if len(info.Deps) == 0 {
		t.Errorf("%s: the binary names no modules", p)
	}
	for _, dep := range info.Deps {
		assert.Contains(t, notices, "\n"+dep.Path+" "+dep.Version+"\n", p, dep.Path, dep.Version)
	}
	assert.Contains(t, notices, "Go and its standard library, "+info.GoVersion+"\n", p)
}

// checksums maps file names to the checksums in checksums.txt.
func checksums(t *testing.T) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(contents(t, "dist", "checksums.txt")) {
		sum, name, found := strings.Cut(strings.TrimSpace(line), "  ")
		if !found {
			t.Fatalf("checksums.txt has the line %q", line)
		}
		sums[name] = sum
	}
	return sums
}

func sum(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dist, name))
	assert.NoError(t, err)
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Issue 7, point 4: checksums.txt covers all published files.
func TestChecksumsAreOfAllFiles(t *testing.T) {
	want := []string{"install.yaml"}
	for _, p := range platforms() {
		want = append(want, p.archive(), p.bill())
	}
	slices.Sort(want)
	sums := checksums(t)
	if got := slices.Sorted(maps.Keys(sums)); !slices.Equal(got, want) {
		t.Fatalf("checksums.txt is of %v, want %v", got, want)
	}
	for name, output := range sums {
		assert.Equal(t, sum(t, name), output, name)
	}
}

// Issue 7, point 4: the bill of materials of each binary lists all its modules, Go itself, and the licenses that were
// found.
func TestBillsOfMaterialsListAllModules(t *testing.T) {
	for _, p := range platforms() {
		var bill struct {
			BomFormat string
			Metadata  struct {
				Timestamp string
				Component struct{ Name, Version string }
			}
			Components []struct {
				Name, Version, Purl string
				Evidence            struct{ Licenses []any }
			}
		}
		assert.NoError(t, json.Unmarshal([]byte(contents(t, "dist", p.bill())), &bill), p.bill())
		const module = "github.com/batchjob-dev/kubectl-batchjob"
		if c := bill.Metadata.Component; bill.BomFormat != "CycloneDX" || c.Name != module || c.Version != "v"+made.Version {
			t.Errorf("%s: a %s of %s %s", p, bill.BomFormat, c.Name, c.Version)
		}
		assert.Equal(t, bill.Metadata.Timestamp, "", p)
		listed, licensed := map[string]bool{}, 0
		for _, c := range bill.Components {
			listed[c.Name+" "+c.Version] = strings.HasPrefix(c.Purl, "pkg:golang/")
			if len(c.Evidence.Licenses) > 0 {
				licensed++
			}
		}
		info, err := buildinfo.Read(bytes.NewReader(unpacked(t, p)[p.binary()].data))
		assert.NoError(t, err)
		for _, dep := range info.Deps {
			if !listed[dep.Path+" "+dep.Version] {
				t.Errorf("%s: the bill lacks %s %s", p, dep.Path, dep.Version)
			}
		}
		if !listed["std "+info.GoVersion] {
			t.Errorf("%s: the bill lacks the standard library of %s", p, info.GoVersion)
		}
		if licensed < len(info.Deps)*9/10 {
			t.Errorf("%s: the licenses of only %d of %d modules are told", p, licensed, len(info.Deps))
		}
	}
}

// ADR 0021: the binary may not grow by more than 5 % without a documented reason. `go tool nm -size -sort size` shows
// the large symbols, and `go build -ldflags=-dumpdep` why they are kept. Record a new size with the change that explains
// it.
func TestBinaryStaysSmall(t *testing.T) {
	linux := platform{"linux", "amd64"}
	recorded, err := strconv.Atoi(strings.TrimSpace(contents(t, "test/product/release/testdata/size.txt")))
	assert.NoError(t, err)
	size := len(unpacked(t, linux)[linux.binary()].data)
	switch change := float64(size)/float64(recorded) - 1; {
	case change > 0.05:
		t.Errorf("the binary has %d bytes, %.1f %% more than the recorded %d", size, change*100, recorded)
	case change < -0.05:
		t.Errorf("the binary has %d bytes, %.1f %% less than the recorded %d: write %[1]d into testdata/size.txt, so that it stays that small", size, -change*100, recorded)
	}
}
