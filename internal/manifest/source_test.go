package manifest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": "{apiVersion: v1, kind: B}", "a.yml": "{apiVersion: v1, kind: A}", "c.json": `{"apiVersion": "v1", "kind": "C"}`, "d.txt": "x: [",
		"sub/e.yaml": "{apiVersion: v1, kind: E}", "empty/readme": "", "nothing.yaml": "",
	} {
		path := filepath.Join(dir, name)
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	return dir
}

func kinds(objects []*Object) string {
	var b strings.Builder
	for _, o := range objects {
		b.WriteString(o.Kind())
	}
	return b.String()
}

// -f accepts the same files as kubectl's -f, except URLs (CLI-08: no surprise for users of kubectl).
func TestFilesAreFoundAsKubectlFindsThem(t *testing.T) {
	dir := folder(t)
	for _, c := range []struct {
		files     []string
		recursive bool
		kinds     string
		problem   string
	}{
		{[]string{"b.yaml"}, false, "B", ""},
		{[]string{"b.yaml", "-", "a.yml"}, false, "BSA", ""},
		{[]string{"."}, false, "ABC", ""},
		{[]string{"."}, true, "ABCE", ""},
		{[]string{"*.y*ml"}, false, "AB", ""},
		{[]string{"sub/*"}, false, "E", ""},
		{[]string{"nothing.yaml"}, false, "", ""},
		{[]string{"gone.yaml", "a.yml"}, false, "A", `the path "DIR/gone.yaml" does not exist`},
		{[]string{"gone-*"}, false, "", `the path "DIR/gone-*" does not exist`},
		{[]string{"[a"}, false, "", `the pattern "DIR/[a" cannot be read: syntax error in pattern`},
		{[]string{"empty"}, false, "", "DIR/empty: no .json, .yaml or .yml file in this folder; --recursive also searches its folders"},
		{[]string{"empty"}, true, "", "DIR/empty: no .json, .yaml or .yml file in this folder"},
		{[]string{"d.txt"}, false, "", "DIR/d.txt:1:4: not readable as YAML: \"[\" is not closed; add ]"},
		{[]string{"https://example.com/a.yaml", "a.yml"}, false, "A", "https://example.com/a.yaml: URLs are not supported; fetch it first: curl -fsSL 'https://example.com/a.yaml' | kubectl batchjob lint -f -"},
		{[]string{"b.yaml/x"}, false, "", "cannot read DIR/b.yaml/x: not a directory"},
	} {
		var files []string
		for _, name := range c.files {
			if name != "-" && !strings.HasPrefix(name, "http") {
				name = dir + "/" + name
			}
			files = append(files, name)
		}
		objects, problems := Read(t.Context(), Options{Files: files, Recursive: c.recursive, Verb: "lint", Stdin: strings.NewReader("{apiVersion: v1, kind: S}")})
		problem := strings.ReplaceAll(errorText(problems), dir, "DIR")
		if kinds(objects) != c.kinds || problem != c.problem {
			t.Errorf("%v: %s, %q; want %s, %q", c.files, kinds(objects), problem, c.kinds, c.problem)
		}
	}
}

func errorText(problems []error) string {
	if err := errors.Join(problems...); err != nil {
		return err.Error()
	}
	return ""
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '#'
	}
	return len(p), nil
}

func TestSizeIsBounded(t *testing.T) {
	objects, problems := Read(t.Context(), Options{Files: []string{"-"}, Stdin: endless{}})
	if len(objects) != 0 || errorText(problems) != "<stdin>: larger than 16 MiB, too large for a manifest" {
		t.Errorf("%d objects, %v", len(objects), problems)
	}
}

// Many small values take much more memory than their text.
func TestNumberOfValuesIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		lines int
		bad   bool
	}{
		"lines":            {"a: 1\n", maxValues - 10, false},
		"too many lines":   {"a: 1\n", maxValues + 10, true},
		"too many in flow": {"[1, 2, 3, 4]\n", maxValues / 4, true},
		"lists of JSON":    {"{\n1,\n2\n}\n", maxValues/4 - 10, false},
	} {
		_, err := Options{Stdin: strings.NewReader(strings.Repeat(c.line, c.lines))}.readAll(Stdin)
		if want := "<stdin>: more than 400,000 lines and separators (, [ {), too many for one file; split it"; (err != nil) != c.bad || err != nil && err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Ctrl-C ends the wait for input that never arrives.
func TestInterruptedWhileReading(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []error, 1)
	go func() {
		_, problems := Read(ctx, Options{Files: []string{"-"}, Stdin: in})
		done <- problems
	}()
	if _, err := out.Write([]byte("a")); err != nil { // the reader has started
		t.Fatal(err)
	}
	cancel()
	select {
	case problems := <-done:
		if !errors.Is(errors.Join(problems...), context.Canceled) {
			t.Errorf("%v", problems)
		}
	case <-time.After(time.Minute):
		t.Fatal("goes on reading")
	}
}
