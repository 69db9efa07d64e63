package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// maxListed is the maximum number of Jobs that an error lists.
const maxListed = 10

// read returns the named Job, or the only one in the manifests, as create would send it.
func (o *Options) read(ctx context.Context) (*batchv1.Job, error) {
	all, problems := o.readAll(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(problems) > 0:
		return nil, errors.Join(problems...)
	case len(all) == 0:
		return nil, o.manifests.NoJobsError()
	}
	chosen, err := o.choose(all)
	if err != nil {
		return nil, err
	}
	o.printWarnings(chosen) // before managedBy is set to this program's controller
	if bad := manifests.PrepareOffline(chosen.Object); len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	job := &batchv1.Job{}
	return job, runtime.DefaultUnstructuredConverter.FromUnstructured(chosen.AsJob(cmp.Or(o.name[strings.LastIndexByte(o.name, '/')+1:], chosen.Name())), job)
}

// printWarnings prints problems that would keep the Job from running in a cluster, but not in the simulation; and which rules
// match sidecars, which exit with 0 in the simulation unless a flag says otherwise.
func (o *Options) printWarnings(job *manifest.Job) {
	for _, f := range lint.Check(manifests.LintInput(job)) {
		if f.ID == lint.MisspelledManagedBy || f.ID == lint.RuleMatchesSidecars && f.Severity == lint.Warning {
			fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(job.Object.Errorf(f.Field, "%s", f.Message).Error()))
		}
	}
}

func (o *Options) readAll(ctx context.Context) (jobs []*manifest.Job, problems []error) {
	objects, problems := o.manifests.Read(ctx, o.Env)
	for _, object := range objects {
		if manifest.IsBatch(object) { // lint reports a wrong version or kind
			object, _ = manifest.AsServed(object)
		}
		jobs = append(jobs, object.Jobs()...)
	}
	return jobs, problems
}

// choose returns the named Job, or the only one. A name may have a kind, such as cronjob/NAME.
func (o *Options) choose(all []*manifest.Job) (*manifest.Job, error) {
	matching := all
	if o.name != "" {
		kind, name, hasKind := strings.Cut(o.name, "/")
		if !hasKind {
			kind, name = "", o.name
		}
		matching = slices.DeleteFunc(slices.Clone(all), func(job *manifest.Job) bool {
			return !job.Creates(name) || hasKind && !strings.EqualFold(job.Object.Kind(), kind)
		})
	}
	switch len(matching) {
	case 1:
		return matching[0], nil
	case 0:
		return nil, cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("there is no Job %q, only %s", o.name, listJobs(all)), "")
	}
	hint, first := "add the name of the one to simulate", matching[0]
	if slices.ContainsFunc(matching, func(job *manifest.Job) bool {
		return job.Name() == first.Name() && job.Object.Kind() != first.Object.Kind()
	}) {
		hint = "name one with its kind, as in " + strings.ToLower(first.Object.Kind()) + "/" + first.Name()
	}
	return nil, cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("found %d Jobs: %s", len(matching), listJobs(matching)),
		hint+", or use a file with one Job")
}

func listJobs(jobs []*manifest.Job) string {
	all := jobNames(jobs)
	if more := len(all) - maxListed; more > 0 {
		all = append(all[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, ", ")
}

func jobNames(jobs []*manifest.Job) []string {
	var all []string
	for _, job := range jobs {
		all = append(all, job.Name())
	}
	return all
}

// completeName completes the names of the Jobs in the files given so far.
func (o *Options) completeName(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || o.manifests.Validate(nil) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	o.In = strings.NewReader("") // The shell's stdin is not the command's.
	all, _ := o.readAll(cmd.Context())
	found := slices.Compact(slices.Sorted(slices.Values(jobNames(all)))) // Cobra may have read -f twice.
	return cmdutil.WithPrefix(found, toComplete), cobra.ShellCompDirectiveNoFileComp
}
