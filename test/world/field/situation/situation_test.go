package situation

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const folder = "../cases"

// FLD-01: the cases can be read, and there are enough.
func TestCasesAreComplete(t *testing.T) {
	cases, err := Load(folder, regexp.MustCompile(""))
	assert.NoError(t, err)
	if len(cases) < 43 {
		t.Errorf("%d cases", len(cases))
	}
	if _, err := Load(folder, regexp.MustCompile("^no such case$")); err == nil {
		t.Error("a name that no case has is no error")
	}
}

func fact(t *testing.T, pattern string) []Fact {
	t.Helper()
	var f Fact
	assert.NoError(t, f.UnmarshalJSON([]byte(pattern)))
	return []Fact{f}
}

// FLD-03: an answer is good if it has all required facts in their places, and no forbidden ones.
func TestJudge(t *testing.T) {
	answer := Answer{
		Text: "Job a has failed.\n\nIts container was\nkilled.",
		JSON: `{"verdict": {"sentence": "Job a has failed: exit code 3."}, "advice": [{"text": "Read the log.", "command": "kubectl logs x"}]}`,
	}
	good := Ask{
		Says:  Places{First: fact(t, `{"its code": "exit code 3"}`), Text: fact(t, `"CONTAINER was killed"`), Commands: fact(t, `"kubectl logs"`), Advice: fact(t, `"read the log"`)},
		Never: Places{First: fact(t, `"killed"`), Commands: fact(t, `"Read the log"`)},
	}
	if v := good.Judge(answer); len(v.Faults) > 0 || v.First != "Job a has failed: exit code 3." {
		t.Errorf("%+v", v)
	}
	bad := Ask{Says: Places{First: fact(t, `{"the probe": "liveness"}`)}, Never: Places{Text: fact(t, `{"a guess": "was killed"}`)}}
	want := []string{"the first sentence lacks: the probe", "the text must not say: a guess"}
	assert.SlicesEqual(t, bad.Judge(answer).Faults, want)
	owner := Ask{Says: Places{Advice: fact(t, `{"what to raise": "maxRestarts"}`)}}
	if v := owner.Judge(Answer{Text: "1 Job failed.\n\nRaise maxRestarts."}); len(v.Faults) > 0 {
		t.Errorf("%q", v.Faults)
	}
	short := Ask{Says: Places{First: fact(t, `"exit code 3"`)}}
	if v := short.Judge(Answer{JSON: answer.JSON, Short: "a failed: its code is 3."}); !slices.Equal(v.Faults, []string{"the short text lacks: exit code 3"}) {
		t.Errorf("%q", v.Faults)
	}
	assert.Equal(t, bad.Judge(Answer{Text: "No Jobs\nfound.\n\nMore."}).First, "No Jobs found.")
}

// FLD-01: a case that measures nothing is rejected.
func TestCasesThatMeasureNothingAreRefused(t *testing.T) {
	ask := Ask{About: "a", Says: Places{First: fact(t, `"x"`)}}
	good := Case{Situation: "It fails.", Sources: []string{"x"}, Asks: []Ask{ask}}
	assert.NoError(t, good.check())
	for want, change := range map[string]func(*Case){
		"no sentence":                func(c *Case) { c.Situation = "It fails" },
		"no source":                  func(c *Case) { c.Sources = nil },
		"no ask":                     func(c *Case) { c.Asks = nil },
		"both":                       func(c *Case) { c.Asks = []Ask{{About: "a", Run: "b", Says: ask.Says}} },
		"no fact":                    func(c *Case) { c.Asks = []Ask{{About: "a"}} },
		"no fact of another command": func(c *Case) { c.Asks = []Ask{{Run: "lint"}} },
	} {
		c := good
		change(&c)
		if err := c.check(); err == nil {
			t.Error(want, "is accepted")
		}
	}
	var f Fact
	for _, data := range []string{`"("`, `[]`, `{"a": "x", "b": "y"}`} {
		if err := f.UnmarshalJSON([]byte(data)); err == nil {
			t.Error(data, "is accepted")
		}
	}
}

// Requirements: FLD-02
func TestPage(t *testing.T) {
	page := Page([]Case{{
		Name: "two", Situation: "A | B.", Sources: []string{"https://github.com/a/b/issues/3", "https://example.com/x", "pkg/kubelet"},
		Asks: []Ask{{About: "a", Says: Places{First: fact(t, `{"one": "x"}`)}}, {About: "b", Says: Places{First: fact(t, `"y"`)}}, {Run: "lint"}},
	}}, map[string][]Verdict{"two": {{Ask: Ask{About: "a"}, First: "One."}, {Ask: Ask{About: "b"}, First: "Y."}, {Ask: Ask{Run: "lint"}, First: "No."}}})
	const want = "| [two](../../test/world/field/cases/two) | A \\| B. | One. <br> Y. | [a/b#3](https://github.com/a/b/issues/3), <https://example.com/x>, pkg/kubelet |\n"
	if !strings.HasSuffix(page, want) {
		t.Error(page)
	}
}
