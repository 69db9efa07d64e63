package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// completedPods is the maximum number of pods that the shell offers.
const completedPods = 100

// loggedJob is a Job whose logs are printed, as at the start.
type loggedJob struct {
	*batchv1.Job
	o       *Options
	pods    feed.PodSet
	unknown []string // names of --container that are not in its template
}

func newLoggedJob(o *Options, job *batchv1.Job) *loggedJob {
	j := &loggedJob{Job: job, o: o, pods: feed.PodSet{Client: o.client, Job: job}}
	if len(o.options.Pods) == 0 && labelsIndexes(job) {
		j.pods.Indexes = o.options.Indexes
	}
	names := cmdutil.TemplateContainers(job)
	for _, name := range o.options.Containers {
		if !slices.Contains(names, name) {
			j.unknown = append(j.unknown, name)
		}
	}
	return j
}

// labelsIndexes reports whether all pods of the Job have a label with their index: the built-in controller and ours
// set it; other controllers, and clients that create pods for adoption, may not.
func labelsIndexes(job *batchv1.Job) bool {
	by := ptr.Deref(job.Spec.ManagedBy, batchv1.JobControllerName)
	return !ptr.Deref(job.Spec.ManualSelector, false) && (by == batchv1.JobControllerName || by == controller.DefaultManagedBy)
}

// label names the Job in notices.
func (j *loggedJob) label() string { return "job.batch/" + j.Name }

// check checks the flags against the Job.
func (j *loggedJob) check() error {
	indexes := j.o.options.Indexes
	if indexes == nil {
		return nil
	}
	if jobspec.CompletionMode(&j.Spec) != batchv1.IndexedCompletion {
		return cmdutil.UsageErrorf("--index requires an Indexed Job, and %s is not one", j.label())
	}
	if n := j.Spec.Completions; n != nil {
		if beyond := indexes.Difference(indexset.Below(*n)); !beyond.IsEmpty() {
			return cmdutil.UsageErrorf("--index: %s has indexes 0-%d, not %s", j.label(), *n-1, wording.Crop(beyond.String(), jobprinter.IndexesLimit, "…"))
		}
	}
	return nil
}

// hasSeveralContainers reports whether the flags select more than one container of the template.
func (j *loggedJob) hasSeveralContainers() bool {
	n, chosen := 0, j.o.options.Containers
	for _, name := range cmdutil.TemplateContainers(j.Job) {
		if slices.Contains(chosen, name) || (j.o.options.AllContainers && len(chosen) == 0) {
			n++
		}
	}
	return n > 1
}

// unknownContainers returns an error for each Job whose template lacks a container of --container.
func (o *Options) unknownContainers() error {
	var failed []error
	for _, j := range o.jobs {
		if len(j.unknown) > 0 {
			failed = append(failed, cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("no pod of %s has a container %s", j.label(), strings.Join(j.unknown, ", ")),
				"its pod template has: "+strings.Join(cmdutil.TemplateContainers(j.Job), ", ")))
		}
	}
	return errors.Join(failed...)
}

// chosen reads the Jobs that are named or selected, or the Jobs of the named pods. It returns an error for each Job
// or pod that it cannot read.
func (o *Options) chosen(ctx context.Context) (jobs []*unstructured.Unstructured, failed []error) {
	if o.Selector != "" {
		jobs, _, err := o.set.List(ctx)
		return jobs, cmdutil.Flatten(err)
	}
	o.options.Pods = slices.DeleteFunc(o.options.Pods, func(pod string) bool {
		job, err := cmdutil.JobOfPod(ctx, o.client, o.set.Namespace, pod)
		if err != nil {
			failed = append(failed, err)
		} else if !slices.Contains(o.set.Names, job) {
			o.set.Names = append(o.set.Names, job)
		}
		return err != nil
	})
	jobs, missing := o.set.GetAll(ctx)
	return jobs, append(failed, o.explainer.ExplainMissing(ctx, missing)...)
}

// podQuery returns the query for pods of Jobs, the zero value for other resources.
func podQuery(resource string) cmdutil.ObjectQuery {
	if cmdutil.PodKinds()[resource] == "" {
		return cmdutil.ObjectQuery{}
	}
	return cmdutil.ObjectQuery{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: batchv1.JobNameLabel, Limit: completedPods}
}
