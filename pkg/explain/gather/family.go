package gather

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// MayHaveRelatives reports whether the Job may have a family: only finished Jobs are retried.
func MayHaveRelatives(job *batchv1.Job) bool {
	return reconcile.IsFinished(job) || retry.AttemptOf(job) > 0
}

// Relatives reads the other Jobs of the Job's family, each with its pods if it has finished with failures. Pods that are
// already in before are not read again. If listing pods is forbidden, causes are missing, which the Gap of the Job's own pods
// reports.
func Relatives(ctx context.Context, client kube.Interface, job *batchv1.Job, before []input.Input) ([]input.Input, error) {
	if !MayHaveRelatives(job) {
		return nil, nil
	}
	family, err := Family(ctx, client, job)
	var all []input.Input
	for _, member := range family {
		if member.UID == job.UID {
			continue
		}
		in := input.Input{Job: member}
		known := slices.IndexFunc(before, func(b input.Input) bool { return b.Job.UID == member.UID && b.PodsRead })
		switch {
		case known >= 0:
			in.Pods, in.PodsRead = before[known].Pods, true
		case reconcile.IsFinished(member) && member.Status.Failed > 0:
			var err error
			in.Pods, err = podsOf(ctx, client, member)
			in.PodsRead = err == nil
		}
		all = append(all, in)
	}
	return all, err
}

// Family reads the family of the Job: the first Job, its retries, and the Job itself.
func Family(ctx context.Context, client kube.Interface, job *batchv1.Job) (retry.Family, error) {
	jobs, root := client.BatchV1().Jobs(job.Namespace), retry.RootOf(job)
	call := apicall.Call{Verb: "list", Group: batchv1.GroupName, Resource: "jobs", Namespace: job.Namespace}
	list, err := jobs.List(ctx, metav1.ListOptions{LabelSelector: retry.OfLabel + "=" + retry.LabelOf(root)})
	if err != nil {
		return nil, call.Wrap(err)
	}
	var all []*batchv1.Job
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	if root != job.Name {
		call.Verb, call.Name = "get", root
		first, err := jobs.Get(ctx, root, metav1.GetOptions{})
		switch {
		case err == nil:
			all = append(all, first)
		case !kube.IsNotFound(err):
			return nil, call.Wrap(err)
		}
	}
	return retry.FamilyOf(job, all), nil
}
