package manifest

import (
	"fmt"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A comment on its own line is about the next line.
// Requirements: LNT-05
func TestCommentsBelongToLines(t *testing.T) {
	const text = "a: {}\n--- # zero\n# one\n\n# two\napiVersion: v1\nkind: List # three\n# four\n# five\nitems: [] #no space\nx: a#b\n# last\n"
	objects, problems := Parse("f", []byte("apiVersion: v1\nkind: A\n"+text[len("a: {}\n"):]))
	if len(objects) != 1 || len(problems) != 0 { // an empty List has no objects
		t.Fatalf("%v, %v", objects, problems)
	}
	document := splitDocuments("f", []byte(text))[1]
	var got []string
	for _, c := range document.readComments() {
		got = append(got, fmt.Sprintf("%s at %s for %d head %v", c.Content, c.Position, c.Line, c.Head))
	}
	want := []string{
		"zero at f:2:5 for 6 head true", "one at f:3:1 for 6 head true", "two at f:5:1 for 6 head true", "three at f:7:12 for 7 head false",
		"four at f:8:1 for 10 head false", "five at f:9:1 for 10 head false", "no space at f:10:11 for 10 head false", "last at f:12:1 for 0 head false",
	}
	assert.SlicesEqual(t, got, want)
}

// Requirements: LNT-04
func TestSourceIsThatOfHelm(t *testing.T) {
	objects, _ := Parse("f", []byte("---\n# Source: chart/templates/a.yaml\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B # Source: x\n---\n{\"apiVersion\": \"v1\", \"kind\": \"C\"}\n"))
	var got []string
	for _, o := range objects {
		got = append(got, o.Source())
	}
	assert.SlicesEqual(t, got, []string{"chart/templates/a.yaml", "", ""})
}
