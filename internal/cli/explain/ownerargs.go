package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// jobSetLabel is on every Job of a JobSet.
const jobSetLabel = "jobset.sigs.k8s.io/jobset-name"

// jobOwner is an object whose Jobs are meant.
type jobOwner struct{ kind, name string }

// ownerKinds are the resources whose Jobs can be named by their owner, with its kind.
func ownerKinds() map[string]string {
	return map[string]string{
		"cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob", "cronjob.batch": "CronJob", "cronjobs.batch": "CronJob",
		"jobset": "JobSet", "jobsets": "JobSet", "jobset.jobset.x-k8s.io": "JobSet", "jobsets.jobset.x-k8s.io": "JobSet",
	}
}

// ownerGroups are the API groups of the kinds.
func ownerGroups() map[string]string {
	return map[string]string{"CronJob": batchv1.GroupName, "JobSet": "jobset.x-k8s.io"}
}

// splitOwnerArgs takes arguments such as cronjob/NAME out of args.
func splitOwnerArgs(args []string) (owners []jobOwner, rest []string, err error) {
	rest, err = cmdutil.SplitKinds(args, ownerKinds(), func(kind, name string) {
		if o := (jobOwner{kind, name}); !slices.Contains(owners, o) {
			owners = append(owners, o)
		}
	})
	return owners, rest, err
}

// owns reports whether the Job belongs to the owner: by its controller, or as a Job of a JobSet
// by its label.
func (o jobOwner) owns(job *unstructured.Unstructured) bool {
	if c := metav1.GetControllerOf(job); c != nil && c.Kind == o.kind && c.Name == o.name {
		group, _, _ := strings.Cut(c.APIVersion, "/")
		return group == ownerGroups()[o.kind]
	}
	return o.kind == "JobSet" && job.GetLabels()[jobSetLabel] == o.name
}

// whyNoJobs returns the error for an owner without Jobs: it may not exist. Where that cannot be read, for a lack of
// permission or for a kind that this program has no client for, the error is that there are no Jobs.
func (o *Options) whyNoJobs(ctx context.Context, owner jobOwner) error {
	if owner.kind == "CronJob" {
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: o.set.Namespace, Name: owner.name}
		_, err := o.explainer.Client.BatchV1().CronJobs(o.set.Namespace).Get(ctx, owner.name, metav1.GetOptions{})
		if kube.IsNotFound(err) || ctx.Err() != nil {
			return call.Wrap(err)
		}
	}
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s %q has no Jobs %s", owner.kind, owner.name, o.set.Call("list", "").Where()),
		"they may have been cleaned up; see: kubectl get jobs -n "+o.set.Namespace)
}
