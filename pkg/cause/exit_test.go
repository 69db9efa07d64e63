package cause_test

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
)

// CLI-04: exit codes are decoded, and 137 of the kernel's memory killer is another thing
// than 137 of somebody's kill.
func TestExitCodesAreDecoded_CLI_04(t *testing.T) {
	for _, tc := range []struct {
		code   int32
		reason string
		signal string
		says   string
	}{
		{0, "Completed", "", ""},
		{1, "Error", "", ""},
		{2, "", "", ""},
		{42, "Error", "", ""},
		{125, "Error", "", "runtime failed"},
		{126, "Error", "", "could not be executed"},
		{127, "Error", "", "not found"},
		{128, "Error", "", ""},
		{128, "StartError", "", "could not be started"},
		{127, "ContainerCannotRun", "", "could not be started"},
		{129, "", "SIGHUP", "SIGHUP: a signal"},
		{130, "", "SIGINT", "interrupted"},
		{131, "", "SIGQUIT", "SIGQUIT: a signal"},
		{132, "", "SIGILL", "SIGILL: a signal"},
		{133, "", "SIGTRAP", "SIGTRAP: a signal"},
		{134, "", "SIGABRT", "gave up by itself"},
		{135, "", "SIGBUS", "SIGBUS: a signal"},
		{136, "", "SIGFPE", "SIGFPE: a signal"},
		{137, "Error", "SIGKILL", "grace period"},
		{137, "OOMKilled", "SIGKILL", "more memory than its limit"},
		{1, "OOMKilled", "", "more memory than its limit"},
		{137, "ContainerStatusUnknown", "SIGKILL", "not seen"},
		{137, "DeadlineExceeded", "SIGKILL", "activeDeadlineSeconds"},
		{138, "", "SIGUSR1", "SIGUSR1: a signal"},
		{139, "", "SIGSEGV", "not its own"},
		{140, "", "SIGUSR2", "SIGUSR2: a signal"},
		{141, "", "SIGPIPE", "SIGPIPE: a signal"},
		{142, "", "SIGALRM", "SIGALRM: a signal"},
		{143, "Error", "SIGTERM", "asked to end"},
		{144, "", "", ""}, // nobody's name for it is known
		{152, "", "SIGXCPU", "SIGXCPU: a signal"},
		{153, "", "SIGXFSZ", "SIGXFSZ: a signal"},
		{159, "", "SIGSYS", "SIGSYS: a signal"},
		{160, "", "", ""},
		{255, "", "", ""},
		{-1, "", "", ""},
		{-2147483648, "", "", ""},
		{2147483647, "", "", ""},
	} {
		if got := cause.Signal(tc.code); got != tc.signal {
			t.Errorf("%d: signal %q, want %q", tc.code, got, tc.signal)
		}
		if got := cause.Meaning(tc.code, tc.reason); tc.says == "" && got != "" || !strings.Contains(got, tc.says) {
			t.Errorf("%d %s: %q, want it to say %q", tc.code, tc.reason, got, tc.says)
		}
	}
}
