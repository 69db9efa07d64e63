package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// A Job of a real cluster is replayed: its own policy leads to what happened, another one to something else. Advice quotes
// that, and another manifest runs with its pods.
func TestJobIsReplayed_WIF_01_WIF_06(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "over-backoff-limit.yaml", func(job *batchv1.Job) {
		job.Spec.Template.Annotations["kwok.batchjob.dev/exit-code"] = "3" // No rule is advised for exit code 1.
	})
	finished(t, ns, "over-backoff-limit")
	cluster := []string{"--kubeconfig", kubeconfig, "-n", ns}
	ask := func(args ...string) string {
		t.Helper()
		got := kubectlBatchjob(t, append(args, cluster...)...)
		if got.Code != 0 {
			t.Fatalf("%v: exit %d, %s", args, got.Code, got.ErrOut)
		}
		return got.Out
	}
	if text := ask("what-if", "over-backoff-limit", "--set", "backoffLimit=0"); !strings.Contains(text, "First difference:") || strings.Contains(text, "differs from what happened") {
		t.Errorf("what-if:\n%s", text)
	}
	var c whatif.Comparison
	if err := json.Unmarshal([]byte(ask("what-if", "over-backoff-limit", "--set", "backoffLimit=0", "-o", "json")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Actual.PodsStarted != 2 || c.New.PodsStarted != 1 || c.New.Outcome.Type != "Failed" || c.New.PodSeconds >= c.Actual.PodSeconds || len(c.NotReproduced) > 0 {
		t.Errorf("what-if -o json: %+v", c)
	}
	var r explain.Report
	if err := json.Unmarshal([]byte(ask("explain-failure", "over-backoff-limit", "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	quoted := slices.IndexFunc(r.Advice, func(a explain.Advice) bool { return a.WhatIf != nil })
	if quoted < 0 || r.Advice[quoted].WhatIf.PodsStarted != 1 || r.Advice[quoted].WhatIf.Seconds >= r.Advice[quoted].WhatIf.ActualSeconds {
		t.Errorf("advice: %+v", r.Advice)
	}
	text := ask("simulate", "-f", "../../examples/indexed-10.yaml", "--pods-from", "job/over-backoff-limit")
	if !strings.Contains(text, "exited with code 3") {
		t.Errorf("simulate --pods-from:\n%s", text)
	}
}
