package cli

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// jobSet is the Jobs that a verb looks at: those that names or a selector choose, else all of the client's namespace.
type jobSet struct {
	client   *jobClient
	selector string
	names    []string
}

func (s jobSet) options() metav1.ListOptions {
	options := metav1.ListOptions{LabelSelector: s.selector}
	if len(s.names) == 1 {
		options.FieldSelector = "metadata.name=" + s.names[0]
	}
	return options
}

func (s jobSet) wants(job *unstructured.Unstructured) bool {
	return len(s.names) == 0 || slices.Contains(s.names, job.GetName())
}

// list returns the Jobs, by namespace and name, and the resourceVersion to watch from.
func (s jobSet) list(ctx context.Context) ([]*unstructured.Unstructured, string, error) {
	jobs, version, err := s.client.list(ctx, s.options())
	if err != nil {
		return nil, "", err
	}
	jobs = slices.DeleteFunc(jobs, func(job *unstructured.Unstructured) bool { return !s.wants(job) })
	sortJobs(jobs)
	return jobs, version, nil
}

// missing returns an error for each name that jobs lacks.
func (s jobSet) missing(jobs []*unstructured.Unstructured) []error {
	var missing []error
	for _, name := range s.names {
		if !slices.ContainsFunc(jobs, func(job *unstructured.Unstructured) bool { return job.GetName() == name }) {
			missing = append(missing, s.client.notFound(name))
		}
	}
	return missing
}

// jobSink is told what becomes of Jobs. An error ends the watch.
type jobSink interface {
	// reconcile takes all Jobs that there are.
	reconcile(jobs []*unstructured.Unstructured) error
	// changed takes Jobs that are new or have changed.
	changed(jobs ...*unstructured.Unstructured) error
	// removed takes a Job that is gone, as it was last.
	removed(job *unstructured.Unstructured) error
}

// watchedJobs tells a sink of a set of Jobs.
type watchedJobs struct {
	set  jobSet
	sink jobSink
}

func (w watchedJobs) list(ctx context.Context) (string, error) {
	jobs, version, err := w.set.list(ctx)
	if err != nil {
		return "", err
	}
	return version, final(w.sink.reconcile(jobs))
}

func (w watchedJobs) watch(ctx context.Context, version string) (watch.Interface, error) {
	return w.set.client.watch(ctx, w.set.options(), version)
}

func (w watchedJobs) watchCall() apiCall { return w.set.client.call("watch", "") }

func (w watchedJobs) event(kind watch.EventType, object runtime.Object) error {
	job, ok := object.(*unstructured.Unstructured)
	switch {
	case !ok:
		return fmt.Errorf("unexpected %T in the watch of Jobs", object)
	case !w.set.wants(job):
		return nil
	case kind == watch.Deleted:
		return final(w.sink.removed(job))
	}
	return final(w.sink.changed(job))
}
