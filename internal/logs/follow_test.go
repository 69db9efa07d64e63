package logs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func startFollower(t *testing.T, server *fakeLogs, out *fakeOutput, pods ...*Pod) (*Follower, <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	f := NewFollower(server.options(), out)
	f.Replace("", pods)
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	return f, done
}

func TestFollowerQueuesAndEndsWhenAllHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, end := make(chan struct{}), make(chan struct{})
		server := &fakeLogs{answers: map[string][]answer{
			"a": {{text: second + "from a\n", hold: first}}, "b": {{text: second + "from b\n", hold: end}}, "c": {{text: second + "from c\n", hold: end}},
			"d": {{text: second + "from d\n", hold: end}}, "e": {{text: second + "from e\n"}},
		}}
		out := &fakeOutput{}
		f, done := startFollower(t, server, out, testPod("a", 0, corev1.PodRunning), testPod("b", 1, corev1.PodRunning),
			testPod("c", 2, corev1.PodRunning), testPod("d", 3, corev1.PodRunning))
		f.Put(testPod("e", 4, corev1.PodPending))
		f.Finish()
		synctest.Wait()
		expect(t, "lines", slices.Sorted(slices.Values(out.lines)), "a: from a", "b: from b")
		if len(out.listings) != 1 || out.listings[0].Waiting != 2 || len(out.listings[0].Sources) != 4 || len(out.listings[0].Unstarted) > 0 {
			t.Errorf("found %+v", out.listings)
		}
		f.Put(testPod("a", 0, corev1.PodFailed))
		close(first)
		synctest.Wait()
		assert.Equal(t, server.open, 2, "logs at a time")
		for i, name := range []string{"b", "c", "d", "e"} {
			f.Put(testPod(name, i+1, corev1.PodFailed))
		}
		close(end)
		assert.NoError(t, <-done)
		expect(t, "lines", slices.Sorted(slices.Values(out.lines)), "a: from a", "b: from b", "c: from c", "d: from d", "e: from e")
		if server.most > 2 || server.open != 0 {
			t.Errorf("%d logs were open at a time, %d are", server.most, server.open)
		}
	})
}

// The last log that fails is reported before Run returns.
func TestFollowerReportsTheLastFailure(t *testing.T) {
	server := &fakeLogs{answers: map[string][]answer{"a": {{refused: serverError(http.StatusInternalServerError, "no such node")}}}}
	out := &fakeOutput{}
	f, done := startFollower(t, server, out, testPod("a", 0, corev1.PodFailed))
	f.Finish()
	if err := <-done; err != nil || len(out.unreadable) != 1 {
		t.Errorf("%v, unreadable: %q", err, out.unreadable)
	}
}

func TestFollowerRunsAgainForPodsThatCameLater(t *testing.T) {
	server := &fakeLogs{answers: map[string][]answer{"a": {{text: second + "from a\n"}}, "b": {{text: second + "from b\n"}}}}
	out := &fakeOutput{}
	f, done := startFollower(t, server, out, testPod("a", 0, corev1.PodFailed))
	f.Finish()
	assert.NoError(t, <-done)
	f.Replace("", []*Pod{testPod("a", 0, corev1.PodFailed), testPod("b", 1, corev1.PodFailed)})
	assert.NoError(t, f.Run(t.Context()))
	expect(t, "lines", out.lines, "a: from a", "b: from b")
}

func TestFollowerEndsWithItsOutput(t *testing.T) {
	never := make(chan struct{})
	server := &fakeLogs{answers: map[string][]answer{"a": {{text: second + "a\n", hold: never}}, "b": {{hold: never}}}}
	out := &fakeOutput{}
	out.fail = errors.New("the disk is full")
	_, done := startFollower(t, server, out, testPod("a", 0, corev1.PodRunning), testPod("b", 1, corev1.PodRunning))
	if err := <-done; !errors.Is(err, out.fail) || server.open != 0 {
		t.Errorf("%v, %d open", err, server.open)
	}
}
