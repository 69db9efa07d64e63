package gather

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// maxWorkloads is the maximum number of Workloads of a namespace that are searched for a Workload without the label of its
// Job.
const maxWorkloads = 500

// Workload reads the Workload of a Job that Kueue may hold, a suspended or gated one, or of its owner. For a Job of Kueue, it makes one request, or up to three if
// the Workload lacks the label of the Job or if Kueue lacks v1beta2. Kueue may also hold Jobs without a queue: for other
// such Jobs, it makes one request, or two if the Job has an owner, and neither a cluster without Kueue nor a missing permission is an error. It returns
// nil for a Job without a Workload.
func Workload(ctx context.Context, client kube.Interface, job *batchv1.Job) (*kueue.Workload, error) {
	if !kueue.MayHold(job) || reconcile.IsFinished(job) {
		return nil, nil
	}
	if !kueue.Manages(job) {
		labeled, err := listWorkloads(ctx, client, versions[0], job.Namespace, kueue.OwnerSelector(job))
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			return nil, nil
		}
		if w := workloadOf(labeled, job); w != nil || err != nil || !kueue.HasOwner(job) {
			return w, err
		}
		all, err := listWorkloads(ctx, client, versions[0], job.Namespace, "")
		return workloadOf(all, job), err
	}
	for _, version := range versions {
		labeled, err := listWorkloads(ctx, client, version, job.Namespace, kueue.JobSelector(job))
		if apierrors.IsNotFound(err) { // This version is not served, or Kueue is not installed.
			continue
		}
		if w := workloadOf(labeled, job); w != nil || err != nil {
			return w, err
		}
		all, err := listWorkloads(ctx, client, version, job.Namespace, "")
		return workloadOf(all, job), err
	}
	return nil, nil
}

// versions are the versions of Kueue's API, newest first.
var versions = []string{"v1beta2", "v1beta1"}

// ownerRuns reports whether the Job's owner, a JobSet, is not suspended, although Kueue itself has suspended the Job. It makes a
// request only for such a Job.
func ownerRuns(ctx context.Context, client kube.Interface, job *batchv1.Job) bool {
	owner := facts.OwnerOf(job)
	manager, _ := facts.SuspendedBy(job)
	if !jobspec.IsSuspended(&job.Spec) || owner == nil || owner.Kind != "JobSet" || !kueue.Suspended(manager) {
		return false
	}
	set, err := jobSet(ctx, client, job.Namespace, owner.Name, 1, time.Time{})
	return err == nil && set.JobSet != nil && !set.JobSet.Spec.Suspend
}

func listWorkloads(ctx context.Context, client kube.Interface, version, namespace, labels string) ([]kueue.Object, error) {
	request := client.CoreV1().RESTClient().Get().AbsPath("/apis", kueue.Group, version, "namespaces", namespace, "workloads").
		SetHeader("Accept", "application/json").Param("limit", strconv.Itoa(maxWorkloads))
	if labels != "" {
		request = request.Param("labelSelector", labels)
	}
	text, err := request.DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []kueue.Object `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("reading a list of Workloads: %w", err)
	}
	return list.Items, nil
}

// workloadOf returns the newest Workload of the Job, nil if there is none.
func workloadOf(all []kueue.Object, job *batchv1.Job) *kueue.Workload {
	var newest *kueue.Object
	for i := range all {
		if o := &all[i]; o.IsOf(job) && (newest == nil || newest.Metadata.CreationTimestamp.Before(&o.Metadata.CreationTimestamp)) {
			newest = o
		}
	}
	if newest == nil {
		return nil
	}
	return newest.Workload()
}
