package cli

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// asked records the requests of a verb, and refuses those that are not GET.
type asked struct {
	mu     sync.Mutex
	paths  []string
	others []string
}

func (a *asked) refuse(r *http.Request) *clitest.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, r.URL.Path)
	if r.Method == http.MethodGet {
		return nil
	}
	a.others = append(a.others, r.Method+" "+r.URL.Path)
	return &clitest.Status{Code: http.StatusMethodNotAllowed, Reason: "MethodNotAllowed", Message: "only GET is allowed"}
}

// soFar returns the paths of all requests, and the requests that are not GET.
func (a *asked) soFar() (paths, others []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.paths), slices.Clone(a.others)
}

// verbRequests are the verbs that only read, in a cluster where Job train has failed, with their number of requests.
// README.md and docs/faq.md quote some of these numbers.
var verbRequests = []struct {
	args     string
	requests int
}{
	{"status", 3},
	{"status train", 5},
	{"status -A -o wide", 3},
	{"status --by-owner", 3},
	{"status cronjob/nightly", 3},
	{"why train", 6},
	{"why cronjob/nightly", 3},
	{"what-if train --set backoffLimit=5", 5},
	{"wait train", 5},
	{"clean", 2},
	{"clean -o json", 1},
	{"logs train", 2},
	{"bundle train -f -", 8},
	{"simulate -f FILE --from train", 5},
	{"lint -f FILE", 0},
	{"create -f FILE --dry-run=client", 0},
	{"demo", 0},
	{"version --client", 0},
	{"completion bash", 0},
	{"options", 0},
}

const simpleManifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n  template:\n    spec:\n" +
	"      restartPolicy: Never\n      containers: [{name: main, image: i}]\n"

// A verb that reads sends only GET requests, only for resources that docs/faq.md lists, and no more of them than it
// says. CronJobs are read only to show one.
// Requirements: CLI-09
func TestReadingVerbsSendOnlyGET(t *testing.T) {
	file := clitest.WriteManifest(t, simpleManifest)
	tested := []string{"watch"} // which is in followingVerbs
	for _, tc := range verbRequests {
		verb, _, _ := strings.Cut(tc.args, " ")
		tested = append(tested, verb)
		t.Run(tc.args, func(t *testing.T) {
			api, requests := clitest.NewExplained(t), &asked{}
			api.API.CronJobs = []*batchv1.CronJob{nightly}
			api.API.SetRefuse(requests.refuse)
			got := program.Run(t, api.API, strings.Fields(strings.ReplaceAll(tc.args, "FILE", file))...)
			paths, others := requests.soFar()
			if got.Code != 0 && got.Code != 3 || len(others) > 0 || len(paths) != tc.requests {
				t.Errorf("exit %d, %s, %q, %d requests: %q", got.Code, got.ErrOut, others, len(paths), paths)
			}
			for _, path := range paths {
				if !mayBeRead(path) || strings.Contains(path, "/cronjobs/") && !strings.Contains(tc.args, "cronjob/") {
					t.Errorf("%s is read", path)
				}
			}
		})
	}
	for _, verb := range NewCommand().Commands() { // The verbs of other groups may write.
		if verb.GroupID == "Look at Jobs" && !slices.Contains(tested, verb.Name()) {
			t.Errorf("does %s only read?", verb.Name())
		}
	}
}

// mayBeRead reports whether docs/faq.md lists the resource at this path.
func mayBeRead(path string) bool {
	if path == "/version" || path == "/livez" || strings.HasPrefix(path, "/api/v1/nodes/") {
		return true
	}
	base := filepath.Base(path)
	return slices.Contains([]string{"jobs", "pods", "events", "log", "leases"}, base) || strings.Contains(path, "/jobs/") || strings.Contains(path, "/cronjobs/") || strings.Contains(path, "/pods/")
}
