package manifest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func parse(t *testing.T, text string) []*Object {
	t.Helper()
	objects, problems := Parse("f", []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v in %q", problems, text)
	}
	return objects
}

const twoJobs = `# comment
apiVersion: batch/v1
kind: Job
metadata: {name: a, annotations: {batchjob.dev/x: "v"}}
spec:
  template:
    spec:
      containers:
        - name: main
          args: [one, "two"]
--- # the next
apiVersion: v1
kind: List
items:
- &base
  apiVersion: batch/v1
  kind: Job
  metadata:
    name: b
- <<: *base
  spec: {completions: 3}
`

// Errors and findings have positions (issue: line positions; CLI-05).
func TestFieldsHavePositions(t *testing.T) {
	objects := parse(t, twoJobs)
	if len(objects) != 3 {
		t.Fatalf("%d objects", len(objects))
	}
	for _, c := range []struct {
		object     int
		path, want string
	}{
		{0, "", "f:2:1"},
		{0, "kind", "f:3:7"},
		{0, "metadata.name", "f:4:18"},
		{0, "metadata.annotations", "f:4:21"},
		{0, "metadata.annotations[batchjob.dev/x]", "f:4:51"},
		{0, "metadata.annotations[batchjob.dev/y]", "f:4:21"},
		{0, "spec.template.spec.containers", "f:8:7"},
		{0, "spec.template.spec.containers[0]", "f:9:11"},
		{0, "spec.template.spec.containers[0].args[1]", "f:10:23"},
		{0, "spec.template.spec.containers[1].name", "f:8:7"},
		{0, "spec.template.spec.restartPolicy", "f:7:5"},
		{0, "spec.template.spec.containers[x]", "f:8:7"},
		{1, "", "f:15:3"},
		{1, "metadata.name", "f:19:11"},
		{2, "", "f:20:3"},
		{2, "spec.completions", "f:21:23"},
		{2, "metadata.name", "f:19:11"},
	} {
		assert.Equalf(t, objects[c.object].Position(c.path).String(), c.want, "%d %s", c.object, c.path)
	}
}

// Requirements: CLI-05
func TestFieldsHavePositionsInEveryForm(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\n\t\"apiVersion\": \"batch/v1\", \"kind\": \"Job\",\n\t\"metadata\": {\"name\": \"a\"}}", "f:3:23"},
		{`{"apiVersion":"batch/v1","kind":"Job"} {"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"}}`, "f:1:97"},
		{"apiVersion: batch/v1\r\nkind: Job\r\nmetadata:\r\n  name: a\r\n", "f:4:9"},
		{"\uFEFFapiVersion: batch/v1\nkind: Job\nmetadata: {name: a}", "f:3:18"},
		{"{apiVersion: batch/v1, kind: Job,\nmetadata: {name: a}}", "f:2:18"},
		{"--- {apiVersion: batch/v1, kind: Job, metadata: {name: a}}\n", "f:1:56"},
		{"...\n\n---\n\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n...\n", "f:8:18"},
		{"# only a comment\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n---\n# and another", "f:5:18"},
		// JSON that the YAML parser cannot read.
		{"\n{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"x\":\"\\ud83d\\ude00\",\n\"y\":\"\\/é\",\"name\":\"a\"}}", "f:3:18"},
	} {
		objects := parse(t, c.text)
		last := objects[len(objects)-1]
		if got := last.Position("metadata.name").String(); got != c.want || last.Name() != "a" {
			t.Errorf("%q: %s of %s, want %s", c.text, got, last.Name(), c.want)
		}
	}
}

func TestItemsOfListsAreObjects(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{apiVersion: batch/v1, kind: JobList, items: [{metadata: {name: a}}, {metadata: {name: b}}]}", "batch/v1 Job a; batch/v1 Job b"},
		{"{apiVersion: batch/v1, kind: CronJobList, items: [{metadata: {name: a}}]}", "batch/v1 CronJob a"},
		{"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod}]}]}", "v1 Pod "},
		{"{apiVersion: v1, kind: List, items: []}", ""},
		{"{apiVersion: v1, kind: List}", ""},
		{"{apiVersion: x/v1, kind: BlackList, items: 3}", "x/v1 BlackList "},
	} {
		var got []string
		for _, o := range parse(t, c.text) {
			got = append(got, o.APIVersion()+" "+o.Kind()+" "+o.Name())
		}
		assert.Equal(t, strings.Join(got, "; "), c.want, c.text)
	}
}

// Values are the same as kubectl's: YAML 1.1.
func TestValuesAreKubectls(t *testing.T) {
	job := parse(t, "apiVersion: batch/v1\nkind: Job\nspec: {a: yes, b: 0777, c: 1.0, d: 12345678901, e: \"yes\", f: 1.5, g: ~}")[0]
	want := map[string]any{"a": true, "b": int64(511), "c": int64(1), "d": int64(12345678901), "e": "yes", "f": 1.5, "g": nil}
	assert.Equal(t, fmt.Sprintf("%#v", job.Content["spec"]), fmt.Sprintf("%#v", want), want)
}

// A field next to "<<" overrides the merged field, as in kubectl.
// Requirements: CLI-08
func TestMergedFieldsAreOverridden(t *testing.T) {
	job := parse(t, "apiVersion: batch/v1\nkind: Job\nspec: {rules: [&r {name: A, x: 1}, {<<: *r, name: B}]}")[0]
	assert.Equal(t, fmt.Sprint(job.Content["spec"]), "map[rules:[map[name:A x:1] map[name:B x:1]]]")
	assert.Equal(t, job.Position("spec.rules[1].name").String(), "f:3:51")
}

// Requirements: CLI-05
func TestUnreadableTextIsReportedWithItsPlace(t *testing.T) {
	const head = "apiVersion: batch/v1\nkind: Job\n"
	for _, c := range []struct{ name, text, want string }{
		{"binary", "\x7fELF\x00\x01", "f: not a text file in UTF-8"},
		{"latin-1", "name: caf\xe9", "f: not a text file in UTF-8"},
		{"text", "hello", "f:1:1: not a Kubernetes object: it must have apiVersion and kind"},
		{"list", "- a\n- b", "f:1:1: not a Kubernetes object: it must have apiVersion and kind"},
		{"number in JSON", head + "---\n" + `42`, "f:4:1: not a Kubernetes object: it must have apiVersion and kind"},
		{"no kind", "apiVersion: v1", "f:1:1: not a Kubernetes object: it has no kind"},
		{"no apiVersion", "\nkind: Job", "f:2:1: not a Kubernetes object: it has no apiVersion"},
		{"kind is a number", "apiVersion: v1\nkind: 3", "f:2:7: not a Kubernetes object: kind is not text"},
		{"item", "{apiVersion: v1, kind: List, items: [3]}", "f:1:38: not a Kubernetes object"},
		{"item without kind", "apiVersion: v1\nkind: List\nitems:\n- metadata: {}", "f:4:3: not a Kubernetes object: it has no apiVersion"},
		{"indentation", head + "spec:\n  a: 1\n b: 2", "f:5:2: not readable as YAML: this line is indented by 1 space, 1 less than the lines that it belongs to; indent it by 2 spaces"},
		{"second document", head + "---\n" + head + "spec: [", `f:6:7: not readable as YAML: "[" is not closed; add ]`},
		{"tab", head + "spec:\n\ta: 1", "f:4:1: not readable as YAML: this line is indented with a tab, but YAML allows only spaces; replace the tab by spaces"},
		{"field twice", head + "spec: {}\nspec: {}", `f:4:1: duplicate field "spec", first used in line 3; remove one of them`},
		{"unknown anchor", head + "spec: *a", "f:3:7: *a refers to the anchor &a, which is not defined before it"},
		{"anchor of another name", head + "a: &ab 1\nspec: [*ab, *a]", "f:4:13: *a refers to the anchor &a, which is not defined before it"},
		{"infinite", head + "spec:\n- .inf", "f:4:3: .inf is a number in YAML that JSON and Kubernetes do not have; put it in quotes if it is text"},
		{"minus infinite", head + "spec: {a: {b: -.Inf}}", "f:3:15: -.Inf is a number in YAML that JSON and Kubernetes do not have; put it in quotes if it is text"},
		{"not a number", head + "spec: !!float .nan", "f:3:7: .nan is a number in YAML that JSON and Kubernetes do not have; put it in quotes if it is text"},
		{"another type", head + "spec:\n  a: !!int x", `f:4:6: "x" is not a value of the type !!int; correct it, or remove the type`},
		{"no base64", head + "spec:\n  a: !!binary '@'", `f:4:6: "@" is not a value of the type !!binary; correct it, or remove the type`},
		{"list as a name", head + "spec:\n  ? [a]\n  : 1", "f:4:5: the name of a field must be text; put it in quotes if it is text"},
		{"null as a name", head + "spec:\n  ~: 1", "f:4:3: the name of a field must be text; put it in quotes if it is text"},
		{"merged number", head + "spec:\n  <<: 3", "f:4:3: << must have an object, or a list of objects, to merge"},
		{"large number in JSON", `{"apiVersion": "batch/v1",` + "\n" + `"spec": {"a": 1e999}}`, "f:2:15: cannot be read: the number 1e999 is too large"},
		{"anchor in itself", head + "spec: &a [*a]", `f:3:11: the anchor "a" contains itself`},
		{"field twice in JSON", `{"apiVersion": "batch\/v1", "kind": "Job",` + "\n" + `"spec": {"a": "\ud83d\ude00", "a": 1}}`, `f:2:31: duplicate field "a", first used in line 2; remove one of them`},
		{"field << in JSON", `{"apiVersion": "batch/v1", "kind": "Job", "<<": 1, "<<": 2}`, `f:1:52: duplicate field "<<", first used in line 1; remove one of them`},
		{"broken JSON", `{"apiVersion": "batch/v1", "kind" "Job"}`, "f:1:33: not readable as JSON: a colon is missing after the name"},
	} {
		_, problems := Parse("f", []byte(c.text))
		if len(problems) != 1 || problems[0].Error() != c.want {
			t.Errorf("%s: %q, want %q", c.name, problems, c.want)
		}
	}
}

// What YAML allows and JSON can represent is read as kubectl reads it: octal and hexadecimal numbers, underscores, timestamps,
// binary data, infinite numbers as names, and null.
func TestUnusualScalarsAreReadAsByKubectl(t *testing.T) {
	objects, problems := Parse("f", []byte("apiVersion: v1\nkind: a\nspec: [0x1F, 0o17, 017, 1_000, 0b11, 2020-01-01, !!binary aGk=, ~, 1e999, {.inf: a, 1: b}]\n"))
	want := []any{int64(31), int64(15), int64(15), int64(1000), int64(3), "2020-01-01", "hi", nil, "1e999", map[string]any{".inf": "a", "1": "b"}}
	if len(problems) > 0 || !reflect.DeepEqual(objects[0].Content["spec"], want) {
		t.Errorf("%v, %v", objects, problems)
	}
}

// Each of many JSON documents has its position, also in one line.
func TestManyDocumentsInJSONHaveTheirPositions(t *testing.T) {
	_, problems := Parse("f", []byte("{}{} {}\n\n {}{}\n{}"))
	var at []string
	for _, p := range problems {
		at = append(at, strings.TrimSuffix(p.Error(), ": not a Kubernetes object: it has no apiVersion"))
	}
	assert.Equal(t, strings.Join(at, " "), "f:1:1 f:1:3 f:1:6 f:3:2 f:3:4 f:4:1", at)
}

// The repairs that are tried are limited for a whole file, not for each of its documents.
func TestTheSearchForMistakesIsLimitedForAFile(t *testing.T) {
	document := strings.Repeat("a:\n  b: 1\n", 300) + "a:\n  b: 1\n c: 2\n---\n"
	const most = 50_000
	for _, documents := range []int{1, 4, 40} {
		budget := most
		for _, d := range splitYAML("f", []byte(strings.Repeat(document, documents))) {
			if _, err := d.parse(); err != nil {
				_ = d.explain(err, &budget)
			}
		}
		if tried := most - budget; tried > most+len(document)+parserCost || tried < most && documents > 1 {
			t.Errorf("%d documents: %d bytes are tried", documents, tried)
		}
	}
}

// Valid documents are read even if other documents of the file are invalid.
func TestReadableDocumentsAreReadBesideOthers(t *testing.T) {
	objects, problems := Parse("f", []byte("a: [\n---\napiVersion: v1\nkind: A\n---\n- b\n---\napiVersion: v1\nkind: C\n"))
	if len(objects) != 2 || objects[0].Kind() != "A" || objects[1].Kind() != "C" || len(problems) != 2 {
		t.Errorf("%d objects and %v", len(objects), problems)
	}
}

// A few lines that would expand to a lot of memory are refused before they are expanded.
func TestAliasesThatMultiplyAreRefused(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("apiVersion: v1\nkind: A\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 12 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	long := "apiVersion: v1\nkind: A\na: &a " + strings.Repeat("x", 1<<20) + "\nb: [*a, *a, *a, *a, *a, *a]\nc: [" + strings.Repeat("y, ", 5000) + "y]\n"
	for name, text := range map[string]string{"bomb": bomb.String(), "long": long} {
		_, problems := Parse("f", []byte(text))
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), "aliases (*name) expand it too far") {
			t.Errorf("%s: %.300v", name, problems)
		}
	}
	honest := parse(t, "apiVersion: v1\nkind: A\na: &a {b: c}\nd: [*a, *a]")[0]
	assert.Equal(t, fmt.Sprint(honest.Content["d"]), "[map[b:c] map[b:c]]")
}

// FuzzReadManifest checks that any input yields objects, or errors on one line, each with a position.
func FuzzReadManifest(f *testing.F) {
	for _, seed := range []string{
		twoJobs, "", "{", "{}", "---", "--- |\n a\n...\n", "%YAML 1.2\n---\na: b", "{\"a\":1}{\"b\":2}", "a: &a [*a]", "\uFEFF{}", "- ? a\n", "? [a]\n: b",
		"apiVersion: batch/v1\nkind: Job\nspec: {podFailurePolicy: {rules: [{name: A, action: FailJob}, 3]}}", "apiVersion: v1\nkind: List\nitems: [1, {}]",
		"apiVersion: batch/v1\nkind: CronJob\nspec: {jobTemplate: {metadata: 3, spec: {podFailurePolicy: {rules: [{name: 1}, {name: B}]}}}}", "<<: *x", "a: !!binary x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, problems := Parse("f", data)
		for _, problem := range problems {
			if text := problem.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "f:") {
				t.Errorf("%q", text)
			}
		}
		lines := strings.Count(string(data), "\n") + 1
		for _, o := range objects {
			for _, path := range []string{"", "metadata.name", "spec.podFailurePolicy.rules[0].name", "a[", "]", "items[-1]"} {
				if at := o.Position(path); at.Line < 1 || at.Line > lines || at.Column < 0 {
					t.Errorf("%q at %v", path, at)
				}
			}
			for _, job := range o.Jobs() {
				job.AsJob(job.LastName())
				if len(job.MoveNames()) > 0 {
					continue
				}
				if names, _ := job.RemoveNames(); names != nil {
					t.Errorf("names are left: %q", names)
				}
			}
		}
	})
}
