package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/create"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
)

// maxListed is how many Jobs an error lists.
const maxListed = 10

// candidate is a Job that can be simulated.
type candidate struct {
	object *manifest.Object
	job    *manifest.Job
}

// read returns the Job that was named, or the only one of the manifests, as create would send it.
func (o *Options) read(ctx context.Context) (*batchv1.Job, error) {
	all, problems := o.candidates(ctx)
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
	if bad := create.PrepareOffline(chosen.object); len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	name := chosen.job.Name()
	if o.name != "" {
		name = o.name
	}
	job := &batchv1.Job{}
	return job, runtime.DefaultUnstructuredConverter.FromUnstructured(chosen.job.AsJob(name), job)
}

func (o *Options) candidates(ctx context.Context) ([]candidate, []error) {
	objects, problems := o.manifests.Read(ctx, o.In)
	var all []candidate
	for _, object := range objects {
		for _, job := range object.Jobs() {
			all = append(all, candidate{object, job})
		}
	}
	return all, problems
}

// choose returns the Job that was named, or the only one.
func (o *Options) choose(all []candidate) (candidate, error) {
	var matching []candidate
	for _, c := range all {
		if o.name == "" || c.job.Creates(o.name) {
			matching = append(matching, c)
		}
	}
	what, hint := fmt.Sprintf("found %d Jobs: %s", len(all), listed(all)), "add the name of the one to simulate"
	switch {
	case len(matching) == 1:
		return matching[0], nil
	case len(matching) == 0:
		what, hint = fmt.Sprintf("there is no Job %q, only %s", o.name, listed(all)), ""
	case o.name != "":
		what, hint = fmt.Sprintf("found %d Jobs with the name %q", len(matching), o.name), "use a file with one of them"
	}
	return candidate{}, cmdutil.NewUserError(cmdutil.KindOther, nil, what, hint)
}

func listed(all []candidate) string {
	text := strings.Join(names(all[:min(len(all), maxListed)]), ", ")
	if more := len(all) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func names(all []candidate) []string {
	var found []string
	for _, c := range all {
		found = append(found, c.job.Name())
	}
	return found
}

// completeName completes the names of the Jobs in the files that the command line has so far.
func (o *Options) completeName(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || o.manifests.Validate(nil) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	o.In = strings.NewReader("") // The shell's is not the command's.
	all, _ := o.candidates(cmd.Context())
	found := slices.Compact(slices.Sorted(slices.Values(names(all)))) // Cobra may have read -f twice.
	return cmdutil.WithPrefix(found, toComplete), cobra.ShellCompDirectiveNoFileComp
}
