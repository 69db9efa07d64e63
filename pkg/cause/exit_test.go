package cause_test

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// CLI-04: exit codes are decoded, and 137 by the OOM killer is distinguished from 137 by another SIGKILL.
func TestExitCodesAreDecoded(t *testing.T) {
	for _, tc := range []struct {
		code     int32
		reason   string
		signal   string
		wantText string
	}{
		{0, "Completed", "", ""},
		{1, "Error", "", ""},
		{2, "", "", ""},
		{42, "Error", "", ""},
		{126, "Error", "", "could not be executed"},
		{127, "Error", "", "not found"},
		{128, "Error", "", ""},
		{128, "StartError", "", ""},
		{127, "ContainerCannotRun", "", ""},
		{129, "", "SIGHUP", "it was terminated by a signal"},
		{130, "", "SIGINT", "interrupted"},
		{131, "", "SIGQUIT", "it was terminated by a signal"},
		{132, "", "SIGILL", "processor"},
		{133, "", "SIGTRAP", "it was terminated by a signal"},
		{134, "", "SIGABRT", "it aborted"},
		{135, "", "SIGBUS", "/dev/shm"},
		{136, "", "SIGFPE", "arithmetic"},
		{137, "Error", "SIGKILL", "grace period"},
		{137, "OOMKilled", "SIGKILL", "more memory than its limit"},
		{1, "OOMKilled", "", "more memory than its limit"},
		{137, "ContainerStatusUnknown", "SIGKILL", "how it ended is unknown"},
		{137, "DeadlineExceeded", "SIGKILL", "activeDeadlineSeconds"},
		{138, "", "SIGUSR1", "it was terminated by a signal"},
		{139, "", "SIGSEGV", "accessed invalid memory"},
		{140, "", "SIGUSR2", "it was terminated by a signal"},
		{141, "", "SIGPIPE", "pipe"},
		{142, "", "SIGALRM", "it was terminated by a signal"},
		{143, "Error", "SIGTERM", "asked to stop"},
		{144, "", "", ""}, // signals has no entry 16
		{152, "", "SIGXCPU", "it was terminated by a signal"},
		{153, "", "SIGXFSZ", "it was terminated by a signal"},
		{159, "", "SIGSYS", "seccomp"},
		{160, "", "", ""},
		{255, "Unknown", "", "the container runtime lost track of it"},
		{255, "", "", ""},
		{-1, "", "", ""},
		{-2147483648, "", "", ""},
		{2147483647, "", "", ""},
	} {
		assert.Equalf(t, cause.Signal(tc.code), tc.signal, "%d: signal", tc.code)
		if got := cause.Meaning(tc.code, tc.reason); tc.wantText == "" && got != "" || !strings.Contains(got, tc.wantText) {
			t.Errorf("%d %s: %q, want it to say %q", tc.code, tc.reason, got, tc.wantText)
		}
	}
}

// An exit code has one form in all texts: with the runtime's reason, or else with its signal, which the meaning does not
// repeat.
// Requirements: CLI-04
func TestExitCodesHaveOneForm(t *testing.T) {
	for _, tc := range []struct {
		code         int32
		reason, want string
	}{
		{1, "Error", "code 1"},
		{0, "Completed", "code 0"},
		{139, "Error", "code 139 (SIGSEGV)"},
		{137, "", "code 137 (SIGKILL)"},
		{137, "OOMKilled", "code 137 (OOMKilled)"},
	} {
		exit := cause.Exit{Container: "main", ExitCode: tc.code, Reason: cause.Specific(tc.reason)}
		failure := cause.Failure{Exit: exit}
		if text := failure.Text(); cause.CodeText(tc.code, tc.reason) != tc.want || text != "Container main exited with "+tc.want {
			t.Errorf("%s, and %q; want %s", cause.CodeText(tc.code, tc.reason), text, tc.want)
		}
		assert.NotContains(t, cause.Meaning(tc.code, tc.reason), "SIG", tc.code)
	}
}

// The exit code of a container that never ran means nothing.
func TestContainerThatNeverRanHasNoExitCode(t *testing.T) {
	failure := cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 128, Reason: "StartError"}}
	assert.Equal(t, failure.Text(), "Container main could not be started (StartError)")
}
