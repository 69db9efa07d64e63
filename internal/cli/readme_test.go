package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// shown matches a block with the output of a command about a file in examples: the text before the output, and the command's
// arguments.
var shown = regexp.MustCompile("(?s)(<!-- output of: ([^\n]* --from examples/[^\n]*) -->\n```\n\\$ kubectl batchjob [^\n]*\n).*?```\n")

// The documentation shows what the plugin prints about a file in examples, on a terminal of 80 columns; -rewrite updates it.
func TestDocumentationShowsWhatIsPrinted(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, page := range []string{"README.md", "docs/explain.md"} {
		t.Run(page, func(t *testing.T) { wantOutputsIn(t, page) })
	}
}

func wantOutputsIn(t *testing.T, page string) {
	before, err := os.ReadFile("../../" + page)
	assert.NoError(t, err)
	blocks := 0
	text := shown.ReplaceAllStringFunc(string(before), func(block string) string {
		blocks++
		m := shown.FindStringSubmatch(block)
		var out bytes.Buffer
		env := clitest.NewEnv()
		env.Terminal = func(io.Writer) int { return 80 }
		args := append(strings.Fields(strings.ReplaceAll(m[2], "examples/", "../../examples/")), "--interactive=false")
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}
		assert.NoError(t, program.Execute(t.Context(), args, streams, env))
		return m[1] + strings.ReplaceAll(out.String(), "../../examples/", "examples/") + "```\n"
	})
	if blocks == 0 {
		t.Error("no output was found")
	}
	clitest.Golden(t, "../../../"+page, text)
}
