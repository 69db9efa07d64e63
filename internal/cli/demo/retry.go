package demo

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/internal/printer"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
)

// ofRetry is added to the positions of a retry's pods, so that scripts know them from those of the first Job.
const ofRetry = 100

// IsAllowed implements screen.Retrier.
func (s *Source) IsAllowed(context.Context, string) bool { return true }

// Find implements screen.Retrier: retries are planned as in a cluster.
func (s *Source) Find(_ context.Context, key types.NamespacedName) (*screen.Retryable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.world.Store.Job(key.Name)
	if job == nil {
		return nil, fmt.Errorf("job %s is gone", key.Name)
	}
	object, err := objectOf(job, "batch/v1", "Job")
	if err != nil {
		return nil, err
	}
	found := &rerun.Candidate{Object: object, Job: job, Family: s.family(job)}
	return view.NewRetryable(found, func(_ context.Context, plan *retry.Plan, replaces bool) error {
		return s.retry(job, plan, replaces)
	}), nil
}

// family returns a Job and its retries.
func (s *Source) family(job *batchv1.Job) retry.Family {
	var all []*batchv1.Job
	for _, name := range s.jobs {
		all = append(all, s.world.Store.Job(name))
	}
	return retry.FamilyOf(job, all)
}

// retry creates the Job of a plan, whose pods follow the script of the first Job.
func (s *Source) retry(old *batchv1.Job, plan *retry.Plan, replaces bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, err := cmdutil.ToJob(plan.Object)
	if err != nil {
		return err
	}
	of := s.scripts[retry.RootOf(old)]
	if err := s.world.Play(job, behavior(func(pod sim.PodKey) sim.Act {
		pod.Nth += ofRetry
		return of.behavior(pod)
	})); err != nil {
		return err
	}
	s.jobs, s.scripts[job.Name] = append(s.jobs, job.Name), of
	slices.Sort(s.jobs)
	if plan.Steps != nil {
		err = s.limit(job.Name, plan.Steps)
	}
	if err == nil && replaces {
		err = s.world.Store.DeleteJob(old.Name, metav1.DeletePropagationBackground)
		s.jobs = slices.DeleteFunc(s.jobs, func(name string) bool { return name == old.Name })
	}
	return err
}

// limit makes a retry run only its indexes.
func (s *Source) limit(name string, steps *retry.Steps) error {
	job := s.world.Store.Job(name)
	job.Status.CompletedIndexes, job.Status.Succeeded = steps.Completed.String(), int32(steps.Completed.Len())
	job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	if _, err := s.world.Store.UpdateJobStatus(job); err != nil {
		return err
	}
	_, err := s.world.Store.EditJob(name, func(job *batchv1.Job) {
		delete(job.Annotations, retry.PendingAnnotation)
		job.Spec.Parallelism, job.Spec.Suspend = ptr.To(steps.Parallelism), ptr.To(false)
	})
	return err
}

// YAML is a screen.ReadYAML.
func (s *Source) YAML(_ context.Context, key types.NamespacedName, pod string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, kind, stored := "batch/v1", "Job", any(s.world.Store.Job(key.Name))
	if pod != "" {
		version, kind, stored = "v1", "Pod", s.world.Store.Pod(pod)
	}
	object, err := objectOf(stored, version, kind)
	if err != nil {
		return "", err
	}
	text, err := printer.YAML(object.Object)
	return string(text), err
}

// objectOf returns an object as an API server sends it.
func objectOf(stored any, version, kind string) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	return object, nil
}
