package structure

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The tests have five wings, and the page of a wing names each of its folders.
func TestEveryFolderOfTestsIsOnThePageOfItsWing(t *testing.T) {
	var wings []string
	for _, wing := range folders(t, filepath.Join(root, "test")) {
		wings = append(wings, wing)
		page, err := os.ReadFile(filepath.Join(root, "test", wing, "README.md"))
		assert.NoError(t, err)
		for _, folder := range folders(t, filepath.Join(root, "test", wing)) {
			assert.Contains(t, string(page), "`"+folder+"`", wing, folder)
		}
	}
	assert.SlicesEqual(t, wings, []string{"cluster", "kit", "product", "virtual", "world"}, "the folders of test")
}

// folders returns the names of the folders in a folder that have Go files, at any depth: git leaves others behind.
func folders(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	assert.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() && hasGoFiles(t, filepath.Join(dir, entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func hasGoFiles(t *testing.T, dir string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if found = strings.HasSuffix(path, ".go"); found {
			return fs.SkipAll
		}
		return err
	})
	assert.NoError(t, err)
	return found
}
