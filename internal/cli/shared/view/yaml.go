package view

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/printer"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// YAML reads a Job, or a pod of it, with all fields that the server sends except managedFields.
func (v *Live) YAML(ctx context.Context, job types.NamespacedName, pod string) (string, error) {
	client, err := dynamic.NewForConfig(v.retrier.config)
	if err != nil {
		return "", err
	}
	resource, name := batchv1.SchemeGroupVersion.WithResource("jobs"), job.Name
	if pod != "" {
		resource, name = corev1.SchemeGroupVersion.WithResource("pods"), pod
	}
	object, err := client.Resource(resource).Namespace(job.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		call := apicall.Call{Verb: "get", Resource: resource.Resource, Namespace: job.Namespace, Name: name}
		return "", errors.New(cmdutil.ErrorLine(call.Wrap(err)))
	}
	object.SetManagedFields(nil)
	text, err := printer.YAML(object.Object)
	return string(text), err
}
