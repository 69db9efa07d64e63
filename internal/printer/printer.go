// Package printer prints objects of the cluster in the formats of kubectl's --output. cli-runtime has such flags, too, but
// they link all API groups and a text/template that calls methods, which makes the linker keep every method of every type
// (ADR 0021).
package printer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// ErrUnknownFormat is the error for a format that Formats does not contain.
var ErrUnknownFormat = errors.New("unknown output format")

// Options select a printer.
type Options struct {
	// Format is one of Formats; if it takes a template, the template may follow after "=".
	Format string
	// Template is the value of --template: a template, or the name of a file with one.
	Template          string
	AllowMissingKeys  bool
	ShowManagedFields bool
}

// Formats returns the formats that New supports, sorted.
func Formats() []string {
	return slices.Sorted(slices.Values(slices.Concat(documentFormats(), templateFormats(), []string{"name"})))
}

func documentFormats() []string { return []string{"json", "kyaml", "yaml"} }

func templateFormats() []string {
	return []string{"go-template", "go-template-file", "jsonpath", "jsonpath-as-json", "jsonpath-file", "template", "templatefile"}
}

// New returns a printer for the options.
func New(o Options) (printers.ResourcePrinter, error) {
	switch format := strings.ToLower(o.Format); {
	case format == "name":
		return &printers.NamePrinter{ShortOutput: true}, nil
	case slices.Contains(documentFormats(), format):
		p := &documentPrinter{json: &printers.JSONPrinter{}, format: format}
		if !o.ShowManagedFields {
			p.json = &printers.OmitManagedFieldsPrinter{Delegate: p.json}
		}
		return p, nil
	}
	format, text := o.Format, o.Template
	if text == "" {
		format, text, _ = strings.Cut(o.Format, "=")
	}
	if !slices.Contains(templateFormats(), format) {
		return nil, ErrUnknownFormat
	}
	return newTemplate(format, text, o.AllowMissingKeys)
}

func newTemplate(format, text string, allowMissingKeys bool) (printers.ResourcePrinter, error) {
	if text == "" {
		return nil, errors.New("template format specified but no template given")
	}
	if strings.HasSuffix(format, "file") {
		data, err := os.ReadFile(text)
		if err != nil {
			return nil, fmt.Errorf("error reading --template %s, %w", text, err)
		}
		text = string(data)
	}
	if !strings.HasPrefix(format, "jsonpath") {
		return newGoTemplate(text, allowMissingKeys)
	}
	p, err := printers.NewJSONPathPrinter(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing jsonpath %s, %w", text, err)
	}
	p.AllowMissingKeys(allowMissingKeys)
	p.EnableJSONOutput(format == "jsonpath-as-json")
	return p, nil
}
