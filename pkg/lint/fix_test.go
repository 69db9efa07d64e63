package lint

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
)

// A fix changes existing fields, and adds missing ones (CLI-05).
func TestFixOfTheRestartPolicyFitsTheManifest(t *testing.T) {
	policy := "  " + rules + "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}"
	for _, tc := range []struct{ name, object, id, want string }{
		{"missing", strings.Replace(base, "      restartPolicy: Never\n", "", 1), "restart-policy-missing", "add restartPolicy: Never, or OnFailure to restart containers in their pod"},
		{"missing, and only one is allowed", strings.Replace(base, "      restartPolicy: Never\n", "", 1) + policy, "restart-policy-missing", "add restartPolicy: Never"},
		{"Always", strings.Replace(base, "Never", "Always", 1), "restart-policy-always", "use restartPolicy: Never, or OnFailure to restart containers in their pod"},
		{"Always, and only one is allowed", strings.Replace(base, "Never", "Always", 1) + policy, "restart-policy-always", "use restartPolicy: Never"},
		{"OnFailure", strings.Replace(base, "Never", "OnFailure", 1) + policy, "failure-policy-on-failure", "use restartPolicy: Never"},
		{"unknown", strings.Replace(base, "Never", "Maybe", 1), "restart-policy-unknown", "use restartPolicy: Never, or OnFailure to restart containers in their pod"},
		{"unknown, and only one is allowed", strings.Replace(base, "Never", "Maybe", 1) + policy, "restart-policy-unknown", "use restartPolicy: Never"},
	} {
		found := Check(Input{Object: read(t, tc.object)})
		if i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == tc.id }); i < 0 || found[i].Fix != tc.want {
			t.Errorf("%s: %+v, want %q", tc.name, found, tc.want)
		}
	}
}

// A misplaced or misspelled field is checked as if it were correct: it is not also reported as missing (CLI-05).
func TestAFieldElsewhereIsNotMissing(t *testing.T) {
	without := strings.Replace(base, "      restartPolicy: Never\n", "", 1)
	for _, tc := range []struct {
		name, object string
		want         []string
	}{
		{"misspelled", strings.Replace(base, "restartPolicy", "restartpolicy", 1), []string{"write restartPolicy, or remove it"}},
		{"misspelled, with a value that is not allowed", strings.Replace(base, "restartPolicy: Never", "restartpolicy: Always", 1), []string{
			"write restartPolicy, or remove it", "use restartPolicy: Never, or OnFailure to restart containers in their pod",
		}},
		{"of a wrong type", strings.Replace(base, "restartPolicy: Never", "restartpolicy: [Never]", 1), []string{"write restartPolicy, or remove it", "write text"}},
		{"in the Job's spec", without + "  restartPolicy: Never", []string{"move it to spec.template.spec, or remove it"}},
		{"in the template", strings.Replace(without, "  template:\n", "  template:\n    restartPolicy: Never\n", 1), []string{"move it to spec.template.spec, or remove it"}},
		{"there already", base + "  restartPolicy: Never", []string{"remove it"}},
		{"below another mistake", base + "  completionmode: Indexed\n  completion: 2\n  successPolicy: {Rules: [{succeededcount: 1}]}", []string{
			"write completionMode, or remove it", "write completions, or remove it", "write rules, or remove it", "write succeededCount, or remove it",
		}},
		{"below a guess", base + "  completionmode: Indexed\n  completion: 2\n  successPolicy: {rulez: [{succeededcount: 1}]}", []string{
			"write completionMode, or remove it", "write completions, or remove it", "write rules, or remove it",
		}},
		{"in the pod", strings.Replace(base, "restartPolicy: Never", "restartPolicy: Never\n      backoffLimit: 3", 1), []string{"move it to spec, or remove it"}},
		{"of a CronJob's pod", strings.Replace(cronJob(`schedule: "@daily"`), "spec:\n", "spec:\n  restartPolicy: Never\n", 1), []string{"remove it"}},
	} {
		var got []string
		for _, f := range Check(Input{Object: read(t, tc.object)}) {
			got = append(got, f.Fix)
		}
		if slices.Sort(got); !slices.Equal(got, sorted(tc.want)) {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// added matches the fields that a fix adds.
var added = regexp.MustCompile(`\badd ([a-z]\w*(?:[A-Z]\w*|\.name)|completions)(?: or ([\w.]+))?`)

// The manifest does not contain the fields that a fix adds, not even misspelled or misplaced (CLI-05).
func TestFixesAddOnlyWhatIsMissing(t *testing.T) {
	lines := []string{
		"completionMode: Indexed", "completions: 3", "completions: 100001", "parallelism: 2", "backoffLimitPerIndex: 1", "maxFailedIndexes: 1", "activeDeadlineSeconds: 9",
		"podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [1]}}]}", "podFailurePolicy: {rules: [{action: Ignore}]}", "podFailurePolicy: {}",
		"podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}}]}", "successPolicy: {rules: [{}]}", "successPolicy: {}",
		"template: {spec: {restartPolicy: Always, containers: [{name: a, image: i}]}}", "template: {spec: {containers: [{name: a}]}}", "template: {spec: {restartPolicy: OnFailure}}",
		"restartPolicy: Never", "suspend: true",
	}
	rapid.Check(t, func(rt *rapid.T) {
		object := "apiVersion: batch/v1\nkind: Job\nmetadata: {" + rapid.SampledFrom([]string{"name: a", "generateName: a-", "generatename: a-", ""}).Draw(rt, "name") + "}\nspec:\n"
		seen := map[string]bool{}
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(lines), 0, 8).Draw(rt, "lines") {
			if key, rest, _ := strings.Cut(line, ":"); !seen[key] {
				seen[key] = true
				object += "  " + rapid.SampledFrom([]string{key, key, strings.ToLower(key), key + "s"}).Draw(rt, "key") + ":" + rest + "\n"
			}
		}
		content := strings.ToLower(object)
		for _, f := range Check(Input{Object: read(t, object)}) {
			m := added.FindStringSubmatch(f.Fix)
			for _, name := range m[min(1, len(m)):] {
				name = strings.Replace(strings.ToLower(name), "metadata.", "metadata: {", 1)
				if name != "" && regexp.MustCompile(`\b`+name+`s?:`).MatchString(content) {
					rt.Errorf("%+v\nbut there is %s in\n%s", f, name, object)
				}
			}
		}
	})
}

func FuzzMisplacedFields(f *testing.F) {
	f.Add(`{"apiVersion":"batch/v1","kind":"Job","spec":{"restartpolicy":"Never","templat":{"spec":{"containers":[{"nam":1}]}}}}`)
	f.Add(`{"apiVersion":"batch/v1","kind":"CronJob","spec":{"restartPolicy":[],"jobTemplate":{"spec":{"template":null,"a.b[0]":{}}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if json.Unmarshal([]byte(text), &object) != nil {
			return
		}
		before, _ := json.Marshal(object)
		Check(Input{Object: object})
		if after, _ := json.Marshal(object); string(after) != string(before) {
			t.Errorf("%s was changed to %s", before, after)
		}
	})
}
