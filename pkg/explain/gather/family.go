package gather

import (
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// family reads the relatives of a Job that may have some. Whoever may not list Jobs is shown none.
func (r *reading) family(ctx context.Context) {
	job := r.facts.Job
	if !MayHaveRelatives(job) {
		r.facts.RelativesRead = true
		return
	}
	jobs, err := Family(ctx, r.client, job)
	switch {
	case apierrors.IsForbidden(err):
		return
	case err != nil:
		r.gap("list", "jobs", err)
		return
	}
	r.facts.Relatives, r.facts.RelativesRead = Relatives(ctx, r.client, job, jobs, nil), true
}

// MayHaveRelatives reports whether there can be a family: only a Job that has finished is retried.
func MayHaveRelatives(job *batchv1.Job) bool {
	return reconcile.IsFinished(job) || retry.AttemptOf(job) > 0
}

// Family returns the family of the Job: the first Job, its retries, and the Job itself.
func Family(ctx context.Context, client kubernetes.Interface, job *batchv1.Job) (retry.Family, error) {
	call := apicall.Call{Verb: "list", Group: batchv1.GroupName, Resource: "jobs", Namespace: job.Namespace}
	list, err := client.BatchV1().Jobs(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: retry.OfLabel + "=" + retry.RootOf(job)})
	if err != nil {
		return nil, call.Wrap(err)
	}
	var jobs []*batchv1.Job
	for i := range list.Items {
		jobs = append(jobs, &list.Items[i])
	}
	first, err := FirstJob(ctx, client, job)
	if first != nil {
		jobs = append(jobs, first)
	}
	return retry.FamilyOf(job, jobs), err
}

// FirstJob reads the Job of the name that the first Job of a retry's family has. It is nil for a Job that is no retry, and
// if there is none.
func FirstJob(ctx context.Context, client kubernetes.Interface, job *batchv1.Job) (*batchv1.Job, error) {
	if retry.AttemptOf(job) == 0 {
		return nil, nil
	}
	name := retry.RootOf(job)
	first, err := client.BatchV1().Jobs(job.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "jobs", Namespace: job.Namespace, Name: name}.Wrap(err)
	}
	return first, nil
}

// Relatives are the other Jobs of the family. Those that have finished with failures have their pods: those of before, or
// as they are read. Without permission to read pods there are no causes, and the gap of the Job's own pods says so.
func Relatives(ctx context.Context, client kubernetes.Interface, job *batchv1.Job, family retry.Family, before []explain.Input) []explain.Input {
	var all []explain.Input
	unread := map[types.UID]int{}
	var names []string
	for _, member := range family {
		if member.UID == job.UID {
			continue
		}
		in := explain.Input{Job: member}
		known := slices.IndexFunc(before, func(b explain.Input) bool { return b.Job.UID == member.UID && b.PodsRead })
		switch {
		case known >= 0:
			in.Pods, in.PodsRead = before[known].Pods, true
		case reconcile.IsFinished(member) && member.Status.Failed > 0:
			unread[member.UID] = len(all)
			names = append(names, member.Name)
		}
		all = append(all, in)
	}
	if len(names) == 0 {
		return all
	}
	selector := batchv1.JobNameLabel + " in (" + strings.Join(names, ",") + ")"
	_, err := eachPod(ctx, client, job.Namespace, selector, func() {
		for _, i := range unread {
			all[i].Pods, all[i].PodsRead = nil, true
		}
	}, func(pod *corev1.Pod) {
		if i, ok := unread[observe.JobUID(pod)]; ok {
			all[i].Pods = append(all[i].Pods, explain.PodOf(pod))
		}
	})
	if err != nil {
		for _, i := range unread {
			all[i].Pods, all[i].PodsRead = nil, false
		}
	}
	return all
}
