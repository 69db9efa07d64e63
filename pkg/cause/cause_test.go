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
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func disrupted() []failurepolicy.Condition {
	return []failurepolicy.Condition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

func exited(name string, code int32, reason string) failurepolicy.Container {
	return failurepolicy.Container{Name: name, ExitCode: code, Reason: reason}
}

// CLI-04: the wording of failures and of the rules that matched them.
func TestCauseIsPutIntoWords(t *testing.T) {
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
		{"while being deleted", reconcile.Pod{Deleting: true, Terminated: []failurepolicy.Container{exited("main", 143, "")}}, nil, "Container main exited with code 143 (SIGTERM) while its pod was being deleted"},
		{"disrupted", reconcile.Pod{Conditions: disrupted(), Terminated: []failurepolicy.Container{exited("main", 143, "")}}, nil, "Container main exited with code 143 (SIGTERM), and the pod has condition DisruptionTarget"},
		{"evicted through the API", reconcile.Pod{Conditions: disrupted(), Reasons: &reconcile.PodReasons{Disrupted: "EvictionByEvictionAPI"}}, nil, "Pod was evicted through the Eviction API"},
		{"preempted", reconcile.Pod{Conditions: disrupted(), Reasons: &reconcile.PodReasons{Disrupted: "PreemptionByScheduler"}, Terminated: []failurepolicy.Container{exited("main", 143, "")}}, nil,
			"Container main exited with code 143 (SIGTERM), and the pod was preempted by the scheduler"},
		{"disrupted by others", reconcile.Pod{Conditions: disrupted(), Reasons: &reconcile.PodReasons{Disrupted: "SpotReclaimed"}}, nil, "Pod has condition DisruptionTarget (SpotReclaimed)"},
		{"only disrupted", reconcile.Pod{Conditions: disrupted()}, nil, "Pod has condition DisruptionTarget"},
		{"deleted", reconcile.Pod{Phase: "Running", Deleting: true}, nil, "Pod was deleted before it ended"},
		{"deleted, restarted before", reconcile.Pod{Phase: "Running", Deleting: true, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}}, nil,
			"Pod was deleted before it ended; before that, container main exited with code 7 and was restarted"},
		{"about to be deleted, restarted before", reconcile.Pod{Phase: "Running", Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}}, nil,
			"Pod was deleted before it ended; before that, container main exited with code 7 and was restarted"},
		{"killed, restarted before", reconcile.Pod{
			Deleting: true, Terminated: []failurepolicy.Container{exited("main", 137, "Error")},
			Restarted: &failurepolicy.Container{Name: "main", ExitCode: 137, Reason: "OOMKilled"},
		}, nil, "Container main exited with code 137 (SIGKILL) while its pod was being deleted; before that, container main exited with code 137 (OOMKilled) and was restarted"},
		{"ended as before", reconcile.Pod{
			Deleting: true, Terminated: []failurepolicy.Container{exited("main", 7, "Error")}, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"},
		}, nil, "Container main exited with code 7 while its pod was being deleted"},
		{"restarted, not deleted", reconcile.Pod{Terminated: []failurepolicy.Container{exited("main", 3, "")}, Restarted: &failurepolicy.Container{Name: "main", ExitCode: 7}}, nil,
			"Container main exited with code 3"},
		{"evicted", reconcile.Pod{Phase: "Failed", Reasons: &reconcile.PodReasons{Failed: "Evicted"}}, nil, "Pod failed: Evicted"},
		{"nobody knows", reconcile.Pod{Phase: "Failed"}, nil, "Pod failed, and no container shows why"},
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
		assert.Equal(t, cause.Of(&tc.pod, tc.match, names).Text(), tc.want, tc.name)
	}
}

// CLI-04: the record in an event is the only trace of a pod that is gone, and is read back completely.
func TestRecordIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		exit := func(what string) cause.Exit {
			return cause.Exit{Container: text.Draw(t, what), ExitCode: rapid.Int32().Draw(t, what+" code"), Reason: text.Draw(t, what+" reason")}
		}
		r := cause.Record{Pod: text.Draw(t, "pod"), Others: rapid.Bool().Draw(t, "others"), Cause: cause.Cause{Rule: failurepolicy.NoRule, Failure: cause.Failure{
			Exit: exit("container"), Condition: corev1.PodConditionType(text.Draw(t, "condition")), ConditionReason: text.Draw(t, "condition reason"), Deleting: rapid.Bool().Draw(t, "deleting"),
			DeletedRunning: rapid.Bool().Draw(t, "deleted"), PodReason: text.Draw(t, "pod reason"), Restarted: exit("restarted"),
		}}}
		if r.Judged = rapid.Bool().Draw(t, "judged"); r.Judged && rapid.Bool().Draw(t, "matched") {
			r.Rule, r.RuleName = rapid.Int32Range(0, 2).Draw(t, "rule"), text.Draw(t, "name")
			r.Action = rapid.SampledFrom([]batchv1.PodFailurePolicyAction{"FailJob", "Ignore", "Count", "FailIndex"}).Draw(t, "action")
		}
		if got, ok := cause.Parse(r.String()); !ok || got != r {
			t.Errorf("%s is read as %v %+v, want %+v", r, ok, got, r)
		}
	})
}

// CLI-04: a record without a rule means that no podFailurePolicy was evaluated; other text is not parsed as a record.
func TestWhatIsNoRecord(t *testing.T) {
	for _, text := range []string{"", "anything", "[]", "null,", `{"rule":"x"}`, `{"rule":-2}`, `{"rule":99999999999}`, `{"exitCode":1.5}`} {
		if got, ok := cause.Parse(text); ok || got != (cause.Record{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for text, want := range map[string]cause.Cause{
		`{"container":"main","exitCode":3}`: {Failure: cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 3}}, Rule: failurepolicy.NoRule},
		`{"rule":1,"unknown":{}}`:           {Judged: true, Rule: 1},
	} {
		if got, ok := cause.Parse(text); !ok || got.Cause != want {
			t.Errorf("%q: %v %+v", text, ok, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"container":"main","exitCode":3,"rule":1,"ruleName":"Corrupt","action":"FailJob","pod":"a-7"}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := cause.Parse(text)
		if again, _ := cause.Parse(got.String()); ok && again != got {
			t.Errorf("%q: %+v, then %+v", text, got, again)
		}
	})
}

// Where space is limited, the text begins with what distinguishes causes.
func TestShort(t *testing.T) {
	main := cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}
	for want, f := range map[string]cause.Failure{
		"exit 137 OOMKilled":                   {Exit: main},
		"exit 3, deleted":                      {Exit: cause.Exit{Container: "main", ExitCode: 3}, Deleting: true},
		"exit 137 OOMKilled, DisruptionTarget": {Exit: main, Condition: corev1.DisruptionTarget},
		"exit 3, preempted":                    {Exit: cause.Exit{Container: "main", ExitCode: 3}, Condition: corev1.DisruptionTarget, ConditionReason: "PreemptionByScheduler"},
		"preempted":                            {Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: corev1.DisruptionTarget, ConditionReason: "PreemptionByScheduler"},
		"evicted":                              {Condition: corev1.DisruptionTarget, ConditionReason: "EvictionByEvictionAPI"},
		"condition DisruptionTarget":           {Condition: corev1.DisruptionTarget},
		"Pod was deleted before it ended, exit 3 before": {DeletedRunning: true, Restarted: cause.Exit{Container: "main", ExitCode: 3}},
		"Pod failed: Evicted":                            {PodReason: "Evicted"},
		"Pod failed, and no container shows why":         {},
	} {
		assert.Equal(t, f.Short(), want)
	}
}
