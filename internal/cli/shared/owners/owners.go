// Package owners finds the Jobs of a CronJob or JobSet, and reads CronJobs.
package owners

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// jobSetLabel is on every Job of a JobSet.
const jobSetLabel = "jobset.sigs.k8s.io/jobset-name"

// Owner names an object that owns Jobs.
type Owner struct{ Kind, Name string }

// groups returns the API groups of the kinds.
func groups() map[string]string {
	return map[string]string{"CronJob": batchv1.GroupName, "JobSet": "jobset.x-k8s.io"}
}

// Split separates arguments such as cronjob/NAME from the others; kinds are the resource names with their kinds.
func Split(args []string, kinds map[string]string) (owners []Owner, rest []string, err error) {
	rest, err = cmdutil.SplitKinds(args, kinds, func(kind, name string) {
		if o := (Owner{kind, name}); !slices.Contains(owners, o) {
			owners = append(owners, o)
		}
	})
	return owners, rest, err
}

// Owns reports whether the Job belongs to the owner: by its owner references, or for a JobSet also by its label.
func (o Owner) Owns(job *unstructured.Unstructured) bool {
	if c := input.OwnerOf(job); c != nil && c.Kind == o.Kind && c.Name == o.Name {
		group, _, _ := strings.Cut(c.APIVersion, "/")
		return group == groups()[o.Kind]
	}
	return o.Kind == "JobSet" && job.GetLabels()[jobSetLabel] == o.Name
}

// JobsIn returns the Jobs in all that belong to the owner.
func (o Owner) JobsIn(all []*unstructured.Unstructured) (jobs []*unstructured.Unstructured) {
	for _, job := range all {
		if o.Owns(job) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// CronJob reads the CronJob of these Jobs. Without Jobs, it returns an error if the CronJob does not exist or may not be
// read.
func CronJob(ctx context.Context, e *cmdutil.Explainer, set feed.JobSet, name string, jobs []*unstructured.Unstructured) (input.CronJob, error) {
	owned := make([]input.OwnedJob, len(jobs))
	for i, job := range jobs {
		owned[i] = input.OwnedJob{
			Name: job.GetName(), Created: job.GetCreationTimestamp().Time, Spec: podSpecOf(job),
			Scheduled: input.ScheduledFor(job), Manual: input.IsManual(job), Uncontrolled: metav1.GetControllerOfNoCopy(job) == nil,
		}
	}
	in, err := e.CronJob(ctx, set.Namespace, name, owned)
	switch {
	case err != nil || len(jobs) > 0 || in.CronJob != nil:
		return in, err
	case len(in.Gaps) == 0:
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: set.Namespace, Name: name}
		return in, call.Wrap(apierrors.NewNotFound(batchv1.Resource("cronjobs"), name))
	}
	hint := "why, and whether it exists, could not be read"
	if command := in.Gaps[0].Command; command != "" {
		hint += " for lack of a permission: " + command
	}
	return in, Owner{"CronJob", name}.noJobs(set, hint)
}

// podSpecOf returns the spec of a Job's pods, nil if it cannot be read.
func podSpecOf(job *unstructured.Unstructured) *corev1.PodSpec {
	spec := &corev1.PodSpec{}
	fields, found, err := unstructured.NestedMap(job.Object, "spec", "template", "spec")
	if !found || err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(fields, spec) != nil {
		return nil
	}
	return spec
}

// WhyNoJobs returns the error for an owner without Jobs whose kind this program has no client for.
func (o Owner) WhyNoJobs(set feed.JobSet) error {
	return o.noJobs(set, fmt.Sprintf("check whether it exists, and what its events say: kubectl describe %s %s -n %s", strings.ToLower(o.Kind), explain.ShellWord(o.Name), set.Namespace))
}

func (o Owner) noJobs(set feed.JobSet, hint string) error {
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s %q has no Jobs %s", o.Kind, o.Name, set.Call("list", "").Where()), hint)
}
