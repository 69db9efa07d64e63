package manifest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

const written = `apiVersion: batch/v1
kind: Job
metadata:
  name: a
spec:
  backoffLimit: 3
  template:
    metadata:
      labels:
        app: a
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: "busybox:1.36"
          args: [sh, "-c", 'sleep 1']
          env:
            - name: A
              value: "1"
            - name: B
              value: two
`

// The reported line is the line of the mistake, not the one at which the parser detects it, and the message says what is
// wrong (CLI-05).
func TestSyntaxErrorsNameTheLineOfTheMistake(t *testing.T) {
	for _, c := range []struct{ name, was, is, want string }{
		{"less", "      restartPolicy", "     restartPolicy", "12:6: this line is indented by 5 spaces, 1 less than the lines that it belongs to; indent it by 6 spaces"},
		{"more", "      restartPolicy", "       restartPolicy", "12:8: this line is indented by 7 spaces, 1 more than the lines that it belongs to; indent it by 6 spaces"},
		{"item", "        - name: main", "         - name: main", "14:10: this line is indented by 9 spaces, 1 more than the lines that it belongs to; indent it by 8 spaces"},
		{"a level", "  backoffLimit: 3", "    backoffLimit: 3", "6:5: this line is indented by 4 spaces, 2 more than the lines that it belongs to; indent it by 2 spaces"},
		{"tab", "          image", "\t  image", "15:1: this line is indented with a tab, but YAML allows only spaces; replace the tab by spaces"},
		{"no colon", "metadata:\n  name", "metadata\n  name", `3:9: there is no colon after "metadata"; write metadata:`},
		{"no colon before the value", "backoffLimit: 3", "backoffLimit 3", `6:15: there is no colon after "backoffLimit"; write backoffLimit: 3`},
		{"no space after the colon", "name: main", "name:main", "14:16: there is no space after the colon; write name: main"},
		{"no space after the dash", "- name: B", "-name: B", "20:14: there is no space after the dash of a list item; write - name: B"},
		{"quote", `"busybox:1.36"`, `"busybox:1.36`, `15:18: the quote (") is not closed; add " at the end`},
		{"quote in a list", `"-c"`, `"-c`, `16:22: a quote (") is not closed; add the other ", or remove this one`},
		{"quote in a quote", `'sleep 1'`, `'it's 1'`, `16:31: a quote (') inside the text ends it; write '' for it`},
		{"quotes in a value", `"1"`, `"say "1""`, `19:22: a quote (") inside the text ends it; write \" for each quote inside, or use single quotes`},
		{"bracket", "'sleep 1']", "'sleep 1'", `16:17: "[" is not closed; add ]`},
		{"colon in a value", "value: two", "value: two: 2", "21:22: a value that contains a colon and a space must be in quotes; write 'two: 2'"},
		{"at sign", "value: two", "value: @two", "21:22: a value that starts with @ must be in quotes; write '@two'"},
		{
			"conflict", "  backoffLimit: 3", "<<<<<<< HEAD\n  backoffLimit: 3\n=======\n  backoffLimit: 4\n>>>>>>> main",
			"6:1: a merge conflict was not resolved; choose one of the two versions, and remove the lines with <<<<<<<, ======= and >>>>>>>",
		},
	} {
		text := strings.Replace(written, c.was, c.is, 1)
		_, problems := Parse("f", []byte(text))
		if want := "f:" + strings.Replace(c.want, ": ", ": not readable as YAML: ", 1); len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, problems, want)
		}
		// After a separator, lines are counted from the start of the file, and the text before it is not repaired instead.
		line, rest, _ := strings.Cut(c.want, ":")
		number, _ := strconv.Atoi(line)
		later := fmt.Sprintf("f:%d:%s", number+1, strings.Replace(rest, ": ", ": not readable as YAML: ", 1))
		if _, problems := Parse("f", []byte("---\n"+text)); len(problems) != 1 || problems[0].Error() != later {
			t.Errorf("%s:\n got %q\nwant %q", c.name, problems, later)
		}
	}
}

// The first of two mistakes is reported.
// Requirements: LNT-07
func TestTheFirstOfTwoMistakesIsReported(t *testing.T) {
	text := strings.Replace(strings.Replace(written, "metadata:\n  name", "metadata\n  name", 1), "- name: B", "-name: B", 1)
	_, problems := Parse("f", []byte(text))
	if want := `f:3:9: not readable as YAML: there is no colon after "metadata"; write metadata:`; len(problems) != 1 || problems[0].Error() != want {
		t.Errorf("%q", problems)
	}
}

// Requirements: CLI-05
func TestSyntaxErrorsInJSONNameTheLineOfTheMistake(t *testing.T) {
	const written = "{\n  \"apiVersion\": \"v1\", \"kind\": \"A\",\n  \"metadata\": {\n    \"name\": \"a\",\n    \"labels\": {\n      \"a\": \"b\"\n    }\n  },\n  \"spec\": [\n    {}\n  ]\n}\n"
	for _, c := range []struct{ name, was, is, want string }{
		{"no comma", `"v1",`, `"v1"`, "2:20: a comma is missing"},
		{"two commas", `"v1",`, `"v1",,`, "2:22: there are two commas"},
		{"no colon", `"name":`, `"name"`, "4:10: a colon is missing after the name"},
		{"quote", `"b"`, `"b`, "6:14: a quote is not closed"},
		{"no brace", `"labels": {`, `"labels": `, "5:13: a bracket is missing after the colon"},
		{"no bracket", `"spec": [`, `"spec": `, "9:9: a bracket is missing after the colon"},
		{"not closed", "    }\n", "", "5:15: '{' is not closed"},
		{"not closed at the end", "\n}\n", "\n", "1:1: '{' is not closed"},
		{"other kind", "\n  ]\n", "\n  }\n", "9:11: '[' is not closed"},
		{"not closed in its line", `"b"`, `["b"`, "6:15: a bracket is not closed, or is of the other kind"},
	} {
		_, problems := Parse("f", []byte(strings.Replace(written, c.was, c.is, 1)))
		if want := "f:" + strings.Replace(c.want, ": ", ": not readable as JSON: ", 1); len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, problems, want)
		}
	}
}

// The time for a large file is bounded.
// Requirements: LNT-07
func TestMistakesInLargeFilesAreBounded(t *testing.T) {
	var large strings.Builder
	large.WriteString("apiVersion: v1\nkind: A\nitems:\n")
	for range 20_000 {
		large.WriteString("  - {name: a, value: \"b\"}\n  - name: [x, y]\n    value: 'z'\n")
	}
	var problems []error
	measure.CheckTime(t, time.Minute, func() {
		_, problems = Parse("f", []byte(large.String()+"  - name: odd\n     value: x\n  - {name: last}\n"+large.String()[29:]))
	})
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), "f:60005: ") {
		t.Errorf("%q", problems)
	}
}

// Requirements: CLI-05
func TestABracketIsMissingInJSONWithoutIndentation(t *testing.T) {
	const want = "f:4:1: not readable as JSON: a bracket is not closed, or is of the other kind"
	if _, problems := Parse("f", []byte("{\n\"a\": {\n\"b\": [\n1\n}\n}\n")); len(problems) != 1 || problems[0].Error() != want {
		t.Errorf("\n got %q\nwant %q", problems, want)
	}
}
