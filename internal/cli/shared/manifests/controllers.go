package manifests

import (
	"cmp"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// CheckControllers returns an error if a Job names our controller but no such controller is running: the Job would
// wait forever, as spec.managedBy cannot be changed. A name other than the default counts as ours if batchjob-system
// has a Lease for it; in other namespaces, any user might have created the Lease.
func (c *Client) CheckControllers(ctx context.Context, objects []*manifest.Object) error {
	if c.flags.force {
		return nil
	}
	type scope struct{ managedBy, namespace string }
	checked := map[scope]bool{}
	for _, object := range objects {
		for _, job := range object.Jobs() {
			s := scope{job.ManagedBy(), cmp.Or(object.Namespace(), c.namespace)}
			if s.managedBy == "" || s.managedBy == batchv1.JobControllerName || checked[s] {
				continue
			}
			checked[s] = true
			if err := c.checkController(ctx, job, s.namespace); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkController checks the controller that one Job names.
func (c *Client) checkController(ctx context.Context, job *manifest.Job, namespace string) error {
	lease, err := gather.ReadLease(ctx, c.kube, leader.Leases{}, job.ManagedBy(), namespace)
	ours := job.ManagedBy() == controller.DefaultManagedBy
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsForbidden(err) && ours:
		fmt.Fprintf(c.flags.warnings, "note: cannot check whether controller %s is running: no permission to list leases\n", job.ManagedBy())
		return nil
	case err != nil:
		return nil //nolint:nilerr // If the API server cannot be reached, the creation shows it.
	case lease == nil && ours, lease != nil && !lease.IsHeld(c.now()) && !lease.IsHeldElsewhere(c.now()) && (ours || lease.Namespace == explain.SystemNamespace):
		return c.notRunning(job, lease)
	}
	return nil
}

// notRunning returns the error for a Job whose controller has this Lease, or none.
func (c *Client) notRunning(job *manifest.Job, lease *explain.Lease) error {
	what := "it has no Lease"
	if lease != nil {
		switch age := c.now().Sub(lease.Renewed); {
		case lease.Holder == "" || lease.Renewed.IsZero():
			what = fmt.Sprintf("its Lease %s/%s has no holder", lease.Namespace, lease.Name)
		case age < 0:
			what = fmt.Sprintf("its Lease %s/%s has a renewTime in the future", lease.Namespace, lease.Name)
		default:
			what = fmt.Sprintf("its Lease %s/%s was last renewed %s ago", lease.Namespace, lease.Name, wording.Duration(age))
		}
	}
	what = fmt.Sprintf("%s: controller %s does not seem to be running (%s); nothing was created", job.Object.Position(job.At("spec.managedBy")), job.ManagedBy(), what)
	return cmdutil.NewUserError(cmdutil.KindOther, nil, sanitize.Line(what),
		"start it with --leader-elect, leave spec.managedBy unset for the controller built into Kubernetes, or use --force")
}

// noteRuleNames prints a notice if the Job has rule names but a controller that does not read them.
func (f *Flags) noteRuleNames(job *manifest.Job) {
	if by := job.ManagedBy(); job.Annotation() == "" || by != "" && by != batchv1.JobControllerName {
		return
	}
	fmt.Fprintf(f.warnings, "note: %s: rule names have no effect here: spec.managedBy does not assign the Job to kubectl batchjob controller\n",
		sanitize.Line(job.Object.Position(job.At("spec.podFailurePolicy")).String()))
}
