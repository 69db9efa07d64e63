package lint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func readSARIF(t *testing.T, text string) sarifRun {
	t.Helper()
	var log sarifLog
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v, %+v in %s", err, log, text)
	}
	return log.Runs[0]
}

// The log has the rules, levels and lines that code scanning reads.
// Requirements: LNT-04
func TestSARIFHasRulesAndLocations(t *testing.T) {
	got := program.Run(t, nil, "lint", "-f", lintMany, "-o", "sarif")
	run := readSARIF(t, got.Out)
	if got.Code != cmdutil.ExitError || len(run.Results) != 17 {
		t.Fatalf("exit %d, %d results", got.Code, len(run.Results))
	}
	levels, seen := map[string]int{}, map[string]bool{}
	for _, r := range run.Results {
		levels[r.Level]++
		key := r.Fingerprints["batchjobLint/v1"]
		if rule := run.Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID || rule.Help.Text == "" || rule.ShortDescription.Text == "" || seen[key] || key == "" {
			t.Errorf("%+v has the rule %+v", r, rule)
		}
		seen[key] = true
	}
	if levels["error"] != 11 || levels["warning"] != 3 || levels["note"] != 3 {
		t.Errorf("%v", levels)
	}
	first := run.Results[0]
	at := first.Locations[0]
	if at.Physical.Artifact.URI != lintMany || *at.Physical.Region != (sarifRegion{7, 49}) || at.Logical[0].Name != "Job/many" ||
		first.Message.Text != `Job/many: entry "9=B": no such rule; the Job has 3. To fix: use index=name entries separated by ';', such as 0=ExitCode2;2=OOMKilled` {
		t.Errorf("%+v", first)
	}
}

// A finding that moves in its file keeps its fingerprint; a log without findings is valid.
// Requirements: LNT-04
func TestFingerprintsDoNotChangeWithTheLine(t *testing.T) {
	path := clitest.WriteManifest(t, twoInfos)
	first := readSARIF(t, program.Run(t, nil, "lint", "-f", path, "-o", "sarif").Out)
	assert.NoError(t, os.WriteFile(path, []byte("# a comment\n"+twoInfos), 0o600))
	second := readSARIF(t, program.Run(t, nil, "lint", "-f", path, "-o", "sarif").Out)
	for i := range first.Results {
		a, b := first.Results[i], second.Results[i]
		if a.Fingerprints["batchjobLint/v1"] != b.Fingerprints["batchjobLint/v1"] || a.Locations[0].Physical.Region.StartLine == b.Locations[0].Physical.Region.StartLine {
			t.Errorf("%+v and %+v", a, b)
		}
	}
	assert.Contains(t, program.Run(t, nil, "lint", "-f", lintFine, "-o", "sarif").Out, `"results": []`)
}

// Paths are URIs; of the template, if Helm's comment names it.
// Requirements: LNT-04
func TestPathsInSARIFAreURIs(t *testing.T) {
	for path, want := range map[string]string{"./a b/c.yaml": "a%20b/c.yaml", "../a.yaml": "../a.yaml", "/a/b#c.yaml": "file:///a/b%23c.yaml", "a:b.yaml": "./a:b.yaml"} {
		assert.Equal(t, uriOf(filepath.FromSlash(path)), want, path)
	}
	f := &lintFinding{File: "<stdin>", Line: 120, Column: 5, Source: "chart/templates/job.yaml"}
	if got := locationOf(f).Physical; got.Artifact.URI != "chart/templates/job.yaml" || *got.Region != (sarifRegion{StartLine: 1}) {
		t.Errorf("%+v", got)
	}
	f.Source = ""
	if got := locationOf(f).Physical; got.Artifact.URI != "stdin" || got.Region.StartLine != 120 {
		t.Errorf("%+v", got)
	}
}

// Line numbers in the output of helm template help little.
// Requirements: LNT-04
func TestTextNamesTheObjectAndItsTemplate(t *testing.T) {
	text := "---\n# Source: chart/templates/job.yaml\n" + twoInfos
	got := linted(t, text, "--ignore", "no-completions")
	assert.Contains(t, got.Out, ":7:28: info: Job/a (chart/templates/job.yaml): with ttlSecondsAfterFinished 0")
	document := linted(t, text, "-o", "json")
	assert.Contains(t, document.Out, `"source": "chart/templates/job.yaml"`)
}

// "no findings" is followed by a line about unchecked problems.
// Requirements: LNT-04
func TestLastLineNamesUncheckedProblems(t *testing.T) {
	assert.Equal(t, program.Run(t, nil, "lint", "-f", lintFine).ErrOut, "no findings in 1 Job\n"+notChecked+"\n")
	for _, args := range []string{"-f " + lintFine + " -o json", "-f " + lintFine + " -o sarif", "-f " + lintMany} {
		assert.NotContains(t, program.Run(t, nil, append([]string{"lint"}, strings.Fields(args)...)...).ErrOut, notChecked, args)
	}
}
