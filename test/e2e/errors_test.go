package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/command"
)

// Bad input ends with one line that says what to do, and the right exit code.
func TestBadInputIsOneLine(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"controller", "status"} {
		for name, c := range map[string]struct {
			args []string
			code int
			says []string
		}{
			"unreachable":        {[]string{"--kubeconfig", kubeconfig, "--server", "https://127.0.0.1:1"}, 1, []string{"cannot reach", "127.0.0.1:1", "check"}},
			"unknown context":    {[]string{"--kubeconfig", kubeconfig, "--context", "nowhere"}, 1, []string{`context "nowhere" not found`, "get-contexts"}},
			"missing kubeconfig": {[]string{"--kubeconfig", "/does/not/exist"}, 1, []string{"/does/not/exist", "--kubeconfig"}},
			"broken kubeconfig":  {[]string{"--kubeconfig", broken}, 1, []string{broken}},
			"unknown flag":       {[]string{"--nonsense"}, 2, []string{"nonsense", "--help"}},
		} {
			out := kubectlBatchjob(t, append([]string{verb}, c.args...)...)
			expectLine(t, verb+" "+name, out, c.code, c.says...)
		}
	}
}

func expectLine(t *testing.T, what string, out command.Result, code int, says ...string) {
	t.Helper()
	if out.Code != code || out.Out != "" || strings.Count(out.ErrOut, "\n") != 1 {
		t.Errorf("%s: exit %d, stdout %q, stderr %q", what, out.Code, out.Out, out.ErrOut)
	}
	for _, s := range says {
		if !strings.Contains(out.ErrOut, s) {
			t.Errorf("%s: stderr %q does not say %q", what, out.ErrOut, s)
		}
	}
}
