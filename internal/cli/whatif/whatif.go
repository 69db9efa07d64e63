// Package whatif implements the verb what-if: it replays a finished Job with other policies.
package whatif

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobsource"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

const whatIfLong = `Show what would have happened to a Job that has finished, had its policies been
different.

The Job runs again in a virtual cluster, where hours pass in milliseconds. Its
pods do what they did, attempt by attempt. An attempt that never happened does
what the last one of its index did, or what most pods of the Job did; the output
shows how many pods are such estimates. Nothing in the cluster changes.

These fields can be changed: activeDeadlineSeconds, backoffLimit,
backoffLimitPerIndex, maxFailedIndexes, podFailurePolicy, podReplacementPolicy,
successPolicy. -f reads a file with some of them, or a manifest of the Job, from
which all are taken: one that it lacks is removed. --set FIELD=VALUE sets one,
and removes it if VALUE is empty.`

// whatIfDetails is text for the reference only.
const whatIfDetails = `Both columns of the table are replays. If the replay with the policies that the
Job had differs from what really happened, for example because pods are gone,
that is shown, too.

WASTED POD TIME is that of pods that did not succeed. -o json and -o yaml print
everything, as kind JobComparison of batchjob.dev/v1alpha1.`

const whatIfExample = `  # What if it had been retried only once?
  kubectl batchjob what-if train --set backoffLimit=1

  # What if exit code 42 had failed it at once?
  kubectl batchjob what-if train -f policy.yaml

  # From a bundle or a recording of a Job that is gone
  kubectl batchjob what-if train --from train.tar.gz --set backoffLimit=1

  # How much pod time would have been saved, in seconds
  kubectl batchjob what-if train --set backoffLimit=1 -o json | \
    jq '.actual.podSeconds - .new.podSeconds'`

// Options are the flags of the what-if verb.
type Options struct {
	jobsource.Source
	file   string
	set    []string
	limit  time.Duration
	output cmdutil.DocumentFlag

	policies whatif.Policies
}

// NewCommand returns the command what-if, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Source: jobsource.Source{Env: env, Kube: env.KubeFlags(), Flag: "--from"}}
	cmd := &cobra.Command{
		Use:               "what-if NAME (-f FILE | --set FIELD=VALUE)",
		Short:             "Show what other policies would have done to a Job",
		Long:              whatIfLong,
		Example:           whatIfExample,
		Annotations:       cmdutil.Details(whatIfDetails),
		ValidArgsFunction: cmdutil.CompleteJobs(o.Kube, func() bool { return false }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "policies", "f", "", "File with policies, or with a Job, or - for standard input.")
	flags.StringArrayVar(&o.set, "set", nil, "Set a field, as in backoffLimit=3; may be repeated.")
	flags.StringVar(&o.File, "from", "", "Bundle or recording to read; needs no cluster.")
	flags.DurationVar(&o.limit, "limit", whatif.DefaultLimit, "How much virtual time may pass.")
	o.output.AddTo(cmd)
	o.Kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "set", completeFields)
	return cmd
}

// completeFields completes the field; the user has to type the value.
func completeFields(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, field := range whatif.Fields() {
		words = append(words, field+"=")
	}
	return cmdutil.WithPrefix(words, toComplete), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Validate checks arguments and flags, and reads the policies.
func (o *Options) Validate(args []string) error {
	names, err := cmdutil.ParseJobArgs(args)
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return cmdutil.UsageErrorf("name one Job")
	case o.file == "" && len(o.set) == 0:
		return cmdutil.UsageErrorf("change a policy with -f or --set")
	case o.limit <= 0:
		return cmdutil.UsageErrorf("--limit=%s: must be more than 0", o.limit)
	}
	o.Name = names[0]
	if err := o.output.Validate(); err != nil {
		return err
	}
	return o.readPolicies()
}

// readPolicies reads the policies of the file and of --set, which takes precedence.
func (o *Options) readPolicies() (err error) {
	o.policies = whatif.Policies{}
	if o.file != "" {
		var data []byte
		if o.file == "-" {
			data, err = io.ReadAll(o.In)
		} else {
			data, err = os.ReadFile(o.file)
		}
		if err == nil {
			o.policies, err = whatif.ParsePolicies(data)
		}
		if err != nil {
			return cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("reading policies from %s: %v", o.file, err), "")
		}
	}
	for _, text := range o.set {
		field, value, found := strings.Cut(text, "=")
		if !found {
			return cmdutil.UsageErrorf("--set=%s: write FIELD=VALUE", text)
		}
		policies, err := whatif.ParsePolicies([]byte(field + ": " + value))
		if err != nil {
			return cmdutil.UsageErrorf("--set=%s: %v", text, err)
		}
		o.policies[field] = policies[field]
	}
	return nil
}

// Run replays the Job, and compares.
func (o *Options) Run(ctx context.Context) error {
	history, err := o.Read(ctx)
	if err != nil {
		return err
	}
	if !reconcile.IsFinished(history.Job) {
		return o.jobError("it has not finished", "wait for it with: kubectl batchjob wait "+o.Name)
	}
	comparison, err := history.Compare(ctx, o.policies, o.limit)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return o.jobError(err.Error(), "")
	case o.output.IsSet():
		return o.output.Write(o.Out, comparison)
	}
	return write(o.Out, &comparison)
}

func (o *Options) jobError(problem, hint string) error {
	return cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("job.batch/%s: %s", o.Name, problem), hint)
}
