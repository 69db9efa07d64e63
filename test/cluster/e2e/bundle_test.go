package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
)

// The bundle of a Job of a real cluster is explained, replayed and used for what-if without a cluster.
// Requirements: BUN-01, BUN-03
func TestBundleOutlivesTheJob(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	failedJob(t, ns)
	file := filepath.Join(t.TempDir(), "train.tar.gz")
	cluster := []string{"--kubeconfig", kubeconfig, "-n", ns}
	if got := kubectlBatchjob(t, append([]string{"bundle", "train", "-f", file}, cluster...)...); got.Code != 0 || !strings.HasPrefix(got.Out, file) {
		t.Fatalf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	live := kubectlBatchjob(t, append([]string{"why", "train", "-o", "json"}, cluster...)...)
	var report explain.Report
	assert.NoError(t, json.Unmarshal([]byte(live.Out), &report))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"why", "--full", "--from", file}, report.Verdict.Sentence},
		{[]string{"watch", "--replay", file, "--plain"}, "FailedIndexes"},
		{[]string{"what-if", "train", "--from", file, "--set", "backoffLimitPerIndex=3"}, "First difference"},
	} {
		got := kubectlBatchjob(t, append(tc.args, "--kubeconfig", os.DevNull)...)
		if got.Code != 0 || !strings.Contains(got.Out, tc.want) {
			t.Errorf("%q: exit %d, %q, %q; want %q", tc.args, got.Code, got.Out, got.ErrOut, tc.want)
		}
	}
	full, err := command.Run(t.Context(), patience, "", "sh", "-c", binary+" bundle train -f - -n "+ns+" --kubeconfig "+kubeconfig+" > /dev/full")
	if err != nil || full.Code != 1 || !strings.Contains(full.ErrOut, "no space left") {
		t.Errorf("a full disk: exit %d, %q, %v", full.Code, full.ErrOut, err)
	}
}

// The demo runs in a real terminal, without a cluster. Both q and Ctrl-C restore the terminal.
// Requirements: DEM-05
func TestDemoInATerminal(t *testing.T) {
	t.Parallel()
	term := openTerminal(t, 80, 24)
	term.run("stty -a >before; batchjob demo; echo exit $?")
	term.Shows("simulation", "train", "montecarlo", "? help")
	term.Press("/")
	term.Write("sweep")
	term.Press("Enter")
	term.Press("Enter")
	term.Shows("Jobs › sim/sweep", "simulation")
	term.Press("2")
	term.Shows("60 indexes")
	term.Press("q")
	term.Shows("1 of 8 Jobs")
	term.leave("q")
	term.Shows("exit 0")
	term.fresh("batchjob demo; echo exit $?")
	term.Shows("simulation", "? help")
	term.leave("C-c")
	term.Shows("exit 130")
	term.fresh("stty -a | diff before - && echo as before")
	term.Shows("as before")
}
