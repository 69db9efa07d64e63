package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// OpenLog returns a function that opens container logs in a namespace.
func OpenLog(client kube.Interface, namespace string) func(context.Context, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error) {
		body, err := client.CoreV1().Pods(namespace).GetLogs(pod, request).Stream(ctx)
		return body, apicall.Call{Verb: "get", Resource: "pods/log", Namespace: namespace, Name: pod}.Wrap(err)
	}
}

// LogErrorLine returns one line that says why the log of a pod on the node cannot be read, without a hint.
func LogErrorLine(node string, err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ErrorLine(err)
	}
	if cause := gather.KubeletFailure(err); cause != "" {
		return OneLine(fmt.Sprintf("%s (%s)", gather.WhyNoLog(node, err), cause))
	}
	return OneLine(gather.WhyNoLog(node, err))
}

// maxNodes is the maximum number of nodes that are read.
const maxNodes = 100

// SimulatedNodes returns a function that reports whether kwok simulates a node. It reads each node once; a node that
// cannot be read counts as real.
func SimulatedNodes(ctx context.Context, client kube.Interface) func(node string) bool {
	known := map[string]bool{}
	return func(name string) bool {
		if _, is := known[name]; !is && len(known) < maxNodes {
			known[name] = gather.IsSimulated(ctx, client, name)
		}
		return known[name]
	}
}
