package page

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// README is read in a minute, and users choose among few pages.
func TestDocumentationIsShort(t *testing.T) {
	pages := documents(t)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	assert.NoError(t, err)
	if words := len(strings.Fields(string(readme))); words > 1000 {
		t.Errorf("README.md has %d words", words)
	}
	var users []string
	for name := range pages {
		if path.Dir(name) == "docs" && name != "docs/README.md" && name != "docs/architecture.md" {
			users = append(users, name)
		}
	}
	if len(users) > 14 {
		t.Errorf("%d pages are for users: %q", len(users), users)
	}
}

// jobs maps the names of Jobs to the files or pages that define them.
type jobs map[string]map[string]bool

// add adds the Jobs in a manifest.
func (j jobs) add(t *testing.T, where, manifest string) {
	t.Helper()
	for decoder := yaml.NewDecoder(strings.NewReader(manifest)); ; {
		var object struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return
		}
		assert.NoError(t, err, where)
		if name := object.Metadata.Name; object.Kind == "Job" && name != "" && object.Metadata.Namespace == "" {
			if j[name] == nil {
				j[name] = map[string]bool{}
			}
			j[name][where] = true
		}
	}
}

// addFile adds the Jobs of a file or folder of the project.
func (j jobs) addFile(t *testing.T, file string) {
	t.Helper()
	files := []string{file}
	if strings.HasSuffix(file, "/") {
		var err error
		if files, err = filepath.Glob(filepath.Join(root, file, "*.yaml")); err != nil || len(files) == 0 {
			t.Fatalf("%s has no manifests: %v", file, err)
		}
		for i := range files {
			files[i] = file + filepath.Base(files[i])
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		assert.NoError(t, err)
		j.add(t, file, string(text))
	}
}

var (
	appliedFile = regexp.MustCompile(`-f (examples/\S*)`)
	hereDoc     = regexp.MustCompile(`(?s)<<'EOF'\n(.*?\n)EOF\n`)
)

// A reader of the pages of the tour, who stays in one namespace, meets no name of a Job twice for different Jobs.
func TestTourHasOneJobOfEachName(t *testing.T) {
	found := jobs{}
	for _, name := range Tour() {
		p, err := Read(root, name)
		assert.NoError(t, err)
		for _, b := range p.Blocks {
			switch {
			case b.Lang == "yaml":
				found.add(t, b.Where(), b.Text)
			case b.IsCommands() && !b.Output:
				for _, m := range appliedFile.FindAllStringSubmatch(b.Text, -1) {
					found.addFile(t, m[1])
				}
				for _, m := range hereDoc.FindAllStringSubmatch(b.Text, -1) {
					found.add(t, b.Where(), m[1])
				}
			}
		}
	}
	for name, places := range found {
		if len(places) > 1 {
			t.Errorf("%s is the name of several Jobs: %v", name, places)
		}
	}
	if len(found) < 10 {
		t.Errorf("only %d Jobs were found", len(found))
	}
}
