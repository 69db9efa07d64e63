package gather

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// maxWorkloads is the maximum number of Workloads of a namespace that are searched for a Workload without the label of its
// Job.
const maxWorkloads = 500

// workload reads the Workload of a Job that Kueue holds.
func (r *reading) workload(ctx context.Context) {
	var err error
	if r.facts.Workload, err = Workload(ctx, r.client, r.facts.Job); err != nil {
		r.gap("list", kueue.Workloads, err)
	}
}

// Workload reads the Workload of a suspended Job of Kueue with one request, or up to three if the Workload lacks the label of
// the Job or if Kueue lacks v1beta2. It returns nil without a request for other Jobs, and nil for a Job without a Workload.
func Workload(ctx context.Context, client kube.Interface, job *batchv1.Job) (*kueue.Workload, error) {
	if !kueue.Manages(job) || !jobspec.IsSuspended(&job.Spec) || reconcile.IsFinished(job) {
		return nil, nil
	}
	for _, version := range []string{"v1beta2", "v1beta1"} {
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
