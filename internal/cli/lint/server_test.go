package lint

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// judge is an API server that answers creations with this status, nil for success, and these causes and warnings.
type judge struct {
	status   *clitest.Status
	causes   []any
	warnings []string
	sent     []map[string]any
}

func (j *judge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		clitest.WriteJSON(w, http.StatusOK, map[string]any{"major": "1"})
		return
	}
	body := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&body)
	body["query"] = r.URL.RawQuery
	j.sent = append(j.sent, body)
	for _, text := range j.warnings {
		w.Header().Add("Warning", `299 - "`+text+`"`)
	}
	if j.status == nil {
		clitest.WriteJSON(w, http.StatusCreated, body)
		return
	}
	object := clitest.StatusObject(j.status, "a")
	object["details"].(map[string]any)["causes"] = j.causes
	clitest.WriteJSON(w, j.status.Code, object)
}

func (j *judge) lint(t *testing.T, text string, args ...string) clitest.Result {
	t.Helper()
	server := httptest.NewServer(j)
	defer server.Close()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, server.URL))
	return linted(t, text, args...)
}

// The API server's reasons have a position, our words where there are any, and each is reported once.
// Requirements: LNT-12
func TestTheAPIServersReasonsAreMerged(t *testing.T) {
	cause := func(field, message string) any { return map[string]any{"field": field, "message": message} }
	invalid := &clitest.Status{Code: 422, Reason: "Invalid", Message: "Job.batch is invalid"}
	for name, c := range map[string]struct {
		judge  judge
		text   string
		out    string
		errOut string
	}{
		"our words": {
			judge{status: invalid, causes: []any{cause("spec.template.spec.containers[0].image", "Required value")}},
			strings.Replace(clitest.PlainJob, ", image: i", "", 1),
			"PATH:5:56: error: Job/a: the container has no image [container-without-image]\n    fix: add an image\n", "error: 1 error in 1 Job\n",
		},
		"its words": {
			judge{status: invalid, causes: []any{cause("spec.template.spec.containers[0].image", "must be from our registry")}}, clitest.PlainJob,
			"PATH:5:76: error: Job/a: the API server rejects it: must be from our registry [server-rejects]\n", "error: 1 error in 1 Job\n",
		},
		"a policy": {
			judge{status: &clitest.Status{Code: 403, Reason: "Forbidden", Message: `jobs.batch "a" is forbidden: exceeded quota: jobs`}}, clitest.PlainJob,
			"PATH:1:1: error: Job/a: the API server rejects it: jobs.batch \"a\" is forbidden: exceeded quota: jobs [server-rejects]\n", "error: 1 error in 1 Job\n",
		},
		"a field that only a newer version has": {
			judge{}, clitest.PlainJob + "  future: x\n",
			"PATH:6:11: warning: Job/a: batch/v1 has no field spec.future; this API server accepts it, others may not [unknown-field]\n    fix: correct the name, or remove it\n", "1 warning in 1 Job\n",
		},
		"a field that it does not know": {
			judge{status: &clitest.Status{Code: 400, Reason: "BadRequest", Message: `strict decoding error: unknown field "spec.suspend"`}}, clitest.PlainJob + "  suspend: false\n",
			"PATH:6:12: error: Job/a: the API server rejects it: unknown field spec.suspend [server-rejects]\n", "error: 1 error in 1 Job\n",
		},
		"a warning": {
			judge{warnings: []string{"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14"}}, clitest.PlainJob,
			"PATH:5:14: warning: Job/a: the API server warns: deprecated since v1.14 [server-warns]\n", "1 warning in 1 Job\n",
		},
		"it exists": {judge{status: &clitest.Status{Code: 409, Reason: "AlreadyExists", Message: `jobs.batch "a" already exists`}}, clitest.PlainJob, "", "no findings in 1 Job\n"},
		"a namespace of the same files": {
			judge{status: &clitest.Status{Code: 404, Reason: "NotFound", Message: `namespaces "new" not found`}},
			"apiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n---\n" + strings.Replace(clitest.PlainJob, "{name: a}", "{name: a, namespace: new}", 1),
			"", "no findings in 1 Job; 1 object of other kinds skipped\n",
		},
	} {
		if got := c.judge.lint(t, c.text, "--server"); got.Out != c.out || got.ErrOut != c.errOut {
			t.Errorf("%s:\n%s%s\nwant\n%s%s", name, got.Out, got.ErrOut, c.out, c.errOut)
		}
		for _, sent := range c.judge.sent {
			if query := sent["query"].(string); !strings.Contains(query, "dryRun=All") || !strings.Contains(query, "fieldValidation=Strict") {
				t.Errorf("%s: %s", name, query)
			}
		}
	}
}

// Without permission or a server there is one clear error; auto goes on without.
// Requirements: LNT-12
func TestWithoutAnAPIServerThereIsOneError(t *testing.T) {
	denied := judge{status: &clitest.Status{Code: 403, Reason: "Forbidden", Message: `jobs.batch is forbidden: User "u" cannot create resource "jobs" in API group "batch" in the namespace "default"`}}
	got := denied.lint(t, clitest.PlainJob+"---\n"+strings.Replace(clitest.PlainJob, "{name: a}", "{name: b}", 1), "--server")
	if got.Code != cmdutil.ExitError || len(denied.sent) != 1 || !strings.Contains(got.ErrOut, "error: you may not create jobs in namespace") {
		t.Errorf("exit %d, %d requests, %s", got.Code, len(denied.sent), got.ErrOut)
	}
	t.Setenv("KUBECONFIG", "/nonexistent")
	if got := linted(t, clitest.PlainJob, "--server"); got.Code == cmdutil.ExitDone || !strings.Contains(got.ErrOut, "no kubeconfig found") && !strings.Contains(got.ErrOut, "/nonexistent") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	if got := linted(t, clitest.PlainJob, "--server=auto"); got.Code != cmdutil.ExitDone || !strings.HasPrefix(got.ErrOut, "note: checked without an API server: ") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	if got := linted(t, clitest.PlainJob, "--server=maybe"); got.Code != cmdutil.ExitUsage {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	answers := judge{}
	if got := answers.lint(t, clitest.PlainJob, "--server=auto"); len(answers.sent) != 1 || got.ErrOut != "no findings in 1 Job\n" {
		t.Errorf("%d requests, %s", len(answers.sent), got.ErrOut)
	}
}

// An API server that accepts a request and never answers it does not keep --server=auto from going on: the client gives up.
// Requirements: LNT-12
func TestAutoDoesNotWaitForAnAPIServerThatDoesNotAnswer(t *testing.T) {
	gaveUp := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gaveUp)
	}))
	defer server.Close()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, server.URL))
	got := linted(t, clitest.PlainJob, "--server=auto")
	<-gaveUp
	if want := "note: checked without an API server: "; got.Code != cmdutil.ExitDone || !strings.HasPrefix(got.ErrOut, want) || !strings.Contains(got.ErrOut, "\nno findings in 1 Job\n") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
}
