package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/situation"
)

// FLD-05: a case with one bad answer fails, as does a case that could not be played, and the table shows the reason.
// FLD-06: long first sentences are listed.
func TestTableCountsTheCasesThatFail(t *testing.T) {
	of := func(name string, ours bool) take { return take{Case: situation.Case{Name: name}, ours: ours} }
	good := situation.Verdict{First: "Job a\nhas failed."}
	bad := situation.Verdict{First: "Job b runs.", Faults: []string{"the first sentence lacks: the probe"}}
	wordy := situation.Verdict{Ask: situation.Ask{About: "job"}, First: strings.Repeat("ä", 161), Sentence: strings.Repeat("ä", 161)}
	lint := situation.Verdict{Ask: situation.Ask{Run: "lint -f job.yaml"}}
	var out bytes.Buffer
	n := printTable(&out, []result{
		{take: of("a", false), verdicts: []situation.Verdict{good}},
		{take: of("b", false), verdicts: []situation.Verdict{good}},
		{take: of("b", true), verdicts: []situation.Verdict{good, bad, lint, wordy}},
		{take: of("c", false), err: errors.New("no\npod")},
	})
	if n != 2 {
		t.Errorf("%d cases fail", n)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := `CASE RESULT FIRST SENTENCE, AND WHAT IS WRONG
a pass Job a has failed.
b pass Job a has failed.
b-ours pass Job a has failed.
FAIL Job b runs.
- the first sentence lacks: the probe
pass $ kubectl batchjob lint -f job.yaml
pass ` + strings.Repeat("ä", 161) + `
c FAIL not played: no pod

First sentences of more than 160 characters:
161 b-ours job

1 of 3 cases pass; with each controller on its own, 2 of 4.`
	assert.Equal(t, strings.Join(lines, "\n"), want)
}

// FLD-03: the name of a case does not count as a fact of an answer.
func TestTheNameOfACaseIsNoFact(t *testing.T) {
	a := anonymous(situation.Answer{Text: "no Jobs in namespace cronjob-suspended", JSON: `{"namespace": "cronjob-suspended"}`}, "cronjob-suspended")
	if a.Text != "no Jobs in namespace namespace" || a.JSON != `{"namespace": "namespace"}` {
		t.Errorf("%+v", a)
	}
}
