package explain

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// whyNoJobs returns the error for an owner without Jobs: it may not exist. Where that cannot be read, for a lack of
// permission or for a kind that this program has no client for, the error is that there are no Jobs.
func (o *Options) whyNoJobs(ctx context.Context, owner cmdutil.JobOwner) error {
	if owner.Kind == "CronJob" {
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: o.set.Namespace, Name: owner.Name}
		_, err := o.explainer.Client.BatchV1().CronJobs(o.set.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || ctx.Err() != nil {
			return call.Wrap(err)
		}
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s %q has no Jobs %s", owner.Kind, owner.Name, o.set.Call("list", "").Where()),
		"they may have been cleaned up; see: kubectl get jobs -n "+o.set.Namespace)
}
