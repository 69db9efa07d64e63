package bundle

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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
	assert.NoError(t, err)
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
	if lines < 700 {
		t.Errorf("only %d lines", lines)
	}
}

// Any text keeps everything but the values that are removed.
// Requirements: BUN-04
func FuzzSecrets(f *testing.F) {
	data, err := os.ReadFile("testdata/secrets.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f.Add(strings.NewReplacer("«", "", "»", "", "⏎", "\n", "␛", "\x1b", "= ", "").Replace(line))
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for i, kept := range mark.Split(newRedactor(nil).text("f", text), -1) {
			at := strings.Index(rest, kept)
			if at < 0 || i == 0 && at > 0 {
				t.Fatalf("%q is not in the rest of %q", kept, text)
			}
			rest = rest[at+len(kept):]
		}
	})
}

// BenchmarkHostileText measures texts that repeat the start of a secret, most of which do not end. The time per byte must
// not depend on the size.
func BenchmarkHostileText(b *testing.B) {
	for _, unit := range []string{
		"password=a ", `password="a `, "password='a ", "password=`a ", "password=$(", "password=[", "password={", `password=\\\"`, `password="a"'`, `\`, `password=\`, "password: | # ", `\npassword: | #`,
		`"PASSWORD=x a=b `, "map[password:a b ", "password", "--password-", "<password>", "password:\n  a\n", "  password: \"\n   a\n",
		"curl ", "curl -u a:b ", "curl '", `curl "a",`, "mysql -p", "https://a:b@", `authorization: a="`, `cookie: a="`, "AKIA", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----",
	} {
		for _, size := range []int{1 << 14, 1 << 18} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%q/%d", unit, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					newRedactor(nil).text("f", text)
				}
			})
		}
	}
}
