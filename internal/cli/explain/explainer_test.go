package explain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func jobsIn(t *testing.T, out string) (names []string, list explain.ReportList) {
	t.Helper()
	assert.NoError(t, json.Unmarshal([]byte(out), &list), out)
	if list.Kind != "JobExplanationList" || list.APIVersion != "batchjob.dev/v1alpha1" {
		t.Errorf("%s %s", list.APIVersion, list.Kind)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Job.Namespace+"/"+list.Items[i].Job.Name)
	}
	return names, list
}

// Ctrl-C ends the command immediately, with exit code 130 and no partial output.
// Requirements: CLI-04
func TestInterruptLeavesNoHalfAnswer(t *testing.T) {
	for _, args := range [][]string{{"why", "train"}, {"why", "-l", "app"}, {"status", "train"}} {
		o := clitest.NewExplained(t)
		arrived, release := make(chan struct{}, 10), make(chan struct{})
		o.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				arrived <- struct{}{}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
			return nil
		})
		s := program.Start(t, o.API, clitest.NewEnv(), args...)
		<-arrived
		s.Interrupt()
		s.Result().Is(t, cmdutil.ExitInterrupted, "", "")
		close(release)
	}
}

// If the server dies after it has returned the Job, the explanation uses the Job alone.
// Requirements: CLI-06
func TestJobIsExplainedWithoutTheRest(t *testing.T) {
	o := clitest.NewExplained(t)
	o.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if !strings.Contains(r.URL.Path, "/jobs") {
			_ = o.API.Server.Listener.Close()
			panic(http.ErrAbortHandler)
		}
		return nil
	})
	got := program.Run(t, o.API, "why", "train")
	if got.Code != 0 || !strings.Contains(got.Out, `rule 0 "Corrupt"`) || !strings.Contains(got.Out, "Pods could not be read") || strings.Contains(got.Out, "is gone") {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", got.Code, got.ErrOut, got.Out)
	}
	if strings.Count(got.Out, "could not be read: Get") > 2 {
		t.Errorf("the same is said of everything:\n%s", got.Out)
	}
	if got := program.Run(t, o.API, "why", "train"); got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "\n") != 1 || !strings.Contains(got.ErrOut, "cannot reach the API server") {
		t.Errorf("without a server: exit %d, %q", got.Code, got.ErrOut)
	}
}

// JSON is for programs, so it has all pods.
// Requirements: CLI-04
func TestJSONHasAllPods(t *testing.T) {
	o := clitest.NewExplained(t)
	for i := range 599 {
		o.Pods.Put(clitest.EndedPod(clitest.ExplainedJob("ns1", "train"), fmt.Sprintf("train-%03d", i), 42, ""))
	}
	var r explain.Report
	assert.NoError(t, json.Unmarshal([]byte(program.Run(t, o.API, "why", "train", "-o", "json", "--log-lines=0").Out), &r))
	if len(r.Pods) != 600 || r.PodsOmitted != 0 || len(r.Causes) != 1 || r.Causes[0].Count != 600 {
		t.Errorf("%d pods are listed, %d are not, causes %+v", len(r.Pods), r.PodsOmitted, r.Causes)
	}
}

// Jobs are read four at a time, and printed in order.
// Requirements: CLI-04
func TestExplainKeepsOrder(t *testing.T) {
	var jobs []*unstructured.Unstructured
	var want []string
	for i := range 30 {
		jobs = append(jobs, clitest.ExplainedJob("ns1", fmt.Sprintf("job-%02d", i)))
		want = append(want, fmt.Sprintf("ns1/job-%02d", i))
	}
	slices.Reverse(jobs)
	o := clitest.NewObjects(t, jobs...)
	names, list := jobsIn(t, program.Run(t, o.API, "why", "-l", "app", "-o", "json").Out)
	if !slices.Equal(names, want) || len(list.Causes) != 1 || list.Causes[0].Count != 30 {
		t.Errorf("%q, %+v", names, list.Causes)
	}
}
