package cmdutil

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
)

// The values of --dry-run.
const (
	DryRunNone   = "none"
	DryRunClient = "client"
	DryRunServer = "server"
)

// CreationFlags are --dry-run and --output, as in kubectl, of a verb that creates objects.
type CreationFlags struct {
	PrintFlags
	DryRun  string
	printer printers.ResourcePrinter // nil for lines and names
}

// AddTo adds the flags and their completion to a command.
func (f *CreationFlags) AddTo(cmd *cobra.Command) {
	f.PrintFlags = *NewPrintFlags()
	cmd.Flags().StringVar(&f.DryRun, "dry-run", DryRunNone,
		"One of: none, client, server.\nclient prints what would be sent, server sends it to be checked, but not stored.")
	MustCompleteFlag(cmd, "dry-run", CompleteWords(DryRunNone, DryRunClient, DryRunServer))
	f.PrintFlags.AddTo(cmd)
}

// Validate checks the flags and chooses the printer; its errors are usage errors.
func (f *CreationFlags) Validate() (err error) {
	switch f.DryRun {
	case DryRunNone, DryRunClient, DryRunServer:
	default:
		return UsageErrorf("--dry-run=%s: must be none, client or server", f.DryRun)
	}
	if format := f.Format(); format != "" && format != "name" {
		f.printer, err = f.Printer()
	}
	return err
}

// PrintsObjects reports whether objects are printed, and not only their names.
func (f *CreationFlags) PrintsObjects() bool { return f.printer != nil }

// PrintCreated prints a created object: a line with its label, or the object in the format of -o.
func (f *CreationFlags) PrintCreated(w io.Writer, label string, object runtime.Object) error {
	if f.printer != nil {
		return f.printer.PrintObj(object, w)
	}
	if f.Format() != "name" {
		label += " created" + map[string]string{DryRunClient: " (dry run)", DryRunServer: " (server dry run)"}[f.DryRun]
	}
	_, err := fmt.Fprintln(w, label)
	return err
}
