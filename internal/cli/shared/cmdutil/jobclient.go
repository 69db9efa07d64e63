package cmdutil

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// NewJobSet returns a client for the chosen Jobs, and its configuration. Warnings of the API server are written to
// warnings.
func NewJobSet(kube *KubeFlags, choice JobChoice, warnings io.Writer) (*rest.Config, feed.JobSet, error) {
	set := feed.JobSet{Selector: choice.Selector, FieldSelector: choice.FieldSelector, Names: choice.Names}
	config, err := RESTConfig(kube, warnings)
	if err != nil {
		return nil, set, err
	}
	if !choice.AllNamespaces {
		if set.Namespace, err = KubeNamespace(kube); err != nil {
			return nil, set, err
		}
	}
	jobs, err := NewJobsClient(config)
	if err != nil {
		return nil, set, err
	}
	set.Client = jobs
	if set.Namespace != "" {
		set.Client = jobs.Namespace(set.Namespace)
	}
	return config, set, nil
}

// NewJobsClient returns a client that keeps all fields of Jobs as the server sent them.
func NewJobsClient(config *rest.Config) (dynamic.NamespaceableResourceInterface, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, ExplainConfigError(err)
	}
	return client.Resource(batchv1.SchemeGroupVersion.WithResource("jobs")), nil
}

// ReportNone prints that no Jobs were found; what names them.
func ReportNone(out io.Writer, what string, set feed.JobSet) {
	where, selector := "", ""
	if set.Namespace != "" {
		where = " in " + sanitize.Line(set.Namespace) + " namespace"
	}
	if set.Selector != "" {
		selector = " with labels " + sanitize.Line(set.Selector)
	}
	fmt.Fprintf(out, "No %s found%s%s.\n", what, where, selector)
}

// ToJob converts an object to a Job; fields that this program does not know are dropped.
func ToJob(object *unstructured.Unstructured) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job); err != nil {
		return nil, fmt.Errorf("reading Job %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return job, nil
}

// TemplateContainers returns the names of the containers in the Job's template; a webhook may add others to pods.
func TemplateContainers(job *batchv1.Job) []string {
	var names []string
	pod := &job.Spec.Template.Spec
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		names = append(names, container.Name)
	}
	return names
}

// IsAllowed asks the API server whether the user has the permission for a call.
func IsAllowed(ctx context.Context, client kube.Interface, call apicall.Call) (bool, error) {
	resource, subresource, _ := strings.Cut(call.Resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: call.Namespace, Verb: call.Verb, Group: call.Group, Resource: resource, Subresource: subresource,
		},
	}}
	answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

// IsDenied reports whether the user lacks the permission for a call. Without permission to ask, the attempt will show it.
func IsDenied(ctx context.Context, client kube.Interface, call apicall.Call) bool {
	allowed, err := IsAllowed(ctx, client, call)
	return err == nil && !allowed
}

// WhyCommand returns the command that explains a Job. It names the namespace unless that is the current one.
func WhyCommand(kube *KubeFlags, namespace, name string) string {
	command := "kubectl batchjob why " + name
	if current, err := KubeNamespace(kube); err == nil && current == namespace && kube.Overrides.Context.Namespace == "" {
		return command
	}
	return command + " -n " + namespace
}

// PodKinds maps the names of the resource pods to their kind, for SplitKinds.
func PodKinds() map[string]string { return map[string]string{"pod": "pod", "pods": "pod", "po": "pod"} }

// JobOfPod returns the name of the Job that controls a pod.
func JobOfPod(ctx context.Context, client kube.Interface, namespace, name string) (string, error) {
	call := apicall.Call{Verb: "get", Resource: "pods", Namespace: namespace, Name: name}
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err != nil:
		return "", call.Wrap(err)
	case observe.JobUID(pod) == "":
		return "", NewUserError(KindOther, nil, fmt.Sprintf("pod %q is not controlled by a Job", name),
			fmt.Sprintf("read its log with: kubectl logs %s -n %s", name, namespace))
	}
	return metav1.GetControllerOfNoCopy(pod).Name, nil
}
