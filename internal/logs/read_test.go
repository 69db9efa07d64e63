package logs

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestReadQueuesWhatExceedsTheConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeLogs{answers: map[string][]answer{}}
		var pods []*Pod
		var want []string
		end := make(chan struct{})
		for i := range 6 {
			name := fmt.Sprint("pod-", i)
			pods = append([]*Pod{testPod(name, i, corev1.PodFailed)}, pods...)
			server.answers[name] = []answer{{text: "one\ntwo\n", hold: end}}
			want = append(want, name+": one", name+": two")
		}
		out, done := &fakeOutput{}, make(chan error, 1)
		go func() { done <- Read(t.Context(), pods, server.options(), out) }()
		synctest.Wait()
		assert.Equal(t, server.open, 2, "logs at a time")
		close(end)
		assert.NoError(t, <-done)
		expect(t, "lines, by index", out.lines, want...)
		if server.most > 2 || server.open != 0 {
			t.Errorf("%d logs were open at a time, %d are", server.most, server.open)
		}
		if len(out.listings) != 1 || len(out.listings[0].Sources) != 6 {
			t.Errorf("found %+v", out.listings)
		}
	})
}

func TestReadReportsALogThatCannotBeRead(t *testing.T) {
	server := &fakeLogs{answers: map[string][]answer{
		"a": {{refused: serverError(http.StatusInternalServerError, "no route")}},
		"b": {{text: "half a ", err: io.ErrUnexpectedEOF}},
		"c": {{text: "all\n"}},
	}}
	pods := []*Pod{testPod("a", 0, corev1.PodFailed), testPod("b", 1, corev1.PodFailed), testPod("c", 2, corev1.PodFailed)}
	out := &fakeOutput{}
	assert.NoError(t, Read(t.Context(), pods, server.options(), out))
	expect(t, "lines", out.lines, "b: half a ", "c: all")
	assert.Equalf(t, len(out.unreadable), 2, "unreadable: %q", out.unreadable)
}

func TestReadEndsWithARefusalAndWithItsOutput(t *testing.T) {
	pods := func() []*Pod { return []*Pod{testPod("a", 0, corev1.PodFailed), testPod("b", 1, corev1.PodFailed)} }
	refused := &fakeLogs{answers: map[string][]answer{"a": {{refused: apierrors.NewForbidden(corev1.Resource("pods"), "a", nil)}}, "b": {{text: "b\n"}}}}
	out := &fakeOutput{}
	if err := Read(t.Context(), pods(), refused.options(), out); !apierrors.IsForbidden(err) || len(out.lines)+len(out.unreadable) > 0 {
		t.Errorf("%v, lines %q", err, out.lines)
	}
	full := &fakeOutput{}
	full.fail = errors.New("the disk is full")
	server := &fakeLogs{answers: map[string][]answer{"a": {{text: "a\na\n"}}, "b": {{text: "b\n"}}}}
	if err := Read(t.Context(), pods(), server.options(), full); !errors.Is(err, full.fail) || len(full.lines) != 1 || server.open != 0 {
		t.Errorf("%v, lines %q, %d open", err, full.lines, server.open)
	}
}
