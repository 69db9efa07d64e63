package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/pager"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// JobSet selects the Jobs that a verb works on: by Names, by Selector, or else all Jobs of the namespace. Objects are kept as
// the server sent them, because -o json must print fields that this program does not know.
type JobSet struct {
	Client    dynamic.ResourceInterface // client for Jobs of Namespace
	Namespace string                    // "" for all namespaces
	Selector  string
	// FieldSelector applies to a set without Names.
	FieldSelector string
	Names         []string
}

// Call returns the request for Jobs of the set; name is "" for a collection.
func (s JobSet) Call(verb, name string) apicall.Call {
	return apicall.Call{Verb: verb, Group: batchv1.GroupName, Resource: "jobs", Namespace: s.Namespace, Name: name}
}

// Options returns list options that select the set, and perhaps more Jobs.
func (s JobSet) Options() metav1.ListOptions {
	options := metav1.ListOptions{LabelSelector: s.Selector, FieldSelector: s.FieldSelector}
	if len(s.Names) == 1 {
		options.FieldSelector = "metadata.name=" + s.Names[0]
	}
	return options
}

func (s JobSet) contains(job *unstructured.Unstructured) bool {
	return len(s.Names) == 0 || slices.Contains(s.Names, job.GetName())
}

// Get reads one Job of the namespace.
func (s JobSet) Get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	job, err := s.Client.Get(ctx, name, metav1.GetOptions{})
	return job, s.Call("get", name).Wrap(err)
}

// GetAll gets the Jobs of Names, and returns the Jobs and the errors. It continues after NotFound, and stops at any other
// error, because the remaining names would fail with the same error.
func (s JobSet) GetAll(ctx context.Context) (jobs []*unstructured.Unstructured, failed []error) {
	for _, name := range s.Names {
		job, err := s.Get(ctx, name)
		if err == nil {
			jobs = append(jobs, job)
			continue
		}
		failed = append(failed, err)
		if !kube.IsNotFound(err) {
			break
		}
	}
	return jobs, failed
}

// List reads the Jobs in chunks, as kubectl does. It returns them sorted by namespace and name, and the resourceVersion to
// watch from.
func (s JobSet) List(ctx context.Context) ([]*unstructured.Unstructured, string, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return s.Client.List(ctx, options)
	})
	list, _, err := pages.List(ctx, s.Options())
	if err != nil {
		return nil, "", s.Call("list", "").Wrap(err)
	}
	var jobs []*unstructured.Unstructured
	err = meta.EachListItem(list, func(item runtime.Object) error {
		job, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected %T in the list of Jobs", item)
		}
		if s.contains(job) {
			jobs = append(jobs, job)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", fmt.Errorf("reading the list of Jobs: %w", err)
	}
	SortJobs(jobs)
	return jobs, listMeta.GetResourceVersion(), nil
}

// Missing returns, for each name that jobs lacks, the NotFound error that a get would return.
func (s JobSet) Missing(jobs []*unstructured.Unstructured) []error {
	var missing []error
	for _, name := range s.Names {
		if !slices.ContainsFunc(jobs, func(job *unstructured.Unstructured) bool { return job.GetName() == name }) {
			missing = append(missing, s.Call("get", name).Wrap(apierrors.NewNotFound(batchv1.Resource("jobs"), name)))
		}
	}
	return missing
}

// NamedJob decodes the known fields of a Job, and the names of its podFailurePolicy rules.
func NamedJob(object *unstructured.Unstructured) (*observe.NamedJob, error) {
	data, err := object.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("reading Job %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	job := &observe.NamedJob{}
	if err := json.Unmarshal(data, job); err != nil {
		return nil, fmt.Errorf("reading Job %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return job, nil
}
