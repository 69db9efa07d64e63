package follow

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// StallFlag is --fail-if-stalled of a verb that waits for Jobs.
type StallFlag struct {
	After time.Duration // 0 for no limit
}

// AddTo adds the flag.
func (f *StallFlag) AddTo(flags *pflag.FlagSet, after time.Duration) {
	usage := "Give up if stalled this long.\nThe exit code is 4 once all Jobs left have been stalled for so long, not counting queues; 0 for never."
	flags.DurationVar(&f.After, "fail-if-stalled", after, usage)
}

// Validate returns a usage error for a negative duration.
func (f *StallFlag) Validate() error {
	if f.After < 0 {
		return cmdutil.UsageErrorf("--fail-if-stalled=%s: must be 0 or more", f.After)
	}
	return nil
}

// StalledError returns the error of a verb that gives up on a stalled Job. It names the Job, how long the verb has
// seen it stalled, the reason, and the command that explains it.
func StalledError(label string, after time.Duration, stall *explain.Stall, why string) error {
	what := fmt.Sprintf("%s has been stalled for %s", label, wording.Duration(after))
	if stall != nil {
		what += ": " + stall.Text
	}
	return cmdutil.NewUserError(cmdutil.KindStalled, nil, what, "see: "+why)
}

// FirstErrors returns the first n errors, and the number of the others as one more error of their kind.
func FirstErrors(all []error, n int) []error {
	if len(all) <= n {
		return all
	}
	return append(all[:n:n], cmdutil.NewUserError(cmdutil.KindOf(all[0]), nil, wording.Count(len(all)-n, "more"), ""))
}
