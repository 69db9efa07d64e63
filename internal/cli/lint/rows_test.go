package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Each row is a manifest that lint got wrong, with what it prints now: in testdata/rows, after a line "=== what" or
// "=== what | FILE FLAGS".
// Requirements: LNT-11
func TestWhatRealFilesNeed(t *testing.T) {
	files, err := filepath.Glob("testdata/rows/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			assert.NoError(t, err)
			text := string(data)
			var got strings.Builder
			for _, row := range strings.Split(text, "\n=== ")[1:] {
				head, rest, _ := strings.Cut(row, "\n")
				input, _, _ := strings.Cut(rest, "----\n")
				_, how, _ := strings.Cut(head, " | ")
				words := strings.Fields(how)
				name := "job.yaml"
				if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
					name, words = words[0], words[1:]
				}
				folder := t.TempDir()
				path := filepath.Join(folder, name)
				assert.NoError(t, os.WriteFile(path, []byte(input), 0o600))
				if strings.Contains(how, "-R") {
					path = folder
				}
				result := program.Run(t, nil, append([]string{"lint", "-f", path}, words...)...)
				summary := strings.TrimSuffix(result.ErrOut, notChecked+"\n")
				got.WriteString("\n=== " + head + "\n" + input + "----\n" + strings.ReplaceAll(result.Out+summary, folder+"/", ""))
			}
			begin, _, _ := strings.Cut(text, "\n=== ")
			clitest.Golden(t, filepath.Join("rows", filepath.Base(file)), begin+got.String())
		})
	}
}
