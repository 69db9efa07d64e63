package structure

import (
	"path/filepath"
	"testing"
)

// filesAtMost is how many files a package may have, without its tests. One that has more has
// more than one subject.
const filesAtMost = 20

func TestPackagesAreSmall(t *testing.T) {
	packages := map[string]int{}
	for _, dir := range []string{"cmd", "config", "internal", "pkg"} {
		for path := range parse(t, filepath.Join(root, dir)) {
			packages[filepath.Dir(path)]++
		}
	}
	for dir, files := range packages {
		if files > filesAtMost {
			t.Errorf("%s has %d files, more than %d: split it, or join files", dir, files, filesAtMost)
		}
	}
	if len(packages) < 30 {
		t.Errorf("only %d packages found", len(packages))
	}
}
