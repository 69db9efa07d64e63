package logs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func testNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// testPod returns a pod with one container, which runs or has ended, depending on the phase.
func testPod(name string, index int, phase corev1.PodPhase) *Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(testNow()),
		Annotations: map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(index)},
	}}
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	pod.Status.Phase = phase
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	switch phase {
	case corev1.PodPending:
		state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	case corev1.PodFailed:
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
	return NewPod(pod)
}

func serverError(code int, message string) error {
	return apierrors.NewGenericServerResponse(code, "get", corev1.Resource("pods"), "", message, 0, false)
}

// fakeLogs is a server with scripted logs.
type fakeLogs struct {
	mu       sync.Mutex
	answers  map[string][]answer // by pod: one answer for each request; the last one is repeated
	requests []*corev1.PodLogOptions
	open     int
	most     int // the highest number of logs open at a time
}

// answer is a text that ends with err, or with io.EOF if err is nil; or a refusal.
type answer struct {
	text    string
	err     error
	refused error
	hold    <-chan struct{} // if set, the text ends when hold is closed
}

func (f *fakeLogs) request(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, request)
	answers := f.answers[pod]
	if len(answers) == 0 {
		return nil, serverError(http.StatusNotFound, "no log")
	}
	if len(answers) > 1 {
		f.answers[pod] = answers[1:]
	}
	if answers[0].refused != nil {
		return nil, answers[0].refused
	}
	f.open++
	f.most = max(f.most, f.open)
	return &fakeBody{ctx: ctx, logs: f, Reader: strings.NewReader(answers[0].text), answer: answers[0]}, nil
}

type fakeBody struct {
	io.Reader
	ctx    context.Context
	logs   *fakeLogs
	answer answer
}

func (b *fakeBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	if b.answer.hold != nil {
		select {
		case <-b.answer.hold:
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
	}
	if b.answer.err != nil {
		return 0, b.answer.err
	}
	return 0, io.EOF
}

func (b *fakeBody) Close() error {
	b.logs.mu.Lock()
	defer b.logs.mu.Unlock()
	b.logs.open--
	return nil
}

// fakeConnection retries at once.
type fakeConnection struct{}

func (fakeConnection) Connected() {}
func (fakeConnection) Received()  {}

func (fakeConnection) AwaitRetry(ctx context.Context, failure error, news <-chan struct{}) error {
	if failure == nil && news != nil {
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// options returns Options that read all logs of the server.
func (f *fakeLogs) options() Options {
	return Options{
		Selection: Selection{AllContainers: true}, TailLines: -1, Concurrency: 2, Open: f.request, Now: testNow,
		Connect: func() Connection { return fakeConnection{} },
	}
}

// fakeOutput records the output.
type fakeOutput struct {
	mu         sync.Mutex
	listings   []Listing
	lines      []string
	unreadable []string
	interrupts []string
	fail       error // returned by Line
}

func (o *fakeOutput) OnListing(listing Listing) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listings = append(o.listings, listing)
	return nil
}

func (o *fakeOutput) OnLine(source Source, line Line) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, source.Pod.Name+": "+string(line.Text))
	return o.fail
}

func (o *fakeOutput) OnInterrupted(source Source, failure error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.interrupts = append(o.interrupts, fmt.Sprintf("%s: %v", source.Pod.Name, failure))
}

func (o *fakeOutput) OnUnreadable(failure *UnreadableError) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unreadable = append(o.unreadable, failure.Error())
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	assert.Equal(t, strings.Join(got, "\n"), strings.Join(want, "\n"), what)
}
