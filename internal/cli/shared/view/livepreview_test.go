package view

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// costs returns the requests for a focus in a namespace with two Jobs, without the requests for the list; and the source.
func costs(t *testing.T, focus snapshot.Focus) ([]string, *liveSession) {
	t.Helper()
	train := clitest.ExplainedJob("ns1", "train")
	api := newFakeLive(t, train, clitest.ExplainedJob("ns1", "other"))
	api.pods.Put(clitest.EndedPod(train, "train-a", 42, ""))
	api.pods.Write("train-a/main", "reading")
	s := startLive(t, api)
	s.until("the list is read", func(got *snapshot.Snapshot) bool { return got.Jobs != nil })
	s.untilWatching("jobs 1 pods 0 events 0")
	list := api.requests("")
	s.source.Look(focus)
	s.until("the Job is read", func(got *snapshot.Snapshot) bool {
		return got.Job != nil && podNames(got) == "train-a" && logsRead(api)
	})
	s.untilWatching("jobs 2 pods 1 events 2")
	s.pass(3 * time.Second)
	return requestsSince(api, list), s
}

func logsRead(api *fakeLive) bool { return api.requests("/log?") > 0 }

// requestsSince returns the requests after the first n, without the resourceVersions of watches, and without those of other
// subjects, which are made at a time of their own: health probes, and what the list of Jobs reads (warnings, and failed pods of
// several Jobs).
func requestsSince(api *fakeLive, n int) []string {
	version := regexp.MustCompile(`(resourceVersion|timeoutSeconds)=\d+`)
	api.mu.Lock()
	defer api.mu.Unlock()
	var requests []string
	for _, request := range api.asked[n:] {
		ofList := strings.Contains(request, "type%3DWarning") || strings.Contains(request, "job-name+in+")
		if !ofList && !strings.HasSuffix(request, "/livez") {
			requests = append(requests, version.ReplaceAllString(request, "$1=N"))
		}
	}
	return requests
}

// Resting the cursor on a Job makes the same requests as opening it; opening it then makes none, and neither does
// going back.
// Requirements: VIE-05
func TestPreviewCostsWhatOpeningCosts(t *testing.T) {
	key := types.NamespacedName{Namespace: "ns1", Name: "train"}
	opened, s := costs(t, snapshot.Focus{Job: key})
	s.end()
	rested, s := costs(t, snapshot.Focus{Job: key, Preview: true})
	// Some requests are repeated over time.
	slices.Sort(opened)
	slices.Sort(rested)
	opened, rested = slices.Compact(opened), slices.Compact(rested)
	if !slices.Equal(opened, rested) || len(rested) == 0 {
		t.Errorf("opening asks\n%s\nresting asks\n%s", strings.Join(opened, "\n"), strings.Join(rested, "\n"))
	}
	before := s.api.requests("")
	for _, preview := range []bool{false, true} {
		s.source.Look(snapshot.Focus{Job: key, Preview: preview})
		s.until("it is open", func(got *snapshot.Snapshot) bool { return got.Focus.Preview == preview && got.Job != nil })
		s.pass(2 * time.Second)
	}
	for _, request := range requestsSince(s.api, before) {
		if !strings.Contains(request, "retry-of") { // The search for retries is repeated.
			t.Errorf("opening what was previewed asks %q", request)
		}
	}
	s.end()
}
