package cmdutil

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Then runs another verb after cmd, with the connection flags that cmd was given.
func Then(cmd *cobra.Command, verb string, args ...string) error {
	next, _, err := cmd.Root().Find([]string{verb})
	if err != nil {
		return fmt.Errorf("verb %s: %w", verb, err)
	}
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	NewKubeFlags().AddFlags(connection)
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if connection.Lookup(given.Name) == nil {
			return
		}
		if list, ok := given.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				args = append(args, "--"+given.Name+"="+value)
			}
			return
		}
		args = append(args, "--"+given.Name+"="+given.Value.String())
	})
	if err := next.ParseFlags(args); err != nil {
		return err
	}
	next.SetContext(cmd.Context())
	return next.RunE(next, next.Flags().Args())
}
