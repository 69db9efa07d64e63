package controller

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// MGB-02, SCL-12: flags are checked before any connection is made.
func TestControllerFlagsAreCheckedFirst(t *testing.T) {
	checkFlags(t, map[string]string{
		"":                              "",
		"--managed-by example.com/jobs": "",
		"--kube-api-qps=-1":             "",
		"--kube_api_burst=7":            "",
		"--managed-by jobs":             "domain",
		"--managed-by kubernetes.io/job-controller":           "reserved",
		"--kube-api-qps=0":                                    "--kube-api-qps",
		"--kube-api-burst=0":                                  "--kube-api-burst",
		"--concurrent-job-syncs=0":                            "--concurrent-job-syncs",
		"--managed-by example.com/" + strings.Repeat("x", 60): "--managed-by",
		"--namespaces a,B":                                    `"B"`,
		"--logging-format=xml":                                "--logging-format",
	})
}

// checkFlags expects each line of flags to be valid if its text is "", else to give an error with that text.
func checkFlags(t *testing.T, lines map[string]string) {
	t.Helper()
	for args, text := range lines {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		o := &Options{IOStreams: streams}
		err := newCommandFor(o).ParseFlags(strings.Fields(args))
		if err == nil {
			if err = o.Validate(); err != nil && cmdutil.ExitCode(cmdutil.ExplainError(err)) != cmdutil.ExitUsage {
				t.Errorf("%s: exit code %d", args, cmdutil.ExitCode(err))
			}
		}
		if (err != nil) != (text != "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// validated returns the options for these flags.
func validated(t *testing.T, args ...string) *Options {
	t.Helper()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := &Options{IOStreams: streams}
	assert.NoError(t, newCommandFor(o).ParseFlags(args))
	assert.NoError(t, o.Validate())
	return o
}

func TestControllerNamespacesAreSortedAndUnique(t *testing.T) {
	o := validated(t, "--namespaces", "b,a", "-n", "b")
	assert.SlicesEqual(t, o.config.Namespaces, []string{"a", "b"})
	greeting := o.ErrOut.(*bytes.Buffer)
	o.greet(nil)
	o.config.Namespaces = nil
	o.greet(nil)
	if got := greeting.String(); !strings.Contains(got, " in namespace a, b. ") || !strings.Contains(got, " in all namespaces. ") {
		t.Errorf("got %q", got)
	}
}
