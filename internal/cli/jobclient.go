package cli

import (
	"context"
	"fmt"
	"io"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// jobClient reads Jobs of one namespace, or of all for namespace "". Objects are kept as the server sent them, because
// fields that this program does not know must survive -o json.
type jobClient struct {
	namespace string
	jobs      dynamic.ResourceInterface
	every     dynamic.NamespaceableResourceInterface
}

func newJobClient(config *rest.Config, namespace string) (*jobClient, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, explainConfigError(err)
	}
	resource := client.Resource(batchv1.SchemeGroupVersion.WithResource("jobs"))
	return (&jobClient{every: resource}).in(namespace), nil
}

// in is the client for another namespace, or for all.
func (c *jobClient) in(namespace string) *jobClient {
	if namespace == "" {
		return &jobClient{jobs: c.every, every: c.every}
	}
	return &jobClient{namespace: namespace, jobs: c.every.Namespace(namespace), every: c.every}
}

func (c *jobClient) call(verb, name string) apiCall {
	return apiCall{verb: verb, group: batchv1.GroupName, resource: "jobs", namespace: c.namespace, name: name}
}

func (c *jobClient) get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	job, err := c.jobs.Get(ctx, name, metav1.GetOptions{})
	return job, c.call("get", name).wrap(err)
}

// getAll returns the Jobs that it gets, and an error for each that does not exist. Any other error would meet the
// remaining names as well, so it is the last.
func (c *jobClient) getAll(ctx context.Context, names []string) (jobs []*unstructured.Unstructured, failed []error) {
	for _, name := range names {
		job, err := c.get(ctx, name)
		if err == nil {
			jobs = append(jobs, job)
			continue
		}
		failed = append(failed, err)
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	return jobs, failed
}

// reportNone says that there are no Jobs.
func (c *jobClient) reportNone(out io.Writer) {
	if c.namespace == "" {
		fmt.Fprintln(out, "No jobs found.")
		return
	}
	fmt.Fprintf(out, "No jobs found in %s namespace.\n", sanitize.Line(c.namespace))
}

// notFound is the error of get for a Job that a list does not hold.
func (c *jobClient) notFound(name string) error {
	return c.call("get", name).wrap(apierrors.NewNotFound(batchv1.Resource("jobs"), name))
}

// list reads in chunks, as kubectl does, and returns the resourceVersion to watch from.
func (c *jobClient) list(ctx context.Context, options metav1.ListOptions) ([]*unstructured.Unstructured, string, error) {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.jobs.List(ctx, options)
	})
	list, _, err := pages.List(ctx, options)
	if err != nil {
		return nil, "", c.call("list", "").wrap(err)
	}
	var jobs []*unstructured.Unstructured
	err = meta.EachListItem(list, func(item runtime.Object) error {
		job, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("unexpected %T in the list of Jobs", item)
		}
		jobs = append(jobs, job)
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", fmt.Errorf("reading the list of Jobs: %w", err)
	}
	return jobs, listMeta.GetResourceVersion(), nil
}

// watch starts after resourceVersion. The server ends it after some minutes, and sends bookmarks.
func (c *jobClient) watch(ctx context.Context, options metav1.ListOptions, resourceVersion string) (watch.Interface, error) {
	seconds := int64(300)
	options.ResourceVersion = resourceVersion
	options.AllowWatchBookmarks = true
	options.TimeoutSeconds = &seconds
	w, err := c.jobs.Watch(ctx, options)
	return w, c.call("watch", "").wrap(err)
}

// toJob reads the fields that this program knows.
func toJob(object *unstructured.Unstructured) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job); err != nil {
		return nil, fmt.Errorf("reading Job %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return job, nil
}
