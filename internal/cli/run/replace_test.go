package run

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// withOld stores a Job train with another image, which has the condition unless that is "".
func withOld(s *server, condition string) {
	old := clitest.SimpleJob("ns1", "train", 0)
	old.SetUID("old")
	_ = unstructured.SetNestedSlice(old.Object, []any{map[string]any{"name": "main", "image": "old:1"}}, "spec", "template", "spec", "containers")
	if condition != "" {
		old = clitest.WithCondition(old, condition, "", "")
	}
	s.API.Put(old)
}

func replaced(s *server, args ...string) *clitest.Session {
	return s.start(append([]string{"-f", clitest.WriteManifest(s.t, train), "--replace"}, args...)...)
}

// Requirements: RUN-19
func TestAFinishedJobIsReplacedByTheManifests(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	s := replaced(server)
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	if code := s.End(); code != cmdutil.ExitDone {
		t.Errorf("exit %d", code)
	}
	if got := server.written(); !slices.Equal(got, []string{"TRY replace-x7", "DELETE train", "POST train"}) {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"job.batch/train is replaced\n", `: spec.template.spec.containers[0].image: "old:1" → `, "job.batch/train deleted\njob.batch/train created\n"} {
		if !strings.Contains(s.ErrOut.String(), want) {
			t.Errorf("stderr %q lacks %q", s.ErrOut.String(), want)
		}
	}
}

// Requirements: RUN-19
func TestAJobThatRunsIsReplacedOnlyByForce(t *testing.T) {
	server := newServer(t)
	withOld(server, "")
	s := replaced(server)
	if code := s.End(); code != cmdutil.ExitError || !strings.Contains(s.ErrOut.String(), "job.batch/train has not finished; wait for it: kubectl batchjob wait train -n ns1") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
	if got := server.written(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	s = replaced(server, "--force")
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	if code := s.End(); code != cmdutil.ExitDone {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
}

// Requirements: RUN-19
func TestNothingIsDeletedForAManifestThatIsRejected(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	server.rejects = &clitest.Status{Code: 422, Reason: "Invalid", Message: "no good"}
	s := replaced(server)
	if code := s.End(); code != cmdutil.ExitError || !strings.Contains(s.ErrOut.String(), "no good") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
	if got := server.written(); !slices.Equal(got, []string{"TRY replace-x7"}) {
		t.Errorf("%q", got)
	}
}

// A quota that the old Job uses up is no reason to keep it.
//
// Requirements: RUN-19
func TestADryRunThatIsForbiddenCostsOnlyTheDifferences(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	server.rejects = &clitest.Status{Code: 403, Reason: "Forbidden", Message: "exceeded quota"}
	s := replaced(server)
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	if code := s.End(); code != cmdutil.ExitDone || strings.Contains(s.ErrOut.String(), "old:1") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
}

// Requirements: RUN-19
func TestAJobThatIsCreatedAgainIsAnError(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	server.deletes = func(w http.ResponseWriter, job *unstructured.Unstructured) bool {
		job.SetUID("another")
		job.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "argocd-controller", Operation: "Update"}})
		server.API.Put(job)
		clitest.WriteJSON(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
		return true
	}
	s := replaced(server)
	if code := s.End(); code != cmdutil.ExitError || !strings.Contains(s.ErrOut.String(), "job.batch/train was created again by argocd-controller; change the manifest where it comes from") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
	if got := server.written(); slices.Contains(got, "POST train") {
		t.Errorf("%q", got)
	}
}

// Requirements: RUN-19
func TestAFinalizerThatHoldsTheOldJobIsNamedAndCtrlCLeavesIt(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	server.deletes = func(w http.ResponseWriter, job *unstructured.Unstructured) bool {
		now := metav1.NewTime(clitest.Now())
		job.SetDeletionTimestamp(&now)
		job.SetFinalizers([]string{"foregroundDeletion", "example.com/keep"})
		server.API.Put(job)
		clitest.WriteJSON(w, http.StatusOK, job.Object)
		return true
	}
	clock := clitest.NewClock()
	s := program.Start(t, server.API, clock.Env(), "run", "-f", clitest.WriteManifest(t, train), "--replace")
	const line = "Waiting for job.batch/train and its pods to be deleted (finalizers: foregroundDeletion, example.com/keep)\n"
	clitest.WaitFor(t, func() bool {
		clock.Advance(time.Second)
		return strings.Contains(s.ErrOut.String(), line)
	}, s.ErrOut.String)
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || strings.Count(s.ErrOut.String(), line) != 1 || !strings.Contains(s.ErrOut.String(), "job.batch/train is being deleted, and the new Job was not created\n") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
	if got := server.written(); slices.Contains(got, "POST train") {
		t.Errorf("%q", got)
	}
}

// Requirements: RUN-19
func TestAJobOfThatNameIsReportedWithReplace(t *testing.T) {
	server := newServer(t)
	withOld(server, "Complete")
	s := server.start("-f", clitest.WriteManifest(t, train))
	if code := s.End(); code != cmdutil.ExitError || !strings.Contains(s.ErrOut.String(), "job.batch/train already exists; to delete it first, use --replace") {
		t.Errorf("exit %d, %q", code, s.ErrOut.String())
	}
}
