package retry

import (
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// inPlace is an API with a running Job whose index 4 was OOMKilled, and a controller that ends its pods once it is suspended.
type inPlace struct {
	*clitest.Writes
	// around serves each write, numbered from 1; nil serves it at once.
	around func(n int, call string, r *http.Request, serve func())
	writes int
}

func newInPlace(t *testing.T, change ...func(*unstructured.Unstructured)) *inPlace {
	t.Helper()
	started := []func(*unstructured.Unstructured){
		memory("1Gi", "512Mi"), set(int64(2), "status", "active"), set("", "status", "failedIndexes"), set("2026-03-01T11:00:00Z", "status", "startTime"),
	}
	job := stalledJob(t, "a")
	for _, change := range append(started, change...) {
		change(job)
	}
	p := &inPlace{Writes: clitest.NewWrites(t, job)}
	p.Pods.Put(failedPod(job, 4, 137, "OOMKilled", "1Gi", ""))
	p.API.Answers = map[string]any{"version": map[string]string{"major": "1", "minor": "36"}}
	p.Around = func(call string, r *http.Request, serve func()) {
		p.writes++
		if p.around == nil {
			serve()
		} else {
			p.around(p.writes, call, r, serve)
		}
		p.controller()
	}
	return p
}

// controller ends the pods of a suspended Job.
func (p *inPlace) controller() {
	if job := p.Job("a"); job != nil && at(job.Object, "spec.suspend") == "true" && at(job.Object, "status.active") != "0" {
		_ = unstructured.SetNestedField(job.Object, int64(0), "status", "active")
		_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"type": "Suspended", "status": "True"}}, "status", "conditions")
		p.API.Put(job)
	}
}

// state returns the memory of the Job, a CPU limit, whether it is suspended, and whether a raise is stored.
func (p *inPlace) state() string {
	job := p.Job("a")
	_, stored := job.GetAnnotations()[retry.RaiseAnnotation]
	text := at(job.Object, "spec.template.spec.containers.0.resources.limits.memory") + " " + at(job.Object, "spec.template.spec.containers.0.resources.requests.memory")
	if cpu := at(job.Object, "spec.template.spec.containers.0.resources.limits.cpu"); cpu != "null" {
		text += " " + cpu + " CPUs"
	}
	if at(job.Object, "spec.suspend") == "true" {
		text += " suspended"
	}
	if stored {
		text += " raising"
	}
	return text
}

func (p *inPlace) want(t *testing.T, want string) {
	t.Helper()
	if got := p.state(); got != want || p.Job("a").GetUID() != "uid-a" {
		t.Errorf("%s, want %s", got, want)
	}
}

var raise = []string{"retry", "a", "--in-place", "--memory", "x2"}

const raised = "job.batch/a resource requirements updated\n"

// The Job keeps its name, its UID and what it has completed.
// Requirements: RTY-47
func TestRunningJobGetsMoreMemory(t *testing.T) {
	p := newInPlace(t)
	wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitDone, raised, "Container main gets 2Gi of memory instead of 1Gi")
	p.want(t, "2Gi 1Gi")
	if calls := fmt.Sprint(p.Calls()); calls != "[patch jobs patch jobs patch jobs]" { // The second is a dry run.
		t.Error(calls)
	}
	assert.Equal(t, at(p.Job("a").Object, "status.completedIndexes"), "0,1,3,5")

	// A Job that was suspended before stays so.
	p = newInPlace(t, set(true, "spec", "suspend"))
	p.controller()
	wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitDone, raised)
	p.want(t, "2Gi 1Gi suspended")

	// Nor does its API server have to be new: a dry run asks whether it allows the change, and nothing is suspended for that.
	p = old(newInPlace(t, set(true, "spec", "suspend")))
	p.controller()
	wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitDone, raised)
	p.want(t, "2Gi 1Gi suspended")

	p = newInPlace(t)
	wantRun(t, program.Run(t, p.API, append(raise, "--dry-run=server")...), cmdutil.ExitDone, "job.batch/a resource requirements updated (dry run)\n")
	if len(p.Calls()) > 0 {
		t.Error(p.Calls())
	}
}

// Jobs whose memory cannot be raised in place are not suspended.
// Requirements: RTY-47
func TestJobsThatCannotChangeInPlace(t *testing.T) {
	for wantText, p := range map[string]*inPlace{
		"Kueue suspends and resumes job.batch/a; leave out --in-place, and use --replace": newInPlace(t, func(job *unstructured.Unstructured) {
			job.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "q"})
		}),
		"job.batch/a: annotation batchjob.dev/raise-memory is not readable; remove it: kubectl annotate job a": newInPlace(t, annotate(`{"memory":{"main":{"limit":"lots"}}}`)),
		"annotation batchjob.dev/raise-memory is not readable; ":                                               newInPlace(t, annotate(`{"memory":{"main":{"limit":"2Gi","request":"lots"}}}`)),
		"--in-place: job.batch/a has finished; leave out --in-place":                                           newInPlace(t, set([]any{map[string]any{"type": "Failed", "status": "True"}}, "status", "conditions")),
		"the API server is Kubernetes 1.35":                                                                    old(newInPlace(t)),
		"you may not patch jobs in namespace":                                                                  denied(newInPlace(t)),
	} {
		wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitError, wantText)
		if len(p.Calls()) > 0 {
			t.Errorf("%s: %v", wantText, p.Calls())
		}
	}
	p := newInPlace(t)
	wantRun(t, program.Run(t, p.API, "retry", "a", "--in-place"), cmdutil.ExitUsage, "--in-place is for --memory")
}

func old(p *inPlace) *inPlace {
	p.API.Answers["version"] = map[string]string{"major": "1", "minor": "35+"}
	return p
}

func denied(p *inPlace) *inPlace {
	p.Deny("patch jobs")
	return p
}

func conflicts(string, *http.Request) *clitest.Status {
	return &clitest.Status{Code: 409, Reason: "Conflict", Message: "the object has been modified"}
}

// If someone else changes the Job before a write, an error has its state and the next command, or the change is kept.
// Requirements: RTY-47
func TestRaiseInPlaceMeetsOthers(t *testing.T) {
	const next, see = "; continue with: kubectl batchjob retry a --in-place -n ns1\n", "; see it with: kubectl batchjob status a -n ns1\n"
	resumed := set(false, "spec", "suspend")
	for name, c := range map[string]struct {
		at              []int // the writes before which it happens, 0 for before the Job is read
		change          func(*unstructured.Unstructured)
		wantText, state string // wantText is "" if the memory is raised
	}{
		"suspended": {[]int{0}, set(true, "spec", "suspend"), "", "2Gi 1Gi suspended"},
		"resumed":   {[]int{2, 3}, resumed, "job.batch/a was resumed before its memory was raised, and runs with its old memory" + next, "1Gi 512Mi raising"},
		"forgotten": {
			[]int{2, 3}, annotate(""), "job.batch/a lost the annotation batchjob.dev/raise-memory before its memory was raised, and is suspended, with its old memory; " +
				`resume it with: kubectl patch job a -n ns1 --type merge -p '{"spec":{"suspend":false}}'` + "\n", "1Gi 512Mi suspended",
		},
		"forgotten and resumed": {
			[]int{2, 3}, func(job *unstructured.Unstructured) { annotate("")(job); resumed(job) },
			"job.batch/a lost the annotation batchjob.dev/raise-memory before its memory was raised, and runs with its old memory; try again\n", "1Gi 512Mi",
		},
		"another call": {[]int{2, 3}, annotate(`{"memory":{"main":{"limit":"4Gi"}}}`), "another retry --in-place is changing the memory of job.batch/a" + see, "1Gi 512Mi suspended raising"},
		"replaced":     {[]int{1, 2, 3}, func(job *unstructured.Unstructured) { job.SetUID("other") }, "job.batch/a was replaced by another Job of that name, which is left as it is" + see, ""},
		"deleted":      {[]int{1, 2, 3}, func(job *unstructured.Unstructured) { deleting(job); resumed(job) }, "job.batch/a is being deleted, with its old memory\n", ""},
		"more CPU":     {[]int{3}, moreCPU, "", "2Gi 1Gi 4 CPUs"},
	} {
		for _, n := range c.at {
			p := newInPlace(t)
			change := func() {
				job := p.Job("a")
				c.change(job)
				p.API.Put(job)
			}
			p.API.SetRefuse(func(r *http.Request) *clitest.Status {
				if n == 0 && r.URL.Path == "/version" {
					change()
				}
				return nil
			})
			p.around = func(at int, _ string, _ *http.Request, serve func()) {
				if at == n {
					change()
				}
				serve()
			}
			code := cmdutil.ExitError
			if c.wantText == "" {
				code, c.wantText = cmdutil.ExitDone, raised
			}
			t.Run(fmt.Sprint(name, " at ", n), func(t *testing.T) {
				wantRun(t, program.Run(t, p.API, raise...), code, c.wantText)
				if got := p.state(); c.state != "" && got != c.state {
					t.Errorf("%s, want %s", got, c.state)
				}
			})
		}
	}
}

// annotate sets the only annotation of a Job, the memory to raise, and removes it if the text is "".
func annotate(text string) func(*unstructured.Unstructured) {
	return func(job *unstructured.Unstructured) {
		if job.SetAnnotations(nil); text != "" {
			job.SetAnnotations(map[string]string{retry.RaiseAnnotation: text})
		}
	}
}

// moreCPU sets the CPU limit of container main.
func moreCPU(job *unstructured.Unstructured) {
	containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	_ = unstructured.SetNestedField(containers[0].(map[string]any), "4", "resources", "limits", "cpu")
	_ = unstructured.SetNestedSlice(job.Object, containers, "spec", "template", "spec", "containers")
}

func deleting(job *unstructured.Unstructured) {
	job.SetDeletionTimestamp(&metav1.Time{Time: clitest.Now()})
}

// Conflicts that do not end are an error after a few requests, with the state of the Job.
// Requirements: RTY-47
func TestRaiseInPlaceGivesUpAfterConflicts(t *testing.T) {
	for n, wantText := range map[int]string{
		1: "job.batch/a keeps changing, and runs with its old memory; try again\n",
		2: "job.batch/a keeps changing, and is suspended, with its old memory; continue with: kubectl batchjob retry a --in-place -n ns1\n",
	} {
		p := newInPlace(t)
		p.Reject = func(_ string, r *http.Request) *clitest.Status {
			if p.writes < n {
				return nil
			}
			return conflicts("", r)
		}
		wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitError, wantText)
		if p.writes > 20 {
			t.Errorf("%d writes", p.writes)
		}
	}
}

// A Job that the API server does not let change continues as it was.
// Requirements: RTY-47
func TestRefusedRaiseResumesTheJob(t *testing.T) {
	p := newInPlace(t)
	p.Reject = func(_ string, r *http.Request) *clitest.Status {
		if r.URL.Query().Get("dryRun") == "" {
			return nil
		}
		return &clitest.Status{Code: 422, Reason: "Invalid", Message: "field is immutable"}
	}
	wantRun(t, program.Run(t, p.API, raise...), cmdutil.ExitError, "the API server refused more memory, and job.batch/a continues as it was")
	p.want(t, "1Gi 512Mi")
}
