package bundle

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// marked matches a secret in the corpus, and mark the text that replaces it.
var (
	marked = regexp.MustCompile(`«[^»]*»`)
	mark   = regexp.MustCompile(`\[removed: [^\]]*\]`)
)

// From lines that real programs print, the secrets are removed, and nothing else.
// Requirements: BUN-04
func TestCorpusOfSecrets(t *testing.T) {
	data, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			continue
		}
		lines++
		line, clean := strings.CutPrefix(line, "= ")
		if clean == marked.MatchString(line) {
			t.Errorf("%q: what has to go?", line)
		}
		line = strings.NewReplacer("⏎", "\n", "␛", "\x1b").Replace(line)
		want := marked.ReplaceAllString(line, "«»")
		got := newRedactor(nil).text("f", strings.NewReplacer("«", "", "»", "").Replace(line))
		if got = mark.ReplaceAllString(got, "«»"); got != want {
			t.Errorf("%s\nbecame %s\nnot    %s", line, got, want)
		}
	}
	if lines < 200 {
		t.Errorf("only %d lines", lines)
	}
}
