package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

var (
	anyManager     = regexp.MustCompile(`"managedBy":"[^"]*"`)
	perIndexLimits = regexp.MustCompile(`"(backoffLimitPerIndex|maxFailedIndexes)":\d+,`)
)

// ignoresManagedBy makes the controller reconcile the Jobs of all other controllers, too.
func ignoresManagedBy(next http.RoundTripper, managedBy string, _ kubernetes.Interface) http.RoundTripper {
	return reader{next, func(line []byte) []byte { return anyManager.ReplaceAll(line, []byte(`"managedBy":"`+managedBy+`"`)) }}
}

// ignoresPerIndexLimits hides backoffLimitPerIndex and maxFailedIndexes from the controller.
func ignoresPerIndexLimits(next http.RoundTripper, _ string, _ kubernetes.Interface) http.RoundTripper {
	return reader{next, func(line []byte) []byte { return perIndexLimits.ReplaceAll(line, nil) }}
}

// reader changes each line of the responses about Jobs: a list, or the events of a watch.
type reader struct {
	next   http.RoundTripper
	change func([]byte) []byte
}

func (r reader) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.Path, "/jobs") || response.StatusCode >= http.StatusBadRequest {
		return response, err
	}
	response.Header.Del("Content-Length")
	response.ContentLength = -1
	response.Body = &lines{body: response.Body, source: bufio.NewReader(response.Body), change: r.change}
	return response, nil
}

// lines is a response body whose lines are changed.
type lines struct {
	body   io.Closer
	source *bufio.Reader
	change func([]byte) []byte
	ready  bytes.Buffer
}

func (l *lines) Read(p []byte) (int, error) {
	if l.ready.Len() == 0 {
		line, err := l.source.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return 0, err
		}
		l.ready.Write(l.change(line))
	}
	return l.ready.Read(p)
}

func (l *lines) Close() error { return l.body.Close() }

// releasesEarly removes the finalizer of ended pods before their end is recorded.
func releasesEarly(next http.RoundTripper, _ string, client kubernetes.Interface) http.RoundTripper {
	return early{next, client}
}

type early struct {
	next   http.RoundTripper
	client kubernetes.Interface
}

func (e early) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPut || !strings.HasSuffix(request.URL.Path, "/status") {
		return e.next.RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	job := &batchv1.Job{}
	if err := json.Unmarshal(body, job); err != nil {
		return nil, fmt.Errorf("reading a status: %w", err)
	}
	if err := e.release(request.Context(), job); err != nil {
		return nil, err
	}
	return e.next.RoundTrip(request)
}

// release removes the finalizer of the pods that the status is about to record.
func (e early) release(ctx context.Context, job *batchv1.Job) error {
	u := job.Status.UncountedTerminatedPods
	if u == nil || len(u.Succeeded)+len(u.Failed) == 0 {
		return nil
	}
	recorded := slices.Concat(u.Succeeded, u.Failed)
	pods, err := e.client.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if !slices.Contains(recorded, pod.UID) || !slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			continue
		}
		if err := e.removeFinalizer(ctx, &pod); err != nil {
			return err
		}
	}
	return nil
}

func (e early) removeFinalizer(ctx context.Context, pod *corev1.Pod) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, pod.UID, batchv1.JobTrackingFinalizer)
	_, err := e.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
