package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// newControllerCommand is a placeholder until the controller verb is written.
func newControllerCommand(_ genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{Use: "controller", Short: "Run the external Job controller", Hidden: true}
}
