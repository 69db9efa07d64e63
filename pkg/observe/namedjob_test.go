package observe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// PFN-28: rule names are read from the rules, and the Job is decoded whatever else they contain.
func TestRuleNamesAreReadFromTheRules(t *testing.T) {
	for rules, want := range map[string][]string{
		`[]`:                                  nil,
		`[{"action":"FailJob"}]`:              nil,
		`[{"name":"","action":"FailJob"}]`:    nil,
		`[{"name":"One","action":"FailJob"}]`: {"One"},
		`[{"action":"Ignore"},{"name":"Two","action":"FailJob"},{"action":"Count"}]`: {"", "Two", ""},
		`[{"Name":"One","action":"FailJob"}]`:                                        nil,
		`[{"name":null,"action":"FailJob"}]`:                                         nil,
		`[{"name":7,"action":"FailJob"}]`:                                            nil,
		`[{"name":"\u0041","action":"FailJob"}]`:                                     {"A"},
	} {
		var job NamedJob
		text := fmt.Sprintf(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":{"podFailurePolicy":{"rules":%s},"parallelism":3}}`, rules)
		assert.NoError(t, json.Unmarshal([]byte(text), &job), rules)
		if !slices.Equal(job.RuleNames, want) || (job.RuleNames == nil) != (want == nil) {
			t.Errorf("%s: got %q, want %q", rules, job.RuleNames, want)
		}
		if job.Name != "a" || *job.Spec.Parallelism != 3 || len(job.Spec.PodFailurePolicy.Rules) != strings.Count(rules, "action") {
			t.Errorf("%s: the Job is %+v", rules, job.Job)
		}
	}
	var job NamedJob
	if err := json.Unmarshal([]byte(`{"spec":{"parallelism":"many"}}`), &job); err == nil {
		t.Error("what is no Job was read")
	}
	if err := json.Unmarshal([]byte(`{"metadata":{"annotations":{"x":"podFailurePolicy"}},"spec":{}}`), &job); err != nil || job.RuleNames != nil {
		t.Errorf("%v %v", job, err)
	}
}

// JOB-39: the stored pod template is kept if, and only if, it has fields that our types lack.
func TestTemplateWithNewerFieldsIsKept(t *testing.T) {
	others := ""
	for i := range 200 {
		others += fmt.Sprintf(`"new%d":1,`, i)
	}
	for name, c := range map[string]struct {
		text string
		kept bool
	}{
		"nothing new":            {`{"spec":{"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"a"}]}}}}`, false},
		"new in a container":     {`{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","new":{"x":[1]}}]}}}}`, true},
		"new in the spec":        {`{"spec":{"template":{"spec":{"new":"x"}}}}`, true},
		"new in the template":    {`{"spec":{"template":{"new":"x"}}}`, true},
		"new in the Job's spec":  {`{"spec":{"new":1,"newTemplate":{"a":1},"template":{"spec":{}}},"status":{"new":1},"new":1}`, false},
		"a rule's name":          {`{"spec":{"podFailurePolicy":{"rules":[{"name":"One"}]},"template":{"spec":{}}}}`, false},
		"more than is told of":   {`{` + others + `"spec":{"template":{"spec":{"new":"x"}}}}`, true},
		"of another letter case": {`{"spec":{"template":{"spec":{"hostnetwork":true}}}}`, true},
	} {
		var job NamedJob
		assert.NoError(t, json.Unmarshal([]byte(c.text), &job), name)
		_, after, _ := strings.Cut(c.text, `"template":`)
		if (job.Template != nil) != c.kept || c.kept && !strings.HasPrefix(after, string(job.Template)) {
			t.Errorf("%s: kept %s", name, job.Template)
		}
		assert.Equalf(t, string(job.DeepCopyObject().(*NamedJob).Template), string(job.Template), "%s: the copy", name)
	}
}

// JOB-39: the cache returns the template of the generation that a watch or a read delivered, and of no other.
func TestCacheKeepsTemplates(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	store := c.JobStore("")
	job := func(version string, generation int64, template string) *NamedJob {
		j := &NamedJob{Job: *testJob("j", nil)}
		j.ResourceVersion, j.Generation = version, generation
		if template != "" {
			j.Template = []byte(template)
		}
		return j
	}
	check := func(when string, generation int64, want string) {
		t.Helper()
		template, known := c.Template("j", generation)
		expect(t, when, fmt.Sprintf("%s %v", template, known), want)
	}
	check("before", 1, " false")
	_ = store.Add(job("2", 1, "one"))
	check("new", 1, "one true")
	check("another generation", 2, " false")
	written := job("3", 1, "").Job
	c.WroteJob(&written)
	check("after an own write", 1, "one true")
	_ = store.Update(job("3", 1, "one"))
	check("after its event", 1, "one true")
	c.ReadJob(job("5", 2, "two"))
	check("after a read", 2, "two true")
	_ = store.Update(job("4", 1, "one"))
	check("after an event from before the read", 2, "two true")
	_ = store.Update(job("6", 3, ""))
	check("a template that our types can hold", 3, " true")
	typed := job("7", 4, "").Job
	c.WroteJob(&typed)
	check("of a write only", 4, " false")
	_ = store.Delete(job("8", 4, ""))
	check("gone", 3, " false")
	_ = store.Replace([]any{job("9", 4, "four")}, "9")
	check("listed", 4, "four true")
	_ = store.Replace([]any{job("2", 4, "restored")}, "3")
	check("after a restore of etcd", 4, "restored true")
}

func TestListOfJobsKeepsRuleNames(t *testing.T) {
	var list NamedJobList
	text := `{"kind":"JobList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"spec":{"podFailurePolicy":{"rules":[{"name":"One"}]}}},{"metadata":{"name":"b"}}]}`
	assert.NoError(t, json.Unmarshal([]byte(text), &list))
	if list.ResourceVersion != "7" || len(list.Items) != 2 || list.Items[0].RuleNames[0] != "One" || list.Items[1].Name != "b" || list.Items[1].RuleNames != nil {
		t.Errorf("%+v", list)
	}
	clone := list.DeepCopyObject().(*NamedJobList)
	one := clone.Items[0].DeepCopyObject().(*NamedJob)
	if !equality.Semantic.DeepEqual(&list, clone) || !equality.Semantic.DeepEqual(one, &list.Items[0]) {
		t.Errorf("copies differ: %+v and %+v", list, clone)
	}
	clone.Items[0].RuleNames[0], one.RuleNames[0] = "Other", "Third"
	assert.Equal(t, list.Items[0].RuleNames[0], "One", "copies share names")
}

// PFN-28: names come from the watch, stay when the caller writes the status, and are removed with the Job.
func TestCacheKeepsRuleNames(t *testing.T) {
	c := NewCache(nil, nil, &recorder{})
	store := c.JobStore("")
	named := func(version string) *NamedJob {
		j := &NamedJob{Job: *testJob("j", nil), RuleNames: []string{"", "Two"}}
		j.ResourceVersion = version
		return j
	}
	check := func(when, want string) {
		t.Helper()
		expect(t, when, fmt.Sprintf("%q", c.RuleNames("j")), want)
	}
	check("before", "[]")
	_ = store.Add(named("2"))
	check("new", `["" "Two"]`)
	written := named("3").Job
	c.WroteJob(&written)
	check("after an own write", `["" "Two"]`)
	_ = store.Update(named("4"))
	check("after an event", `["" "Two"]`)
	if job := c.Job("j"); job == nil || job.ResourceVersion != "4" {
		t.Errorf("the Job is %v", job)
	}
	_ = store.Delete(named("5"))
	check("gone", "[]")
	_ = store.Replace([]any{named("6"), testJob("k", nil)}, "7")
	check("listed", `["" "Two"]`)
	expect(t, "of the other", c.RuleNames("k") == nil, true)
	_ = store.Replace([]any{testJob("k", nil)}, "8")
	check("no longer listed", "[]")
	if err := store.Add(&batchv1.JobList{}); err == nil {
		t.Error("what is no Job was taken")
	}
}
