package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CNF-04
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--nope":                              "flag provided but not defined: -nope",
		"more":                                `unexpected argument "more"`,
		"-o yaml":                             "must be text, json or junit",
		"--pods docker":                       "--pods must be simulated or image",
		"--managed-by x":                      "--managed-by must be a domain-prefixed path",
		"--run [":                             "--run: error parsing regexp",
		"--run no-such-case":                  "no case matches --run no-such-case",
		"--kubeconfig /nowhere --run ^dead.*": "stat /nowhere: no such file",
	} {
		var out, errOut bytes.Buffer
		if code := run(t.Context(), strings.Fields(args), &out, &errOut); code != exitError || !strings.Contains(errOut.String(), want) || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q, stderr %q; want %q", args, code, &out, &errOut, want)
		}
	}
}

// Requirements: CNF-04
func TestHelpHasExamplesAndFlags(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &out, &errOut); code != exitPassed || errOut.Len() > 0 {
		t.Fatalf("exit code %d, %q", code, &errOut)
	}
	for _, part := range []string{"Examples:", "conformance --managed-by example.com/x", "Exit codes:", "-kubeconfig", "-pods", "-o format"} {
		assert.Contains(t, out.String(), part, &out)
	}
}

// Requirements: CNF-02
func TestListHasTheChosenCases(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"--list", "--run", "^per-index-limit|^per-index-and", "--fast"}, &out, &errOut); code != exitPassed {
		t.Fatalf("exit code %d, %q", code, &errOut)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "per-index-limit-zero ") || !strings.Contains(lines[1], "BLI-02, BLI-10, BLI-17") {
		t.Errorf("%q", lines)
	}
}

// Requirements: CNF-02
func TestCasesAreComplete(t *testing.T) {
	t.Parallel()
	const nameAtMost = 48 // leaves room for the index in hostnames of pods
	seen := map[string]bool{}
	for _, c := range cases.All() {
		switch {
		case seen[c.Name], len(c.Name) > nameAtMost:
			t.Errorf("two cases are named %s, or the name is too long", c.Name)
		case c.Title == "" || strings.HasSuffix(c.Title, ".") || c.Source == "" || len(c.Requirements) == 0:
			t.Errorf("%s: a case needs a title without a full stop, a source, and requirements", c.Name)
		case (c.Run == nil) == (c.Check == nil):
			t.Errorf("%s: a case has either Run or Check", c.Name)
		}
		seen[c.Name] = true
	}
	if len(seen) < 60 {
		t.Errorf("%d cases", len(seen))
	}
}

// The suite judges controllers independently (CNF-01): the only code it shares with this project's controllers is the
// index sets.
func TestSuiteUsesNoController(t *testing.T) {
	t.Parallel()
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	assert.NoError(t, err)
	const pkg = "github.com/batchjob-dev/kubectl-batchjob/pkg/"
	for _, path := range strings.Fields(string(list)) {
		if strings.HasPrefix(path, pkg) && path != pkg+"reconcile/indexset" {
			t.Errorf("the suite imports %s", path)
		}
	}
}
