// Package create implements the verb create: it creates Jobs, CronJobs and JobSets from manifests.
package create

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const createLong = `Create Jobs, CronJobs and JobSets from manifests, with checked names of failure
rules (KEP-4443), or one Job from a Job or CronJob that exists.

The controller built into Kubernetes runs the Jobs unless the manifest or
--managed-by names another. With --dry-run=client, nothing is sent and no
cluster is needed.`

// createDetails is text for the reference only.
const createDetails = `Rules in spec.podFailurePolicy may have a name (KEP-4443). API servers before
1.38 do not know that field, so create checks the names and moves them to the
annotation batchjob.dev/pod-failure-policy-rule-names; for a CronJob or a
JobSet, to the annotations of its Jobs.

spec.managedBy stays as it is in the manifest: without it, the controller built
into Kubernetes runs the Jobs. --managed-by sets it; in a CronJob or a JobSet,
it sets that of the Jobs they create. It cannot be changed later, so nothing is
created, unless you use --force, if it names the controller of kubectl batchjob
and no Lease shows that this controller is running.

With --dry-run=client, -o yaml shows what would be created, for kubectl apply or
a Git repository. What lint reports as rejected by an API server is an error
here, too; unknown fields are subject to --validate. The namespace comes from
the manifest or from -n.

Objects of other kinds are skipped, with a line that names them. --all-kinds
creates them, too, in the order of the files. With --dry-run=client and -o yaml
or -o json, they are printed as they are, so that kubectl apply gets all objects.

--from makes one Job from the template of a CronJob or from another Job. That of
a CronJob belongs to it, as after kubectl create job --from; that of a Job has
no owner. Arguments after -- replace those of the container.

If one of several objects fails, create continues with the others, and exits
with code 1.`

const createExample = `  # Create the Job in a file
  kubectl batchjob create -f job.yaml

  # Plain manifests for kubectl apply, without a cluster
  kubectl batchjob create -f jobs/ -R --dry-run=client -o yaml |
    kubectl apply -f -

  # Have the controller of kubectl batchjob run the Job
  kubectl batchjob create -f job.yaml --managed-by batchjob.dev/controller

  # Start a CronJob's Job now, with other arguments
  kubectl batchjob create --from cronjob/nightly -- --day 2026-11-27

  # From standard input, printing only the name
  kubectl batchjob create -f - -o name <job.yaml`

// Options are the flags of the create verb, and the client that Complete makes.
type Options struct {
	cmdutil.Env
	kube      *cmdutil.KubeFlags
	print     cmdutil.CreationFlags
	manifests manifests.Flags
	creator   *manifests.Client // nil with --dry-run=client
}

// NewCommand returns the command create, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	o.manifests = manifests.NewFlags(o.kube, o.ErrOut)
	cmd := &cobra.Command{
		Use:               "create (-f FILE | --from KIND/NAME [-- ARGS...])",
		SuggestFor:        []string{"apply"},
		Short:             "Create Jobs, CronJobs and JobSets from manifests",
		Long:              createLong,
		Example:           createExample,
		Annotations:       cmdutil.Details(createDetails),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.manifests.AddTo(cmd)
	o.print.AddTo(cmd)
	o.kube.AddTo(cmd)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.manifests.Validate(args); err != nil {
		return err
	}
	return o.print.Validate()
}

// Complete creates the client, unless nothing is to be sent.
func (o *Options) Complete() (err error) {
	if o.print.DryRun != cmdutil.DryRunClient {
		o.creator, err = o.manifests.Client(o.print.DryRun == cmdutil.DryRunServer, o.Now)
	}
	return err
}

// Run creates the objects in order, and returns an error for each object that was not created.
func (o *Options) Run(ctx context.Context) error {
	objects, problems := o.manifests.Read(ctx, o.Env)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(objects) == 0 && len(problems) == 0 {
		return o.manifests.NoJobsError()
	}
	offline := o.print.DryRun == cmdutil.DryRunClient
	printsManifests := o.print.Format() == "yaml" || o.print.Format() == "json"
	objects = o.manifests.Choose(objects, manifest.IsBatch, offline && printsManifests)
	var ready []*manifest.Object
	for _, object := range objects {
		if bad := o.manifests.Prepare(object, offline); len(bad) > 0 {
			problems = append(problems, bad...)
			continue
		}
		ready = append(ready, object)
	}
	if o.print.DryRun == cmdutil.DryRunNone {
		if err := o.creator.CheckControllers(ctx, ready); err != nil {
			return errors.Join(append(problems, err)...)
		}
	}
	return errors.Join(append(problems, o.createAll(ctx, ready)...)...)
}

// createAll returns an error for each object that was not created.
func (o *Options) createAll(ctx context.Context, ready []*manifest.Object) (problems []error) {
	for i, object := range ready {
		created, err := &unstructured.Unstructured{Object: object.Content}, ctx.Err()
		if err == nil && o.creator != nil {
			created, err = o.creator.Create(ctx, created)
		}
		if err == nil {
			err = o.print.PrintCreated(o.Out, manifests.Label(created), created)
		}
		if err == nil {
			continue
		}
		problems = append(problems, manifests.Locate(object, err)...)
		if created == nil && o.print.DryRun == cmdutil.DryRunNone {
			problems = append(problems, manifests.MayExist(object, err))
		}
		if !manifests.ConcernsObject(err) {
			if left := len(ready) - i - 1; left > 0 {
				problems = append(problems, cmdutil.NewUserError(cmdutil.KindOther, nil, wording.Plural(left, "more object was", "more objects were")+" not sent", ""))
			}
			break
		}
	}
	return problems
}
