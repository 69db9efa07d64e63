package cli

import (
	"errors"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// Issue 6, CLI-07: of several connections that are lost, the one that is lost for longest is told of.
func TestLiveLink_Issue6(t *testing.T) {
	env := testEnvironment()
	now := testNow()
	env.now = func() time.Time { return now }
	s := newLiveSource(liveConfig{env: env})
	pods, jobs := s.link.newLink().notes, s.link.newLink().notes
	state := func(why string, after time.Duration) {
		t.Helper()
		got := s.link.state()
		if why == "" && got == (snapshot.Link{}) {
			return
		}
		if got.Why != why || got.StaleSince == nil || got.StaleSince.Sub(testNow()) != after {
			t.Errorf("%+v, want %q after %s", got, why, after)
		}
	}
	state("", 0)
	pods.down(errors.New("pods: first"))
	now = now.Add(time.Minute)
	jobs.down(errors.New("jobs: second"))
	state("pods: first", 0)
	pods.up()
	state("jobs: second", time.Minute)
	now = now.Add(time.Minute)
	pods.down(errors.New("pods: third"))
	state("jobs: second", time.Minute)
	jobs.up()
	state("pods: third", 2*time.Minute)
	pods.up()
	state("", 0)
}
