package cmdutil

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// JobChoice is which Jobs a verb was asked for.
type JobChoice struct {
	Names         []string // none for all Jobs
	Selector      string
	FieldSelector string
	AllNamespaces bool
}

// AddChoice adds --selector, and --all-namespaces with the given description.
func (c *JobChoice) AddChoice(flags *pflag.FlagSet, allNamespaces string) {
	flags.BoolVarP(&c.AllNamespaces, "all-namespaces", "A", false, allNamespaces)
	flags.StringVarP(&c.Selector, "selector", "l", "", "Label selector, e.g. -l team=ml,tier!=test.")
}

// ExcludesNames reports that the flags choose the Jobs, so that none can be named.
func (c *JobChoice) ExcludesNames() bool {
	return c.AllNamespaces || c.Selector != "" || c.FieldSelector != ""
}

// ValidateChoice checks how Jobs were chosen: by name, or by selector, in one namespace or in all. Its errors are usage
// errors, in kubectl's words where it has some.
func (c *JobChoice) ValidateChoice(args []string) error {
	switch {
	case len(args) > 0 && c.AllNamespaces:
		return UsageErrorf("a resource cannot be retrieved by name across all namespaces")
	case len(args) > 0 && c.Selector+c.FieldSelector != "":
		return UsageErrorf("name cannot be provided when a selector is specified")
	}
	if _, err := labels.Parse(c.Selector); err != nil {
		return UsageErrorf("--selector: %v", err)
	}
	if _, err := fields.ParseSelector(c.FieldSelector); err != nil {
		return UsageErrorf("--field-selector: %v", err)
	}
	return nil
}

// ParseJobArgs returns the names in arguments of the form NAME, job/NAME, jobs/NAME or job.batch/NAME, or job NAME ..., each once, in
// order. Its errors are usage errors.
func ParseJobArgs(args []string) ([]string, error) {
	if len(args) > 1 && isJobResource(args[0]) {
		args = args[1:] // kubectl's other form: job NAME ...
	}
	var names []string
	for _, arg := range args {
		name, err := parseJobArg(arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

func parseJobArg(arg string) (string, error) {
	resource, name, qualified := strings.Cut(arg, "/")
	if !qualified {
		name = resource
	} else if !isJobResource(resource) {
		return "", UsageErrorf("%q is not a Job; use NAME or job/NAME", arg)
	}
	if name == "" {
		return "", UsageErrorf("%q has no Job name; use NAME or job/NAME", arg)
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return "", UsageErrorf("%q is not a Job name: it %s", name, strings.Join(problems, ", "))
	}
	return name, nil
}

// isJobResource accepts what kubectl accepts for batch/v1 Jobs.
func isJobResource(resource string) bool {
	switch strings.ToLower(resource) {
	case "job", "jobs", "job.batch", "jobs.batch", "job.v1.batch", "jobs.v1.batch":
		return true
	}
	return false
}

// NoArguments is cobra.NoArgs with words that fit a verb.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageErrorf("takes no arguments, but got %q", args[0])
	}
	return nil
}
