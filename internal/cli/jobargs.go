package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/labels"
)

// jobChoice is which Jobs a verb was asked for.
type jobChoice struct {
	names         []string // none for all Jobs
	selector      string
	allNamespaces bool
}

func (c *jobChoice) addChoice(flags *pflag.FlagSet, allNamespaces string) {
	flags.BoolVarP(&c.allNamespaces, "all-namespaces", "A", false, allNamespaces)
	flags.StringVarP(&c.selector, "selector", "l", "", "Label selector, e.g. -l team=ml,tier!=test.")
}

// excludesNames reports that the flags choose the Jobs, so that none can be named.
func (c *jobChoice) excludesNames() bool { return c.allNamespaces || c.selector != "" }

// validateChoice checks how Jobs were chosen: by name, or by selector, in one namespace or in all. Its errors are usage
// errors, in kubectl's words where it has some.
func (c *jobChoice) validateChoice(args []string) error {
	switch {
	case len(args) > 0 && c.allNamespaces:
		return usageErrorf("a resource cannot be retrieved by name across all namespaces")
	case len(args) > 0 && c.selector != "":
		return usageErrorf("name cannot be provided when a selector is specified")
	}
	if _, err := labels.Parse(c.selector); err != nil {
		return usageErrorf("--selector: %v", err)
	}
	return nil
}

// parseJobArgs returns the names in arguments of the form NAME, job/NAME, jobs/NAME or job.batch/NAME, or job NAME ..., each once, in
// order. Its errors are usage errors.
func parseJobArgs(args []string) ([]string, error) {
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
		return "", usageErrorf("%q is not a Job: %q is another resource; use NAME or job/NAME", arg, resource)
	}
	if name == "" {
		return "", usageErrorf("%q has no Job name; use NAME or job/NAME", arg)
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return "", usageErrorf("%q is not a Job name: it %s", name, strings.Join(problems, ", "))
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

// noArguments is cobra.NoArgs with words that fit a verb.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageErrorf("takes no arguments, but got %q", args[0])
	}
	return nil
}
