package cmdutil

import (
	"context"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
)

// OpenLog requests logs of a namespace.
func OpenLog(client kubernetes.Interface, namespace string) func(context.Context, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error) {
		body, err := client.CoreV1().Pods(namespace).GetLogs(pod, request).Stream(ctx)
		return body, apicall.Call{Verb: "get", Resource: "pods/log", Namespace: namespace, Name: pod}.Wrap(err)
	}
}

// LogErrorLine is what went wrong with a log, without what to do about it.
func LogErrorLine(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return OneLine(status.Status().Message)
	}
	return OneLine(ExplainError(err).Error())
}
