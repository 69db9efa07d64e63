package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// ruled returns a Job with these rules, and an annotation if it is not "".
func ruled(annotation string, rules ...string) string {
	metadata := "{name: a}"
	if annotation != "" {
		metadata = fmt.Sprintf("{name: a, annotations: {other: x, %s: %q}}", rulename.Annotation, annotation)
	}
	return "apiVersion: batch/v1\nkind: Job\nmetadata: " + metadata + "\nspec:\n  podFailurePolicy:\n    rules:\n    - " + strings.Join(rules, "\n    - ") + "\n"
}

// Requirements: PFN-16, PFN-17, PFN-18, PFN-19, PFN-20, PFN-22, PFN-23
func TestLegalNamesMoveToTheAnnotation(t *testing.T) {
	long := strings.Repeat("x", rulename.MaxLen)
	for _, c := range []struct {
		text, annotation string
		problems         []string
	}{
		{ruled("", "{action: Count}"), "", nil},
		{ruled("", "{name: ExitCode2}", "{action: Count}", "{name: OOMKilled, action: Ignore}"), "0=ExitCode2;2=OOMKilled", nil},
		{ruled("", `{name: ""}`, "{name: ~}"), "", nil},
		{ruled("", `{name: "a,b:c"}`), "0=a,b:c", nil},
		{ruled("", "{name: "+long+"}"), "0=" + long, nil},
		{ruled("", "{name: "+long+"x}"), "", []string{"f:7:14: rule 0", "112 bytes long"}},
		{ruled("", "{name: A}", "{name: A, action: Ignore}"), "", []string{"f:8:14: rule 1", "rule 0 has the same name"}},
		{ruled("", `{name: "1"}`, "{}"), "", []string{"f:7:14: rule 0", "index of rule 1"}},
		{ruled("", "{name: exit-2}"), "", []string{"f:7:14: rule 0", "'-' is not allowed"}},
		{ruled("", "{name: BackoffLimitExceeded}"), "", []string{"f:7:14: rule 0", "as a reason themselves"}},
		{ruled("", "{name: 2}"), "", []string{"f:7:14: the name of a rule is text; quote 2"}},
		{ruled("", "{name: yes}"), "", []string{"f:7:14: the name of a rule is text; quote yes"}},
		{ruled("", "{name: 0777}"), "", []string{"f:7:14: the name of a rule is text; quote 0777"}},
		{ruled("", "{name: [A]}"), "", []string{"f:7:8: the name of a rule is text, not a list"}},
		{ruled("", "{name: {A: 1}}"), "", []string{"f:7:8: the name of a rule is text, not an object"}},
		{ruled("0=A", "{action: Count}"), "0=A", nil},
		{ruled("1=B;0=A", "{name: A}", "{name: B}"), "0=A;1=B", nil},
		{ruled("0=A", "{name: B}"), "0=A", []string{"f:3:89: annotation " + rulename.Annotation + ": the rules have different names (0=B); remove one of the two"}},
		{ruled("0=A", "{name: A}", "{name: B}"), "0=A", []string{"f:3:89: annotation", "different names (0=A;1=B)"}},
		{ruled("0=a-b", "{action: Count}"), "0=a-b", []string{"f:3:89: annotation " + rulename.Annotation + `: rule 0 "a-b": '-' is not allowed`}},
		{ruled("7=A", "{action: Count}"), "7=A", []string{"f:3:89: annotation", "no such rule; the Job has 1"}},
		{ruled("", slices.Repeat([]string{"{name: ~}"}, 21)...), "", []string{"f:6:5: there are 21 rules, but at most 20"}},
		// PFN-12: without rules, names have no meaning.
		{"apiVersion: batch/v1\nkind: Job\nmetadata: {annotations: {" + rulename.Annotation + ": x}}", "x", nil},
	} {
		job := parse(t, c.text)[0].Jobs()[0]
		problems := job.MoveNames()
		if text := fmt.Sprint(problems); len(problems) != min(len(c.problems), 1) || slices.ContainsFunc(c.problems, func(p string) bool { return !strings.Contains(text, p) }) {
			t.Errorf("%s: %q, want %q", c.text, problems, c.problems)
		}
		assert.Equalf(t, job.Annotation(), c.annotation, "%s: annotation", c.text)
		for _, rule := range job.rules() {
			if _, left := fieldsOf(rule)["name"]; left {
				t.Errorf("%s: a name is left", c.text)
			}
		}
	}
}

// A name that cannot be read does not prevent checking the other names, and does not change them.
// Requirements: PFN-18
func TestUnreadableNameHidesNoOther(t *testing.T) {
	const unreadable = "f:7:14: the name of a rule is text; quote 2"
	for _, c := range []struct{ text, want string }{
		{ruled("", "{name: 2}", "{name: a-b}"), "[" + unreadable + ` f:8:14: rule 1 "a-b": '-' is not allowed, only letters, digits, '_', ',' and ':']`},
		{ruled("0=A;1=B", "{name: 2}", "{name: B}"), "[" + unreadable + "]"},
	} {
		assert.Equal(t, fmt.Sprint(parse(t, c.text)[0].Jobs()[0].MoveNames()), c.want, c.text)
	}
}

// An annotation that is not text is neither passed on nor overwritten.
// Requirements: PFN-23, PFN-24
func TestAnnotationThatIsNotTextIsLeftAlone(t *testing.T) {
	for rules, text := range map[string]string{"[{}]": "3", "[{name: A}]": "0x3", "[]": "yes"} {
		job := parse(t, "apiVersion: batch/v1\nkind: Job\nmetadata: {annotations: {"+rulename.Annotation+": "+text+"}}\nspec: {podFailurePolicy: {rules: "+rules+"}}")[0].Jobs()[0]
		before := fmt.Sprint(job.Content["metadata"])
		want := "[f:3:70: the annotation " + rulename.Annotation + " is text; quote " + text + "]"
		if got := fmt.Sprint(job.MoveNames()); got != want || fmt.Sprint(job.Content["metadata"]) != before {
			t.Errorf("%s: %s, want %s; %v", rules, got, want, job.Content["metadata"])
		}
	}
}

// Far too many rules are reported as one problem, without checking each.
// Requirements: PFN-29
func TestTooManyRulesAreOneProblem(t *testing.T) {
	job := parse(t, ruled("", slices.Repeat([]string{"{name: a-b}"}, 20_000)...))[0].Jobs()[0]
	if problems := job.MoveNames(); len(problems) != 1 || !strings.Contains(problems[0].Error(), "20000 rules, but at most 20 are allowed") {
		t.Errorf("%d problems", len(problems))
	}
}

// Requirements: PFN-23
func TestNamesOfACronJobMoveToItsTemplate(t *testing.T) {
	cron := parse(t, "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate: {spec: {podFailurePolicy: {rules: [{name: A}]}}}")[0]
	if problems := cron.Jobs()[0].MoveNames(); len(problems) > 0 {
		t.Fatal(problems)
	}
	assert.NoError(t, cron.Jobs()[0].SetManagedBy("a.b/c"))
	want := `{"metadata":{"annotations":{"batchjob.dev/pod-failure-policy-rule-names":"0=A"}},"spec":{"managedBy":"a.b/c","podFailurePolicy":{"rules":[{}]}}}`
	if got, _ := json.Marshal(fieldsOf(cron.Content["spec"])["jobTemplate"]); string(got) != want {
		t.Errorf("%s", got)
	}
	bad := parse(t, "apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate:\n    spec: {podFailurePolicy: {rules: [{name: a-b}]}}")[0]
	if problems := bad.Jobs()[0].MoveNames(); len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "f:5:46: ") {
		t.Errorf("%v", problems)
	}
}

// Requirements: MGB-01
func TestManagedByIsSet(t *testing.T) {
	for spec, was := range map[string]string{"{}": "", "{managedBy: ~}": "", "{managedBy: 3}": "", "{managedBy: a.b/c}": "a.b/c", "~": ""} {
		job := parse(t, "apiVersion: batch/v1\nkind: Job\nspec: "+spec)[0].Jobs()[0]
		assert.Equal(t, job.ManagedBy(), was, spec)
		if err := job.SetManagedBy("x.y/z"); err != nil || job.ManagedBy() != "x.y/z" {
			t.Errorf("%s: %v, %v", spec, job.Content, err)
		}
	}
}

func TestFieldsThatAreNoObjectsAreReported(t *testing.T) {
	for text, want := range map[string]string{
		"metadata: 3\nspec: {podFailurePolicy: {rules: [{name: A}]}}":                  "f:3:11: metadata is not an object",
		"metadata: {annotations: [a]}\nspec: {podFailurePolicy: {rules: [{name: A}]}}": "f:3:12: annotations are not an object",
	} {
		job := parse(t, "apiVersion: batch/v1\nkind: Job\n"+text)[0].Jobs()[0]
		if problems := job.MoveNames(); len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%s: %v, want %s", text, problems, want)
		}
	}
	job := parse(t, "apiVersion: batch/v1\nkind: Job\nspec: [a]")[0].Jobs()[0]
	if err := job.SetManagedBy("a.b/c"); err == nil || err.Error() != "f:3:1: spec is not an object" {
		t.Errorf("%v", err)
	}
}

// A JobSet has a template for each of its replicatedJobs (issue 17).
// Requirements: CLI-05
func TestJobsOfAJobSet(t *testing.T) {
	set := parse(t, "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train, namespace: ml}\nspec:\n  replicatedJobs:\n"+
		"  - {name: driver, template: {spec: {completionMode: NonIndexed, template: {spec: {restartPolicy: Never}}}}}\n"+
		"  - {name: workers, replicas: 12, template: {metadata: {labels: {a: b}}, spec: {podFailurePolicy: {rules: [{name: A}]}, template: {spec: {}}}}}\n"+
		"  - {name: empty}\n")[0]
	jobs := set.Jobs()
	if len(jobs) != 3 || jobs[0].LastName() != "train-driver-0" || jobs[1].Name() != "train-workers-0" || jobs[1].LastName() != "train-workers-11" {
		t.Fatalf("%v", jobs)
	}
	for name, want := range map[string]bool{"train-workers-0": true, "train-workers-11": true, "train-workers-12": false, "train-workers-01": false, "train-workers--1": false, "train-workers": false} {
		assert.Equal(t, jobs[1].Creates(name), want, name)
	}
	if problems := jobs[1].MoveNames(); len(problems) > 0 {
		t.Error(problems)
	}
	assert.NoError(t, jobs[1].SetManagedBy("a.b/c"))
	for i, want := range []string{
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","namespace":"ml"},"spec":{"completionMode":"NonIndexed","template":{"spec":{"restartPolicy":"Never"}}}}`,
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"annotations":{"batchjob.dev/pod-failure-policy-rule-names":"0=A"},"labels":{"a":"b"},"name":"x","namespace":"ml"},` +
			`"spec":{"completionMode":"Indexed","managedBy":"a.b/c","podFailurePolicy":{"rules":[{}]},"template":{"spec":{"restartPolicy":"OnFailure"}}}}`,
		`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","namespace":"ml"},"spec":{"completionMode":"Indexed","template":{"spec":{"restartPolicy":"OnFailure"}}}}`,
	} {
		if got, _ := json.Marshal(jobs[i].AsJob("x")); string(got) != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	assert.Equal(t, set.Position(jobs[1].At("spec.podFailurePolicy.rules[0]")).Line, 7)
	if got := textOf(fieldsOf(fieldsOf(fieldsOf(set.Content["spec"])["replicatedJobs"].([]any)[1])["template"].(map[string]any)["spec"])["managedBy"]); got != "a.b/c" {
		t.Errorf("the JobSet has %q", got)
	}
}

func TestOtherKindsHaveNoJob(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: batch/v1beta1, kind: Job}", "{apiVersion: x.dev/v1, kind: Job}", "{apiVersion: batch/v1, kind: CronJob}", "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: 3}}", "{apiVersion: v1, kind: Pod}",
	} {
		if job := parse(t, text)[0].Jobs(); job != nil {
			t.Errorf("%s: %v", text, job)
		}
	}
}

// All legal names can be read back from the annotation, and nothing else in the Job changes.
// Requirements: PFN-23, PFN-24
func TestNamesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9_,:]{0,12}`), 1, rulename.MaxRules).Draw(t, "names")
		for i := range names {
			trial := slices.Clone(names)
			if len(rulename.Validate(trial[:i+1])) > 0 || len(rulename.Validate(trial)) > 0 {
				names[i] = ""
			}
		}
		if len(rulename.Validate(names)) > 0 {
			t.Skip("not legal")
		}
		var rules []any
		for i, name := range names {
			rule := map[string]any{"action": rapid.SampledFrom([]string{"FailJob", "Ignore"}).Draw(t, "action"), "unknown": map[string]any{"n": int64(i)}}
			if name != "" {
				rule["name"] = name
			}
			rules = append(rules, rule)
		}
		content := map[string]any{
			"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "a"}, "extra": []any{true, 1.5, "x", nil},
			"spec": map[string]any{"podFailurePolicy": map[string]any{"rules": rules}},
		}
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		objects, problems := Parse("f", data)
		if len(objects) != 1 || len(problems) > 0 {
			t.Fatal(problems)
		}
		if problems := objects[0].Jobs()[0].MoveNames(); len(problems) > 0 {
			t.Fatalf("%v for %q", problems, names)
		}
		value := objects[0].Jobs()[0].Annotation()
		back, violations := rulename.Parse(value, len(names))
		if len(violations) > 0 || back != nil && !slices.Equal(back, names) || back == nil && rulename.Format(names) != "" {
			t.Fatalf("%q came back as %q, %v", names, back, violations)
		}
		for _, rule := range rules {
			delete(rule.(map[string]any), "name")
		}
		if value != "" {
			content["metadata"].(map[string]any)["annotations"] = map[string]any{rulename.Annotation: value}
		}
		if !reflect.DeepEqual(content, objects[0].Content) {
			t.Fatalf("%v became %v", content, objects[0].Content)
		}
	})
}
