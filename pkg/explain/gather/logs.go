package gather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// simulatedNode is the annotation of nodes that kwok simulates.
const simulatedNode = "kwok.x-k8s.io/node"

// IsSimulated reports whether kwok simulates a node, so that its pods have no logs. A node that cannot be read counts as real.
func IsSimulated(ctx context.Context, client kube.Interface, node string) bool {
	found, err := client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	return err == nil && found.Annotations[simulatedNode] != ""
}

// LogGap describes the log that could not be read, and why; it returns nil for a pod on a simulated node. It finds the log's
// node in pods.
func LogGap(ctx context.Context, client kube.Interface, namespace string, pods []*input.Pod, t input.LogTarget, err error) *input.Gap {
	if apierrors.IsForbidden(err) {
		gap := GapOf(namespace, "get", "pods/log", err)
		return &gap
	}
	node := ""
	if p := input.PodNamed(pods, t.Pod); p != nil {
		node = p.Node
	}
	if KubeletFailure(err) != "" && node != "" && IsSimulated(ctx, client, node) {
		return nil
	}
	return &input.Gap{What: "logs", Text: fmt.Sprintf("the log of pod %s could not be read: %s", t.Pod, WhyNoLog(node, err))}
}

// WhyNoLog shortens the API server's message when it cannot reach the kubelet that serves the log. node is "" if it is
// unknown.
func WhyNoLog(node string, err error) string {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status):
		return err.Error()
	case kube.IsNotFound(err) && (status.Status().Details == nil || status.Status().Details.Kind != "pods/log"): // the API server's
		return "it is gone"
	case KubeletFailure(err) != "" && node != "":
		return fmt.Sprintf("the kubelet of node %s cannot be reached", node)
	case kube.IsNotFound(err):
		return wording.Join(" of node ", "the kubelet", node) + " does not have it"
	}
	message, _, _ := strings.Cut(status.Status().Message, " ( pods/log ") // what a client adds to an answer without a message
	return message
}

// KubeletFailure returns the reason why the API server could not reach the kubelet that serves a log, "" for any other error.
// The API server passes on its HTTP client's error (a url.Error) unchanged: Get "https://NODE:10250/containerLogs/…": dial
// tcp …
func KubeletFailure(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError {
		return ""
	}
	request, cause, _ := strings.Cut(status.Status().Message, `": `)
	if !strings.Contains(request, "/containerLogs/") {
		return ""
	}
	return cause
}

// searched is how many lines from the end of a log are searched for the error: its stack trace may be longer than what is kept.
const searched = 100

// Tail reads the last count lines of a log, or those that begin with the error before its stack trace (meaning.Tail).
func Tail(ctx context.Context, client kube.Interface, namespace string, t input.LogTarget, count int64) (input.LogTail, error) {
	tail := input.LogTail{Pod: t.Pod, Container: t.Container}
	stream, err := client.CoreV1().Pods(namespace).GetLogs(t.Pod, &corev1.PodLogOptions{
		Container: t.Container, Previous: t.Previous, TailLines: ptr.To(max(count, searched)), Timestamps: t.Output,
	}).Stream(ctx)
	if err != nil {
		return tail, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	data, err := io.ReadAll(io.LimitReader(stream, readBytes))
	if err != nil {
		return tail, err
	}
	data = data[max(0, len(data)-logBytes):] // The end is the most informative part.
	if text := strings.TrimRight(string(data), "\n"); text != "" {
		lines := strings.Split(text, "\n")
		var last time.Time
		for i := range lines {
			if t.Output {
				last, lines[i] = cutTime(lines[i])
			}
		}
		for len(lines) > 1 && lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		tail = input.NewLogTail(t.Pod, t.Container, lines, int(count), len(data) < logBytes && int64(len(lines)) < max(count, searched))
		tail.LastAt = last
	}
	return tail, nil
}

// cutTime returns the time at which a container printed a line, as the kubelet puts it before the line, and the line.
func cutTime(line string) (time.Time, string) {
	stamp, rest, _ := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return at, line
	}
	return at, rest
}
