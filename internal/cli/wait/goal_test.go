package wait

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// wait supports all goals of kubectl wait (issue 17).
// Requirements: CLI-03
func TestWaitForWhatKubectlWaitsFor(t *testing.T) {
	api := clitest.NewAPI(t, clitest.CompleteJob("good"), clitest.FailedJob("bad"), clitest.SimpleJob("ns1", "running", 3),
		clitest.WithCondition(clitest.SimpleJob("ns1", "paused", 3), "Suspended", "JobSuspended", "it is"))
	const bad = "job.batch/bad Failed: PodFailurePolicy_OOM: rule \"OOM\" of its podFailurePolicy matched, “out of \\x1b[1mmemory”; 1 of 10 pods succeeded\n"
	for _, tc := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"paused --for=condition=Suspended", cmdutil.ExitDone, "job.batch/paused condition met\n", ""},
		{"paused --for=condition=suspended=TRUE", cmdutil.ExitDone, "job.batch/paused condition met\n", ""},
		{"paused running --for=condition=Suspended -q --timeout=0", cmdutil.ExitTimeout, "job.batch/paused condition met\n", "error: condition not met yet: job.batch/running Running, 3/10 done\n"},
		{"paused --for=condition=Suspended=false -q --timeout=0", cmdutil.ExitTimeout, "", "error: condition not met yet: job.batch/paused Suspended, 3/10 done, reason JobSuspended\n"},
		{"good --for=condition=Suspended", cmdutil.ExitError, "job.batch/good Complete in 32s\n", "error: cannot meet the condition because it is already complete: job.batch/good\n"},
		{"bad paused running --for=condition=Suspended -q", cmdutil.ExitJobFailed, bad + "job.batch/paused condition met\n", "Not waiting for 1 more: job.batch/bad has failed, so not all can meet the condition.\n"},
		{"good --for=condition=complete=true", cmdutil.ExitDone, "job.batch/good Complete in 32s\n", ""},
		{"running --for=jsonpath={.status.succeeded}=3", cmdutil.ExitDone, "job.batch/running condition met\n", ""},
		{"running --for=jsonpath=.status.succeeded=3", cmdutil.ExitDone, "job.batch/running condition met\n", ""},
		{"running --for=jsonpath={.status.succeeded}", cmdutil.ExitDone, "job.batch/running condition met\n", ""},
		{"running --for=jsonpath={.metadata.name}=running", cmdutil.ExitDone, "job.batch/running condition met\n", ""},
		{"paused --for=jsonpath={.status.conditions[?(@.type==\"Suspended\")].status}=True", cmdutil.ExitDone, "job.batch/paused condition met\n", ""},
		{"running --for=jsonpath={.status.succeeded}=4 -q --timeout=0", cmdutil.ExitTimeout, "", "error: condition not met yet: job.batch/running Running, 3/10 done\n"},
		{"running --for=jsonpath={.status.nothing} -q --timeout=0", cmdutil.ExitTimeout, "", "error: condition not met yet: "},
		{"running --for=jsonpath={.status}=3", cmdutil.ExitUsage, "", "error: the path of --for leads to an object or a list, not to a value"},
		{"good --for=jsonpath={.status.nothing}", cmdutil.ExitError, "job.batch/good Complete in 32s\n", "error: cannot meet the condition"},
		{"good --for=jsonpath={.metadata.annotations.x}=y -q --timeout=0", cmdutil.ExitTimeout, "", "error: condition not met yet: job.batch/good Complete, "},
		{"absent --for=condition=Suspended", cmdutil.ExitError, "", "error: job \"absent\" not found"},
		{"absent gone --for=delete", cmdutil.ExitDone, "", ""},
		{"-l app=nothing --for=delete", cmdutil.ExitDone, "", ""},
		{"good absent --for=delete --timeout=0 -q", cmdutil.ExitTimeout, "", "error: not deleted yet: job.batch/good Complete, 10/10 done\n"},
		{"--all -n ns2", cmdutil.ExitError, "", "error: there are no Jobs in namespace \"ns2\"\n"},
		{"--all -n ns2 --for=delete", cmdutil.ExitDone, "", ""},
		{"--all -l app=good", cmdutil.ExitDone, "job.batch/good Complete in 32s\n", ""},
		{"--all -q --timeout=0", cmdutil.ExitTimeout, bad + "job.batch/good Complete in 32s\n", "error: not finished yet: job.batch/paused Suspended, 3/10 done, reason JobSuspended\nerror: not finished yet: job.batch/running Running, 3/10 done\n"},
		{"--all -A --for=complete -q", cmdutil.ExitJobFailed, strings.Replace(bad, "bad", "bad -n ns1", 1) + "job.batch/good -n ns1 Complete in 32s\n", "Not waiting for 2 more: "},
	} {
		got := program.Run(t, api, append([]string{"wait"}, strings.Fields(tc.args)...)...)
		if got.Code != tc.code || got.Out != tc.out || !strings.HasPrefix(got.ErrOut, tc.err) || tc.err == "" && got.ErrOut != "" {
			t.Errorf("%s: exit %d\nstdout %q\nstderr %q\nwant %d\n%q\n%q", tc.args, got.Code, got.Out, got.ErrOut, tc.code, tc.out, tc.err)
		}
	}
}

// Requirements: CLI-03
func TestWaitForAChangeThatKubectlWaitsFor(t *testing.T) {
	job := func(name string) *unstructured.Unstructured { return clitest.SimpleJob("ns1", name, 1) }
	other := job("a")
	other.SetUID("another")
	unlabeled := job("a")
	unlabeled.SetLabels(nil)
	for _, tc := range []struct {
		name, args string
		steps      func(api *clitest.API)
		code       int
		want       string // in stdout and stderr
	}{
		{"condition", "a --for=condition=FailureTarget", func(api *clitest.API) {
			api.Put(clitest.WithCondition(job("a"), "FailureTarget", "x", "y"))
		}, cmdutil.ExitDone, "job.batch/a condition met\n"},
		{"deleted before the condition", "a --for=condition=Suspended", func(api *clitest.API) { api.Remove(job("a")) }, cmdutil.ExitError, "error: job.batch/a was deleted before it met the condition\n"},
		{"replaced before it", "a --for=condition=Suspended", func(api *clitest.API) { api.Put(other) }, cmdutil.ExitError, "error: job.batch/a was deleted before it met the condition, and another was created\n"},
		{"failed before it", "a --for=condition=Suspended", func(api *clitest.API) { api.Put(clitest.FailedJob("a")) }, cmdutil.ExitJobFailed, "job.batch/a Failed: PodFailurePolicy_OOM"},
		{"a field", "a --for=jsonpath={.status.succeeded}=2", func(api *clitest.API) { api.Put(clitest.SimpleJob("ns1", "a", 2)) }, cmdutil.ExitDone, "job.batch/a condition met\n"},
		{"deleted", "a b --for=delete", func(api *clitest.API) { api.Remove(job("a")); api.Remove(job("b")) }, cmdutil.ExitDone, "job.batch/a Deleted\njob.batch/b Deleted\n"},
		{"finished and then deleted", "a --for=delete", func(api *clitest.API) { api.Put(clitest.FailedJob("a")); api.Remove(clitest.FailedJob("a")) }, cmdutil.ExitDone, "job.batch/a Deleted\n"},
		{"replaced", "a --for=delete", func(api *clitest.API) { api.Put(other) }, cmdutil.ExitDone, "job.batch/a Replaced\n"},
		{"without its labels it is there", "-l app=a --for=delete", func(api *clitest.API) { api.Put(unlabeled); api.Remove(unlabeled) }, cmdutil.ExitDone, "job.batch/a Deleted\n"},
		{"all are deleted", "--all --for=delete", func(api *clitest.API) { api.Remove(job("b")); api.Remove(job("a")) }, cmdutil.ExitDone, "job.batch/b Deleted\njob.batch/a Deleted\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := clitest.NewAPI(t, job("a"), job("b"))
			s := waiting(t, api, append(strings.Fields(tc.args), "-q")...)
			tc.steps(api)
			assert.Equal(t, s.End(), tc.code)
			if got := s.Out.String() + s.ErrOut.String(); !strings.HasPrefix(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A Job that no longer has the labels of -l is not deleted.
// Requirements: CLI-03
func TestWaitForDeletionIsNotFooledByLabels(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := waiting(t, api, "-l", "app=a", "--for=delete")
	unlabeled := clitest.SimpleJob("ns1", "a", 2)
	unlabeled.SetLabels(nil)
	api.Put(unlabeled)
	s.WaitErr("a  Running, 2/10 done")
	api.Remove(unlabeled)
	s.Result().Want(t, cmdutil.ExitDone, "job.batch/a Deleted\n")
}

// Requirements: CLI-03
func TestWaitPrintsAResultForScripts(t *testing.T) {
	good := clitest.WithCondition(clitest.SimpleJob("ns1", "good", 10), "Complete", "CompletionsReached", "all done")
	api := clitest.NewAPI(t, good, clitest.FailedJob("bad"), clitest.SimpleJob("ns1", "running", 3))
	for args, want := range map[string]string{
		"good -o json":                                       `0 ns1/good Complete CompletionsReached "all done"`,
		"--all --timeout=0 -o yaml":                          `124 ns1/bad Failed PodFailurePolicy_OOM "PodFailurePolicy_OOM: rule \"OOM\" of its podFailurePolicy matched, “out of \x1b[1mmemory”; 1 of 10 pods succeeded" ns1/good Complete CompletionsReached "all done" ns1/running Waiting  "Running, 3/10 done"`,
		"--all --for=complete -o json":                       `3 ns1/bad Failed`,
		"running --for=jsonpath={.status.succeeded} -o json": `0 ns1/running ConditionMet  "Running, 3/10 done"`,
		"absent --for=delete -o json":                        `0`,
		"--all -n ns2 --for=delete -o json":                  `0`,
		"absent -o json":                                     "",
	} {
		got := program.Run(t, api, append([]string{"wait", "-q"}, strings.Fields(args)...)...)
		if line := resultLine(t, got.Out); !strings.HasPrefix(line, want) || want == "" && line != "" {
			t.Errorf("%s: exit %d\n%s\nwant %s\nstderr %q", args, got.Code, line, want, got.ErrOut)
		}
	}
	loud := program.Run(t, api, "wait", "good", "-o", "json")
	if loud.ErrOut != "job.batch/good Complete in 32s\n" || !strings.HasPrefix(loud.Out, "{") {
		t.Errorf("stdout %q, stderr %q", loud.Out, loud.ErrOut)
	}
	api.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no"}
	})
	program.Run(t, api, "wait", "--all", "-o", "json").Want(t, cmdutil.ExitError, "")
}

// resultLine returns a WaitResult as one line; "" for none.
func resultLine(t *testing.T, document string) string {
	t.Helper()
	if document == "" {
		return ""
	}
	var result waitResult
	if err := yaml.UnmarshalStrict([]byte(document), &result); err != nil || result.Kind != "WaitResult" || result.APIVersion != "batchjob.dev/v1alpha1" || result.Jobs == nil {
		t.Fatalf("%v in %s", err, document)
	}
	line := fmt.Sprint(result.ExitCode)
	for _, job := range result.Jobs {
		line += fmt.Sprintf(" %s/%s %s %s %q", job.Namespace, job.Name, job.Outcome, job.Reason, job.Message)
	}
	return line
}
