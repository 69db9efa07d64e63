package gather

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// CronJob reads a CronJob and the events about it, with one request each; jobs are its Jobs. Missing permissions, and events
// that cannot be read, are reported as Gaps. Without an error, the CronJob is nil if it does not exist.
func CronJob(ctx context.Context, client kube.Interface, namespace, name string, jobs []input.OwnedJob, now time.Time) (input.CronJob, error) {
	in := input.CronJob{Now: now, Namespace: namespace, Name: name, Jobs: jobs}
	cronJob, err := client.BatchV1().CronJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		in.CronJob = cronJob
	case kube.IsNotFound(err):
		return in, nil
	case apierrors.IsForbidden(err):
		in.Gaps = append(in.Gaps, GapOf(namespace, "get", "cronjobs", err))
		return in, nil
	default:
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: namespace, Name: name}
		return in, call.Wrap(err)
	}
	in.Events, in.Gaps = ownerEvents(ctx, client, namespace, eventsOf("CronJob", name, cronJob.UID))
	return in, ctx.Err()
}

// JobSet reads a JobSet with one request, and the events about it with another if it lacks Jobs; jobs is their number. A missing
// permission, and events that cannot be read, are reported as Gaps; the JobSet is nil then, or if it does not exist while its Jobs do. For a
// suspended JobSet of Kueue without Jobs, it reads the Workload, too.
func JobSet(ctx context.Context, client kube.Interface, namespace, name string, jobs int, now time.Time) (input.JobSet, error) {
	in, err := jobSet(ctx, client, namespace, name, jobs, now)
	if err != nil || in.JobSet == nil || jobs >= in.JobSet.Wanted() {
		return in, err
	}
	in.Events, in.Gaps = ownerEvents(ctx, client, namespace, eventsOf("JobSet", name, in.JobSet.Metadata.UID))
	if of := (&batchv1.Job{ObjectMeta: in.JobSet.Metadata, Spec: batchv1.JobSpec{Suspend: &in.JobSet.Spec.Suspend}}); jobs == 0 && kueue.Manages(of) {
		if in.Workload, err = Workload(ctx, client, of); apierrors.IsForbidden(err) {
			in.Gaps = append(in.Gaps, GapOf(namespace, "list", kueue.Workloads, err))
		} else if err != nil {
			return in, err
		}
	}
	return in, ctx.Err()
}

// jobSet reads a JobSet without its events.
func jobSet(ctx context.Context, client kube.Interface, namespace, name string, jobs int, now time.Time) (input.JobSet, error) {
	in := input.JobSet{Now: now, Namespace: namespace, Name: name, Jobs: jobs}
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/apis", input.JobSetGroup, input.JobSetVersion, "namespaces", namespace, "jobsets", name).
		SetHeader("Accept", "application/json").DoRaw(ctx)
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		in.Gaps = append(in.Gaps, GapOf(namespace, "get", input.JobSets, err))
		return in, nil
	case apierrors.IsNotFound(err) && jobs > 0:
		return in, nil
	default:
		call := apicall.Call{Verb: "get", Group: input.JobSetGroup, Resource: "jobsets", Namespace: namespace, Name: name}
		return in, call.Wrap(err)
	}
	var object map[string]any
	if err := errors.Join(json.Unmarshal(text, &in.JobSet), json.Unmarshal(text, &object)); err != nil {
		return in, fmt.Errorf("reading JobSet %q: %w", name, err)
	}
	in.Dropped = input.Dropped(object)
	return in, nil
}
