package help

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// spellings returns pairs of flag names that mean the same. A verb that has one flag of a pair accepts the other
// name, too.
func spellings() [][2]string {
	return [][2]string{{"index", "indexes"}, {"failed", "failed-only"}, {"tail", "log-lines"}}
}

// formerName returns the name that the verb's flag --from had.
func formerName(verb string) string {
	return map[string]string{"watch": "replay", "simulate": "pods-from"}[verb]
}

// acceptSpellings makes the command accept each flag by both of its names.
func acceptSpellings(cmd *cobra.Command) {
	names := map[string]string{}
	if former := formerName(cmd.Name()); former != "" {
		names[former] = "from"
	}
	for _, pair := range spellings() {
		for i, other := range [2]string{pair[1], pair[0]} {
			if cmd.Flags().Lookup(pair[i]) != nil && cmd.Flags().Lookup(other) == nil {
				names[other] = pair[i]
			}
		}
	}
	if len(names) == 0 {
		return
	}
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if own := names[name]; own != "" {
			name = own
		}
		return pflag.NormalizedName(name)
	})
}

// maxDistance is the maximum edit distance to a flag that is suggested.
const maxDistance = 2

// suggestFlag adds the most similar flag of the command to the error for an unknown flag.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || len(unknown.GetSpecifiedName()) < 3 {
		return err
	}
	best, distance := "", maxDistance+1
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := typo.Distance(unknown.GetSpecifiedName(), f.Name); d < distance && !f.Hidden {
			best, distance = f.Name, d
		}
	})
	if best == "" {
		return err
	}
	return cmdutil.UsageErrorf("%v, did you mean --%s", err, best)
}
