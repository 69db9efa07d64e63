package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl finds the binary on PATH as a plugin, with its flags and exit codes.
func TestKubectlFindsThePlugin(t *testing.T) {
	t.Parallel()
	path := strings.Join([]string{filepath.Dir(binary), filepath.Dir(kubectl), os.Getenv("PATH")}, string(os.PathListSeparator))
	ns := namespace(t)
	apply(t, ns, "non-indexed.yaml")
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"status", "--kubeconfig", kubeconfig, "-n", ns, "-o", "name"}, 0, "job.batch/non-indexed\n"},
		{[]string{"status", "nobody", "--kubeconfig", kubeconfig, "-n", ns}, 1, "nobody"},
		{[]string{"status", "--help"}, 0, "kubectl batchjob status"},
		{[]string{"nonsense"}, 2, "nonsense"},
	} {
		cmd := exec.Command(kubectl, append([]string{"batchjob"}, c.args...)...)
		cmd.Env = append(os.Environ(), "PATH="+path)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.text) {
			t.Errorf("kubectl batchjob %v: exit %d, %s", c.args, cmd.ProcessState.ExitCode(), out)
		}
	}
}
