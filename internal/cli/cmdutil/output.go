package cmdutil

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// OutputAPIVersion is the API group and version of our own JSON and YAML output.
const OutputAPIVersion = "batchjob.dev/v1alpha1"

// DocumentFlag is --output of a verb that can write an object of ours as JSON or YAML.
type DocumentFlag struct {
	format string
}

func documentFormats() []string { return []string{"json", "yaml"} }

// AddTo adds the flag and its completion to a command.
func (f *DocumentFlag) AddTo(cmd *cobra.Command) { addOutputFlag(cmd, &f.format, documentFormats()) }

// Validate returns a usage error for an unknown format.
func (f *DocumentFlag) Validate() error {
	if f.IsSet() && !slices.Contains(documentFormats(), f.format) {
		return unknownFormat(f.format, documentFormats())
	}
	return nil
}

// IsSet reports whether a document is wanted instead of text.
func (f *DocumentFlag) IsSet() bool { return f.format != "" }

// Write writes an object of ours in the format of the flag.
func (f *DocumentFlag) Write(w io.Writer, object any) error {
	encode := encodeJSON
	if f.format == "yaml" {
		encode = encodeYAML
	}
	data, err := encode(object)
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.format, err)
	}
	_, err = w.Write(data)
	return err
}

// PrintFlags are --output and its companions, as in kubectl, for a verb that prints objects of the cluster.
type PrintFlags struct {
	kubectl *genericclioptions.PrintFlags
	formats []string
}

// NewPrintFlags returns flags for the formats of kubectl, and for those that the verb prints itself.
func NewPrintFlags(own ...string) *PrintFlags {
	f := &PrintFlags{kubectl: genericclioptions.NewPrintFlags("")}
	formats := f.kubectl.AllowedFormats()
	slices.Sort(formats)
	f.formats = slices.Concat(own, formats)
	return f
}

// AddTo adds the flags and their completion to a command.
func (f *PrintFlags) AddTo(cmd *cobra.Command) {
	addOutputFlag(cmd, f.kubectl.OutputFormat, f.formats)
	f.kubectl.OutputFlagSpecified = func() bool { return cmd.Flags().Changed("output") }
	f.kubectl.JSONYamlPrintFlags.AddFlags(cmd)
	f.kubectl.TemplatePrinterFlags.AddFlags(cmd)
}

// Format returns the format that was chosen, or "" if neither a format nor a template was.
func (f *PrintFlags) Format() string {
	if *f.kubectl.OutputFormat == "" && *f.kubectl.TemplatePrinterFlags.TemplateArgument != "" {
		return "go-template"
	}
	return *f.kubectl.OutputFormat
}

// Printer returns a printer for the format, which prints as kubectl does. Its errors are usage errors.
func (f *PrintFlags) Printer() (printers.ResourcePrinter, error) {
	documents := f.kubectl.JSONYamlPrintFlags
	if format := strings.ToLower(f.Format()); slices.Contains(documents.AllowedFormats(), format) {
		json, err := documents.ToPrinter("json")
		return &encodingPrinter{json: json, format: format}, err
	}
	printer, err := f.kubectl.ToPrinter()
	switch {
	case genericclioptions.IsNoCompatiblePrinterError(err):
		return nil, unknownFormat(*f.kubectl.OutputFormat, f.formats)
	case err != nil:
		return nil, UsageErrorf("-o %s: %v", *f.kubectl.OutputFormat, err)
	}
	return printer, nil
}

func addOutputFlag(cmd *cobra.Command, format *string, formats []string) {
	cmd.Flags().StringVarP(format, "output", "o", "", "Output format. One of: ("+strings.Join(formats, ", ")+").")
	MustCompleteFlag(cmd, "output", CompleteWords(formats...))
}

func unknownFormat(format string, allowed []string) error {
	return UsageErrorf("unknown output format %q; must be one of: %s", format, strings.Join(allowed, ", "))
}
