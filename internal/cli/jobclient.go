package cli

import (
	"context"
	"fmt"
	"io"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// jobClient reads Jobs of one namespace, or of all for namespace "".
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
	every := client.Resource(batchv1.SchemeGroupVersion.WithResource("jobs"))
	if namespace == "" {
		return &jobClient{jobs: every, every: every}, nil
	}
	return &jobClient{namespace: namespace, jobs: every.Namespace(namespace), every: every}, nil
}

// set is the Jobs of the selector, or those of the names.
func (c *jobClient) set(selector string, names []string) feed.JobSet {
	return feed.JobSet{Client: c.jobs, Namespace: c.namespace, Selector: selector, Names: names}
}

func (c *jobClient) call(verb, name string) apicall.Call { return c.set("", nil).Call(verb, name) }

func (c *jobClient) get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	job, err := c.jobs.Get(ctx, name, metav1.GetOptions{})
	return job, c.call("get", name).Wrap(err)
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

// toJob reads the fields that this program knows.
func toJob(object *unstructured.Unstructured) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job); err != nil {
		return nil, fmt.Errorf("reading Job %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return job, nil
}
