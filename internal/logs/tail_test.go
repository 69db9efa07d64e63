package logs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// tail returns a Tail of the only log of a pod; it ends when the server ends it.
func (f *fakeLogs) tail(pod *Pod, out *fakeOutput) *Tail {
	source := Source{Pod: pod, Container: "main"}
	return &Tail{
		Options: f.options(), Source: source, PodChanged: make(chan struct{}),
		HasEnded: func() bool { return source.HasEnded(pod) },
		OnLine:   func(line Line) error { return out.OnLine(source, line) },

		OnInterrupted: func(failure error) { out.OnInterrupted(source, failure) },
	}
}

const (
	second = "2026-03-01T12:00:01Z "
	later  = "2026-03-01T12:00:01.5Z "
)

func TestTailNeitherRepeatsNorMissesALine(t *testing.T) {
	server := &fakeLogs{answers: map[string][]answer{"a": {
		{text: second + "one\n" + second + "two\n" + later + "thr", err: io.ErrUnexpectedEOF},
		{refused: serverError(http.StatusServiceUnavailable, "starting")},
		{text: second + "one\n" + second + "two\n" + second + "also\n" + later + "three\n" + later + "four"},
	}}}
	out := &fakeOutput{}
	pod := testPod("a", 0, corev1.PodRunning)
	tail := server.tail(pod, out)
	tail.Options.TailLines = 10
	tail.HasEnded = func() bool { return len(server.requests) >= 2 }
	assert.NoError(t, tail.Run(t.Context()))
	expect(t, "lines", out.lines, "a: one", "a: two", "a: also", "a: three", "a: four")
	first, last := server.requests[0], server.requests[2]
	if *first.TailLines != 10 || first.SinceTime != nil || !first.Timestamps || !first.Follow {
		t.Errorf("the first request: %+v", first)
	}
	if last.TailLines != nil || !last.SinceTime.Time.Equal(testNow().Add(1e9)) {
		t.Errorf("the last request: %+v", last)
	}
}

// The last line of a run needs no newline, whether the container runs again, with or without output, or its log is gone. A
// lost connection may leave a part of a line; the part is not printed if the whole line arrives, and without its whole
// timestamp it is no line.
func TestTailPrintsTheUnfinishedLineOfEachRun(t *testing.T) {
	const evenLater = "2026-03-01T12:00:02Z "
	gone := answer{refused: serverError(http.StatusNotFound, "it is gone")}
	for name, c := range map[string]struct {
		answers []answer
		want    []string
	}{
		"restarted":         {[]answer{{text: second + "one\n" + later + "panic"}, {text: evenLater + "again\n"}}, []string{"a: one", "a: panic", "a: again"}},
		"read twice":        {[]answer{{text: second + "panic"}, {text: second + "panic"}, {text: evenLater + "panic"}, {}}, []string{"a: panic", "a: panic"}},
		"no further output": {[]answer{{text: second + "panic"}, {}}, []string{"a: panic"}},
		"gone":              {[]answer{{text: second + "panic"}, gone}, []string{"a: panic"}},
		"lost connection":   {[]answer{{text: second + "pan"}, {text: second + "panic\n"}}, []string{"a: panic"}},
		"lost timestamp":    {[]answer{{text: second[:8]}, {text: second + "panic\n"}}, []string{"a: panic"}},
	} {
		server := &fakeLogs{answers: map[string][]answer{"a": c.answers}}
		out := &fakeOutput{}
		tail := server.tail(testPod("a", 0, corev1.PodRunning), out)
		tail.PodChanged = nil
		tail.HasEnded = func() bool { return len(server.requests) >= len(c.answers)-1 }
		assert.NoError(t, tail.Run(t.Context()))
		expect(t, name, out.lines, c.want...)
	}
}

func TestTailOfALogThatIsGone(t *testing.T) {
	server := &fakeLogs{}
	err := server.tail(testPod("a", 0, corev1.PodFailed), &fakeOutput{}).Run(t.Context())
	if !apierrors.IsNotFound(err) || len(server.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(server.requests))
	}
	read := &fakeLogs{answers: map[string][]answer{"a": {
		{text: second + "one\n", err: io.ErrUnexpectedEOF}, {refused: serverError(http.StatusNotFound, "it is gone")},
	}}}
	assert.NoError(t, read.tail(testPod("a", 0, corev1.PodFailed), &fakeOutput{}).Run(t.Context()))
}

func TestTailGivesUpWhatTheServerRefusesToRead(t *testing.T) {
	server := &fakeLogs{answers: map[string][]answer{"a": {{refused: serverError(http.StatusInternalServerError, "no such node")}}}}
	err := server.tail(testPod("a", 0, corev1.PodFailed), &fakeOutput{}).Run(t.Context())
	var unreadable *UnreadableError
	if !errors.As(err, &unreadable) || len(server.requests) != maxRefusals {
		t.Errorf("%v after %d requests", err, len(server.requests))
	}
}

// An error of the API server about this log does not mean that the connection is lost; a response of a proxy does.
func TestTailIsInterruptedOnceByAnswersAboutItsLog(t *testing.T) {
	proxy := apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", corev1.Resource("pods"), "", "bad gateway", 0, true)
	noNode := serverError(http.StatusInternalServerError, "no such node")
	server := &fakeLogs{answers: map[string][]answer{"a": {
		{text: second + "one\n"}, {refused: noNode}, {refused: noNode}, {refused: proxy}, {text: second + "one\n" + later + "two\n"}, {},
	}}}
	out := &fakeOutput{}
	tail := server.tail(testPod("a", 0, corev1.PodRunning), out)
	tail.PodChanged = nil
	tail.HasEnded = func() bool { return len(server.requests) >= 5 }
	connection := &countedConnection{}
	tail.Options.Connect = func() Connection { return connection }
	assert.NoError(t, tail.Run(t.Context()))
	expect(t, "lines", out.lines, "a: one", "a: two")
	expect(t, "interrupts", out.interrupts, "a: "+noNode.Error(), "a: <nil>")
	expect(t, "failures of the connection", connection.failures, proxy.Error())
}

// A kubelet that has just restarted does not know its pods yet, or cannot authenticate the API server yet: the log is not
// gone, and the user is not refused.
func TestTailSurvivesARestartOfTheKubelet(t *testing.T) {
	kubelet := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "", corev1.Resource("pods/log"), "a", "pod does not exist", 0, false)
	}
	server := &fakeLogs{answers: map[string][]answer{"a": {
		{text: second + "one\n"}, {refused: kubelet(http.StatusNotFound)}, {refused: kubelet(http.StatusUnauthorized)}, {text: second + "one\n" + later + "two\n"},
	}}}
	out := &fakeOutput{}
	tail := server.tail(testPod("a", 0, corev1.PodRunning), out)
	tail.PodChanged = nil
	tail.HasEnded = func() bool { return len(server.requests) >= 3 }
	connection := &countedConnection{}
	tail.Options.Connect = func() Connection { return connection }
	assert.NoError(t, tail.Run(t.Context()))
	expect(t, "lines", out.lines, "a: one", "a: two")
	expect(t, "failures of the connection", connection.failures)
}

// countedConnection records its failures.
type countedConnection struct {
	fakeConnection
	failures []string
}

func (c *countedConnection) AwaitRetry(ctx context.Context, failure error, news <-chan struct{}) error {
	if failure != nil {
		c.failures = append(c.failures, failure.Error())
	}
	return c.fakeConnection.AwaitRetry(ctx, failure, news)
}
