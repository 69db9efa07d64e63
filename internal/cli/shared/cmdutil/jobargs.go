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

// JobChoice selects the Jobs of a verb.
type JobChoice struct {
	Names         []string // empty for all Jobs
	Selector      string
	FieldSelector string
	AllNamespaces bool
}

// AddChoice adds --selector, and --all-namespaces with the given description.
func (c *JobChoice) AddChoice(flags *pflag.FlagSet, allNamespaces string) {
	flags.BoolVarP(&c.AllNamespaces, "all-namespaces", "A", false, allNamespaces)
	c.AddSelector(flags)
}

// AddSelector adds --selector.
func (c *JobChoice) AddSelector(flags *pflag.FlagSet) {
	flags.StringVarP(&c.Selector, "selector", "l", "", "Label selector, e.g. -l team=ml,tier!=test.")
}

// ExcludesNames reports whether flags choose the Jobs, so that no names may be given.
func (c *JobChoice) ExcludesNames() bool {
	return c.AllNamespaces || c.Selector != "" || c.FieldSelector != ""
}

// ValidateChoice checks that Jobs are chosen by name or by selector, in one namespace or in all. Its errors are usage
// errors, in kubectl's words if kubectl has the same error.
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

// SplitKinds calls take with each argument of the form RESOURCE/NAME whose resource is in kinds, and returns the other
// arguments. Its errors are usage errors.
func SplitKinds(args []string, kinds map[string]string, take func(kind, name string)) (rest []string, err error) {
	for _, arg := range args {
		resource, name, qualified := strings.Cut(arg, "/")
		kind := kinds[strings.ToLower(resource)]
		if kind == "" || !qualified {
			rest = append(rest, arg)
			continue
		}
		if problems := content.IsPathSegmentName(name); name == "" || len(problems) > 0 {
			return nil, UsageErrorf("%q names no %s; use %s/NAME", arg, kind, resource)
		}
		take(kind, name)
	}
	return rest, nil
}

// CronJobKinds returns the resource names of CronJobs, with their kind.
func CronJobKinds() map[string]string {
	return map[string]string{"cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob", "cronjob.batch": "CronJob", "cronjobs.batch": "CronJob"}
}

// OwnerKinds returns the resource names of possible owners of Jobs, with their kinds.
func OwnerKinds() map[string]string {
	kinds := CronJobKinds()
	for _, name := range []string{"jobset", "jobsets", "jobset.jobset.x-k8s.io", "jobsets.jobset.x-k8s.io"} {
		kinds[name] = "JobSet"
	}
	return kinds
}

// ParseJobArgs returns the names in arguments of the form NAME, job/NAME, jobs/NAME or job.batch/NAME, or job NAME
// ..., without duplicates, in order. Its errors are usage errors.
func ParseJobArgs(args []string) ([]string, error) {
	if len(args) > 1 && IsJobResource(args[0]) {
		args = args[1:] // kubectl's other form: job NAME ...
	}
	var names []string
	for _, arg := range args {
		resource, name, qualified := strings.Cut(arg, "/")
		if !qualified {
			name = resource
		}
		switch problems := content.IsPathSegmentName(name); {
		case qualified && OwnerKinds()[strings.ToLower(resource)] != "":
			return nil, UsageErrorf("%q is not a Job; for a %s and its Jobs, use: kubectl batchjob why %s", arg, OwnerKinds()[strings.ToLower(resource)], arg)
		case qualified && !IsJobResource(resource):
			return nil, UsageErrorf("%q is not a Job; use NAME or job/NAME", arg)
		case name == "":
			return nil, UsageErrorf("%q has no Job name; use NAME or job/NAME", arg)
		case len(problems) > 0:
			return nil, UsageErrorf("%q is not a Job name: it %s", name, strings.Join(problems, ", "))
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, nil
}

// IsJobResource reports whether kubectl accepts resource as a name of batch/v1 Jobs.
func IsJobResource(resource string) bool {
	switch strings.ToLower(resource) {
	case "job", "jobs", "job.batch", "jobs.batch", "job.v1.batch", "jobs.v1.batch":
		return true
	}
	return false
}

// NoArguments is cobra.NoArgs with an error message for verbs.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageErrorf("takes no arguments, but got %q", args[0])
	}
	return nil
}
