package cmdutil

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/batchjob-dev/kubectl-batchjob/internal/printer"
)

// OutputAPIVersion is the API group and version of the JSON and YAML output that this program defines.
const OutputAPIVersion = "batchjob.dev/v1alpha1"

// DocumentFlag is --output of a verb that writes an object of this program: in the formats of AddTo, or with
// AddPrintersTo in all of kubectl's.
type DocumentFlag struct {
	PrintFlags
	hasPrinters bool
}

// AddTo adds the flag and its completion to a command, with JSON, YAML and formats that the verb writes itself.
func (f *DocumentFlag) AddTo(cmd *cobra.Command, own ...string) {
	f.formats = append([]string{"json", "yaml"}, own...)
	addOutputFlag(cmd, &f.options.Format, f.formats)
}

// AddPrintersTo adds the flag and its companions, with all formats of kubectl.
func (f *DocumentFlag) AddPrintersTo(cmd *cobra.Command) {
	f.hasPrinters, f.formats = true, printer.Formats()
	f.addFlags(cmd)
}

// Validate returns a usage error for an unknown format or an invalid template.
func (f *DocumentFlag) Validate() error {
	switch format := f.Format(); {
	case format == "" || slices.Contains([]string{"json", "yaml"}, format):
		return nil
	case f.hasPrinters:
		_, err := f.Printer()
		return err
	case !slices.Contains(f.formats, format):
		return unknownFormat(format, f.formats)
	}
	return nil
}

// IsSet reports whether the user asked for a document instead of text.
func (f *DocumentFlag) IsSet() bool { return f.Format() != "" }

// Write writes an object of this program in the format of the flag; jobs are the names of its Jobs, for -o name.
func (f *DocumentFlag) Write(w io.Writer, object any, jobs ...string) error {
	encode := json.Marshal
	switch f.Format() {
	case "name":
		for _, job := range jobs {
			if _, err := fmt.Fprintln(w, "job.batch/"+OneLine(job)); err != nil {
				return err
			}
		}
		return nil
	case "json":
		encode = printer.JSON
	case "yaml":
		encode = printer.YAML
	}
	data, err := encode(object)
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.Format(), err)
	}
	if f.Format() == "json" || f.Format() == "yaml" {
		_, err = w.Write(data)
		return err
	}
	// The printers of kubectl take unstructured content.
	document := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &document.Object); err != nil {
		return fmt.Errorf("writing %s: %w", f.Format(), err)
	}
	p, err := f.Printer()
	if err != nil {
		return err
	}
	return p.PrintObj(document, w)
}

// PrintFlags are --output and its companions, as in kubectl, for a verb that prints objects of the cluster.
type PrintFlags struct {
	options printer.Options
	formats []string
}

// NewPrintFlags returns flags for the formats of kubectl, and for the formats own, which the verb prints itself.
func NewPrintFlags(own ...string) *PrintFlags {
	return &PrintFlags{formats: slices.Concat(own, printer.Formats())}
}

// AddTo adds the flags and their completion to a command.
func (f *PrintFlags) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.options.ShowManagedFields, "show-managed-fields", false, "Keep metadata.managedFields in JSON and YAML.")
	f.addFlags(cmd)
}

// addFlags adds the flags for objects without managed fields.
func (f *PrintFlags) addFlags(cmd *cobra.Command) {
	o, flags := &f.options, cmd.Flags()
	addOutputFlag(cmd, &o.Format, f.formats)
	flags.StringVar(&o.Template, "template", "", "Template for -o go-template, or its file for -o go-template-file.")
	flags.BoolVar(&o.AllowMissingKeys, "allow-missing-template-keys", true,
		"Treat fields that are missing in templates and JSONPath as empty, not as errors.")
	if err := cmd.MarkFlagFilename("template"); err != nil {
		panic("completion of --template: " + err.Error())
	}
}

// Format returns the format that was chosen, or "" if neither a format nor a template was.
func (f *PrintFlags) Format() string {
	if f.options.Format == "" && f.options.Template != "" {
		return "go-template"
	}
	return f.options.Format
}

// Printer returns a printer for the format, which prints as kubectl does. Its errors are usage errors.
func (f *PrintFlags) Printer() (printers.ResourcePrinter, error) {
	options := f.options
	options.Format = f.Format()
	p, err := printer.New(options)
	switch {
	case errors.Is(err, printer.ErrUnknownFormat):
		return nil, unknownFormat(f.options.Format, f.formats)
	case err != nil:
		return nil, UsageErrorf("-o %s: %v", f.options.Format, err)
	}
	return p, nil
}

// addOutputFlag adds --output. Its description has the most common formats on the first line, which is all that help
// shows, and then all formats.
func addOutputFlag(cmd *cobra.Command, format *string, formats []string) {
	var common []string
	for _, format := range []string{"wide", "json", "yaml", "sarif", "name", "jsonpath"} {
		if slices.Contains(formats, format) && len(common) < 4 {
			common = append(common, format)
		}
	}
	usage := "Output format: " + strings.Join(common, ", ") + "."
	if len(common) < len(formats) {
		usage = "Output format, e.g. " + strings.Join(common, ", ") + ".\nOne of: (" + strings.Join(formats, ", ") + ")."
	}
	cmd.Flags().StringVarP(format, "output", "o", "", usage)
	MustCompleteFlag(cmd, "output", CompleteWords(formats...))
}

func unknownFormat(format string, allowed []string) error {
	return UsageErrorf("unknown output format %q; must be one of: %s", format, strings.Join(allowed, ", "))
}
