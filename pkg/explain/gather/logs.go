package gather

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// logs reads the last lines of the containers that tell most, until one cannot be read.
func (r *reading) logs(ctx context.Context) {
	if r.options.LogLines <= 0 {
		return
	}
	for _, target := range explain.LogTargets(r.facts, r.options.Report, maxLogs) {
		lines, err := r.tail(ctx, target)
		switch {
		case apierrors.IsForbidden(err):
			r.gap("get", "pods/log", err)
			return
		case err != nil:
			r.facts.Gaps = append(r.facts.Gaps, explain.Gap{What: "logs", Text: fmt.Sprintf("the log of pod %s could not be read: %s", target.Pod, r.whyNoLog(target, err))})
			return
		case len(lines) > 0:
			r.facts.Logs = append(r.facts.Logs, explain.LogTail{Pod: target.Pod, Container: target.Container, Lines: lines})
		}
	}
}

// whyNoLog shortens what the API server says when it cannot reach the kubelet, which has
// the log.
func (r *reading) whyNoLog(t explain.LogTarget, err error) string {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status):
		return err.Error()
	case apierrors.IsNotFound(err):
		return "it is gone"
	case status.Status().Code == http.StatusInternalServerError && strings.Contains(status.Status().Message, "/containerLogs/"):
		for i := range r.facts.Pods {
			if r.facts.Pods[i].Name == t.Pod {
				return fmt.Sprintf("its node, %s, does not answer", r.facts.Pods[i].Node)
			}
		}
	}
	return status.Status().Message
}

func (r *reading) tail(ctx context.Context, t explain.LogTarget) ([]string, error) {
	stream, err := r.client.CoreV1().Pods(r.facts.Job.Namespace).GetLogs(t.Pod, &corev1.PodLogOptions{
		Container: t.Container, Previous: t.Previous, TailLines: &r.options.LogLines,
	}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	data, err := io.ReadAll(io.LimitReader(stream, readBytes))
	if err != nil {
		return nil, err
	}
	data = data[max(0, len(data)-logBytes):] // The end says most.
	text := strings.TrimRight(string(data), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}
