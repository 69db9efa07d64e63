package manifests

import (
	"cmp"
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
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
			lease, err := gather.ReadLease(ctx, c.kube, leader.Leases{}, s.managedBy, s.namespace)
			ours, now := s.managedBy == controller.DefaultManagedBy, c.now()
			held := lease != nil && (lease.IsHeld(now) || lease.IsContradicted(now))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case apierrors.IsForbidden(err) && ours:
				fmt.Fprintf(c.flags.warnings, "note: cannot check whether controller %s is running: no permission to list leases\n", s.managedBy)
			case err != nil: // If the API server cannot be reached, the creation shows it.
			case !held && (ours || lease != nil && lease.Namespace == input.SystemNamespace):
				return notRunning(job, lease, now)
			}
		}
	}
	return nil
}

// notRunning returns the error for a Job whose controller has this Lease, or none.
func notRunning(job *manifest.Job, lease *input.Lease, now time.Time) error {
	what := "it has no Lease"
	if lease != nil {
		switch age := now.Sub(lease.Renewed); {
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
