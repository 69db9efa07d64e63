package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// jobSetLabel is on every Job of a JobSet.
const jobSetLabel = "jobset.sigs.k8s.io/jobset-name"

// instantiateAnnotation is on Jobs that kubectl create job --from creates.
const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// jobOwner names an object whose Jobs are explained.
type jobOwner struct{ kind, name string }

// ownerGroups returns the API groups of the kinds.
func ownerGroups() map[string]string {
	return map[string]string{"CronJob": batchv1.GroupName, "JobSet": "jobset.x-k8s.io"}
}

// splitOwnerArgs separates arguments such as cronjob/NAME from the others.
func splitOwnerArgs(args []string) (owners []jobOwner, rest []string, err error) {
	rest, err = cmdutil.SplitKinds(args, cmdutil.OwnerKinds(), func(kind, name string) {
		if o := (jobOwner{kind, name}); !slices.Contains(owners, o) {
			owners = append(owners, o)
		}
	})
	return owners, rest, err
}

// owns reports whether the Job belongs to the owner: by its controller reference, or for a JobSet also by its label.
func (o jobOwner) owns(job *unstructured.Unstructured) bool {
	if c := metav1.GetControllerOf(job); c != nil && c.Kind == o.kind && c.Name == o.name {
		group, _, _ := strings.Cut(c.APIVersion, "/")
		return group == ownerGroups()[o.kind]
	}
	return o.kind == "JobSet" && job.GetLabels()[jobSetLabel] == o.name
}

// ofOwner returns the Jobs in all that belong to the owner.
func ofOwner(all []*unstructured.Unstructured, owner jobOwner) (jobs []*unstructured.Unstructured) {
	for _, job := range all {
		if owner.owns(job) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// readCronJob reads the CronJob of these Jobs. Without Jobs, it returns an error if the CronJob does not exist or may
// not be read.
func (o *Options) readCronJob(ctx context.Context, name string, jobs []*unstructured.Unstructured) (input.CronJob, error) {
	owned := make([]input.OwnedJob, len(jobs))
	for i, job := range jobs {
		_, manual := job.GetAnnotations()[instantiateAnnotation]
		owned[i] = input.OwnedJob{Name: job.GetName(), Created: job.GetCreationTimestamp().Time, Manual: manual}
	}
	in, err := o.explainer.CronJob(ctx, o.set.Namespace, name, owned)
	switch {
	case err != nil || len(jobs) > 0 || in.CronJob != nil:
		return in, err
	case len(in.Gaps) == 0:
		call := apicall.Call{Verb: "get", Group: batchv1.GroupName, Resource: "cronjobs", Namespace: o.set.Namespace, Name: name}
		return in, call.Wrap(apierrors.NewNotFound(batchv1.Resource("cronjobs"), name))
	}
	hint := "why, and whether it exists, could not be read"
	if command := in.Gaps[0].Command; command != "" {
		hint += " for lack of a permission: " + command
	}
	return in, cmdutil.NewUserError(cmdutil.KindNotFound, nil, o.noJobs(jobOwner{"CronJob", name}), hint)
}

// whyNoJobs returns the error for an owner without Jobs whose kind this program has no client for.
func (o *Options) whyNoJobs(owner jobOwner) error {
	return cmdutil.NewUserError(cmdutil.KindNotFound, nil, o.noJobs(owner),
		fmt.Sprintf("check whether it exists, and what its events say: kubectl describe %s %s -n %s", strings.ToLower(owner.kind), explain.ShellWord(owner.name), o.set.Namespace))
}

func (o *Options) noJobs(owner jobOwner) string {
	return fmt.Sprintf("%s %q has no Jobs %s", owner.kind, owner.name, o.set.Call("list", "").Where())
}
