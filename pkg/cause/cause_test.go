package cause_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

func disrupted() []failurepolicy.Condition {
	return []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

func exited(name string, code int32, reason string) failurepolicy.Container {
	return failurepolicy.Container{Name: name, ExitCode: code, Reason: reason}
}

// CLI-04: the words for what made a pod fail, and for what the rules said to it.
func TestText_CLI_04(t *testing.T) {
	names := rulename.Names{"", "Corrupt"}
	none := &failurepolicy.Match{Rule: failurepolicy.NoRule}
	for _, tc := range []struct {
		name  string
		pod   reconcile.Pod
		match *failurepolicy.Match
		want  string
	}{
		{"an exit code", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 3, "Error")}}, nil, "Container main exited with code 3"},
		{"with a reason", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 137, "OOMKilled")}}, nil, "Container main exited with code 137 (OOMKilled)"},
		{"of the one that failed", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 0, "Completed"), exited("side", 2, "")}}, nil, "Container side exited with code 2"},
		{"while being deleted", reconcile.Pod{Deleting: true, Terminated: []failurepolicy.Container{exited("main", 143, "")}}, nil, "Container main exited with code 143 while its pod was being deleted"},
		{"disrupted", reconcile.Pod{Conditions: disrupted(), Terminated: []failurepolicy.Container{exited("main", 143, "")}}, nil, "Container main exited with code 143, and the pod has condition DisruptionTarget"},
		{"only disrupted", reconcile.Pod{Conditions: disrupted()}, nil, "Pod has condition DisruptionTarget"},
		{"deleted", reconcile.Pod{Phase: "Running", Deleting: true}, nil, "Pod was deleted before it ended"},
		{"deleted, restarted before", reconcile.Pod{Phase: "Running", Deleting: true, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}}, nil,
			"Pod was deleted before it ended; before that, container main exited with code 7 and was restarted"},
		{"about to be deleted, restarted before", reconcile.Pod{Phase: "Running", Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}}, nil,
			"Pod was deleted before it ended; before that, container main exited with code 7 and was restarted"},
		{"killed, restarted before", reconcile.Pod{
			Deleting: true, Terminated: []failurepolicy.Container{exited("main", 137, "Error")},
			Restarted: &failurepolicy.Container{Name: "main", ExitCode: 137, Reason: "OOMKilled"},
		}, nil, "Container main exited with code 137 while its pod was being deleted; before that, container main exited with code 137 (OOMKilled) and was restarted"},
		{"ended as before", reconcile.Pod{
			Deleting: true, Terminated: []failurepolicy.Container{exited("main", 7, "Error")}, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"},
		}, nil, "Container main exited with code 7 while its pod was being deleted"},
		{"restarted, not deleted", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 3, "")}, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7}}, nil,
			"Container main exited with code 3"},
		{"evicted", reconcile.Pod{Phase: "Failed", FailReason: "Evicted"}, nil, "Pod failed: Evicted"},
		{"nobody knows", reconcile.Pod{Phase: "Failed"}, nil, "Pod failed, and no container tells why"},
		{"no rule", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 3, "")}}, none, "Container main exited with code 3; no rule of the podFailurePolicy matched"},
		{
			"a rule with a name", reconcile.Pod{Terminated: []failurepolicy.Container{exited("side", 1, ""), exited("main", 3, "Error")}},
			&failurepolicy.Match{Rule: 1, Action: "FailJob", Container: "main", ExitCode: 3}, `Container main exited with code 3; rule 1 "Corrupt" of the podFailurePolicy matched: FailJob`,
		},
		{
			"a rule on a condition", reconcile.Pod{Conditions: disrupted(), Terminated: []failurepolicy.Container{exited("main", 3, "")}},
			&failurepolicy.Match{Rule: 0, Action: "Ignore", Condition: "DisruptionTarget"}, "Pod has condition DisruptionTarget; rule 0 of the podFailurePolicy matched: Ignore",
		},
	} {
		if tc.pod.Phase == "" {
			tc.pod.Phase = corev1.PodFailed
		}
		if got := cause.Of(&tc.pod, tc.match).Text(names); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// CLI-04: what an event says is all that is left of a pod, and is read back whole.
func TestParseReadsText_CLI_04(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[A-Za-z0-9_,:-]{1,12}`)
		names := rulename.Names(rapid.SliceOfN(rapid.OneOf(rapid.Just(""), word), 3, 3).Draw(t, "names"))
		c := cause.Cause{
			ExitCode: rapid.Int32().Draw(t, "code"), Deleting: rapid.Bool().Draw(t, "deleting"), Unended: rapid.Bool().Draw(t, "unended"),
			Condition: corev1.PodConditionType(rapid.OneOf(rapid.Just(""), word).Draw(t, "condition")),
			Container: rapid.OneOf(rapid.Just(""), word).Draw(t, "container"), Reason: rapid.OneOf(rapid.Just(""), word).Draw(t, "reason"),
			PodReason: rapid.OneOf(rapid.Just(""), word).Draw(t, "pod reason"), Rule: failurepolicy.NoRule,
		}
		if rapid.Bool().Draw(t, "restarted") {
			c.Restarted = cause.Exit{Container: word.Draw(t, "restarted container"), ExitCode: rapid.Int32().Draw(t, "code before"), Reason: rapid.OneOf(rapid.Just(""), word).Draw(t, "reason before")}
		}
		if c.Judged = rapid.Bool().Draw(t, "judged"); c.Judged && rapid.Bool().Draw(t, "matched") {
			c.Rule = rapid.Int32Range(0, 2).Draw(t, "rule")
			c.Action = rapid.SampledFrom([]batchv1.PodFailurePolicyAction{"FailJob", "Ignore", "Count", "FailIndex"}).Draw(t, "action")
		}
		want := cause.Told{Evidence: c.Evidence(), Restarted: c.Restarted, Rule: c.Rule, RuleName: names.Name(c.Rule), Action: c.Action}
		if got := cause.Parse(c.Text(names)); got != want {
			t.Errorf("%q is read as %+v, want %+v", c.Text(names), got, want)
		}
	})
}

// What somebody else wrote is all evidence.
func TestParseOther_CLI_04(t *testing.T) {
	for _, text := range []string{
		"", "anything", "rule 1 of the podFailurePolicy matched: FailJob", "x; rule 99999999999 of the podFailurePolicy matched: FailJob",
		"x; rule 1 of the podFailurePolicy matched: FailJob and more", "x; rule -1 of the podFailurePolicy matched: FailJob",
	} {
		if got := cause.Parse(text); got != (cause.Told{Evidence: text, Rule: failurepolicy.NoRule}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`Container main exited with code 3; rule 1 "Corrupt" of the podFailurePolicy matched: FailJob`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := cause.Parse(text); len(got.Evidence) > len(text) || got.Rule < failurepolicy.NoRule {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
