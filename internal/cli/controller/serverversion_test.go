package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// aboutServer is an API server with the given version and schema that allows everything. It records the requested
// paths.
type aboutServer struct {
	version string // response of /version; "" is a 403
	schema  string // response of /openapi/v3/apis/batch/v1; "" is a 403
	jobs    string // response of a list of Jobs; "" is a 403

	mu    sync.Mutex
	asked []string
}

func (s *aboutServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.mu.Unlock()
	answer := ""
	switch r.URL.Path {
	case "/apis/batch/v1/jobs", "/apis/batch/v1/namespaces/a/jobs":
		answer = s.jobs
	case "/version":
		answer = s.version
	case "/openapi/v3/apis/batch/v1":
		answer = s.schema
	case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		answer = `{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": true}}`
	}
	w.Header().Set("Content-Type", "application/json")
	if answer == "" {
		w.WriteHeader(http.StatusForbidden)
		answer = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "forbidden: ` + r.URL.Path + `"}`
	}
	fmt.Fprint(w, answer)
}

const (
	withField    = `{"components": {"schemas": {"io.k8s.api.batch.v1.Job": {}, "io.k8s.api.batch.v1.JobSpec": {"properties": {"managedBy": {}, "template": {}}}}}}`
	withoutField = `{"components": {"schemas": {"io.k8s.api.batch.v1.JobSpec": {"properties": {"template": {}}}}}}`
	withoutJobs  = `{"components": {"schemas": {}}}`
)

func versionAnswer(gitVersion string) string {
	quoted, _ := json.Marshal(gitVersion) // marshaling a string cannot fail
	return fmt.Sprintf(`{"major": "1", "minor": "", "gitVersion": %s}`, quoted)
}

// checkServer returns the controller's advice or error for an API server at its start.
func checkServer(t *testing.T, server *aboutServer, flags ...string) (advice string, err error) {
	t.Helper()
	s := httptest.NewServer(server)
	defer s.Close()
	o := validated(t, flags...)
	o.config.Client = controllerClient(t, controllerConfig(t, "server: "+s.URL, ""))
	return readServerInfo(t.Context(), o.config.Client).check(!o.config.ReplaceBuiltin)
}

// Issue 7, point 7; MGB-01: if managedBy is not served, the controller does not start, and prints what it found, what
// it requires, and what to do.
func TestControllerRefusesOldServers(t *testing.T) {
	const odd = "own-build"
	for name, c := range map[string]struct {
		version, schema string
		advice, err     string // a part of it; "" for none
		replacing       string // advice with --replace-builtin
	}{
		"1.36":                     {versionAnswer("v1.36.3"), withField, "", "", ""},
		"1.35":                     {versionAnswer("v1.35.0"), withField, "", "", ""},
		"1.35 alpha":               {versionAnswer("v1.35.0-alpha.1.20+0123456789abcd"), withField, "", "", ""},
		"1.34":                     {versionAnswer("v1.34.4"), withField, "Kubernetes v1.34.4 is older than 1.35, which this controller is designed for: Jobs keep spec.managedBy unless", "", "designed for: resourceVersions can be compared only if"},
		"1.32":                     {versionAnswer("v1.32.0"), withField, "unless the feature gate JobManagedBy is turned off", "", "1.35"},
		"of a vendor":              {versionAnswer("v1.34.2-eks-1a2b3c4"), withField, "Kubernetes v1.34.2-eks-1a2b3c4 is older than 1.35", "", "1.35"},
		"new, of a vendor":         {versionAnswer("v1.36.1-gke.1234"), withField, "", "", ""},
		"only the short version":   {`{"major": "1", "minor": "33+", "gitVersion": ""}`, withField, "Kubernetes 1.33+ is older than 1.35", "", "1.35"},
		"vendor's numbers":         {`{"major": "1", "minor": "31", "gitVersion": "v4.18.0"}`, withField, "", "the API server (Kubernetes 1.31) drops spec.managedBy from new Jobs, so no Job", "1.35"},
		"1.31":                     {versionAnswer("v1.31.9"), withField, "", "the API server (Kubernetes v1.31.9) drops spec.managedBy from new Jobs, so no Job could be assigned to this controller; Kubernetes 1.32 or newer is required, and 1.35 or newer is recommended; if kube-controller-manager runs with --controllers=*,-job-controller, use --replace-builtin", "1.35"},
		"1.29":                     {versionAnswer("v1.29.15"), withoutField, "", "the API server (Kubernetes v1.29.15) does not support spec.managedBy", "1.35"},
		"odd version":              {versionAnswer(odd), withField, "", "", ""},
		"odd version, no field":    {versionAnswer(odd), withoutField, "", "the API server (Kubernetes own-build) does not support spec.managedBy", ""},
		"far version, no field":    {versionAnswer("v1.40.0"), withoutField, "", "does not support spec.managedBy", ""},
		"no version, no field":     {"", withoutField, "", "the API server (of unknown version) does not support spec.managedBy", ""},
		"no version":               {"", withField, "", "", ""},
		"no schema":                {versionAnswer("v1.36.3"), "", "", "", ""},
		"no schema, 1.33":          {versionAnswer("v1.33.13"), "", "Kubernetes v1.33.13 is older", "", "1.35"},
		"no schema, 1.31":          {versionAnswer("v1.31.9"), "", "", "drops spec.managedBy", "1.35"},
		"schema without Jobs":      {versionAnswer(odd), withoutJobs, "cannot determine whether the API server keeps spec.managedBy, as Kubernetes 1.35 and newer do: reading the schema of Jobs: it does not contain io.k8s.api.batch.v1.JobSpec", "", ""},
		"schema is no JSON":        {versionAnswer(odd), "<html>", "cannot determine", "", ""},
		"neither":                  {"", "", "as Kubernetes 1.35 and newer do: reading its version is forbidden; reading the schema of Jobs is forbidden", "", ""},
		"a version that is huge":   {versionAnswer("v1.99999999999999999999.0"), withField, "", "", ""},
		"a version that is hidden": {versionAnswer("v10.31.0"), withField, "", "", ""},
	} {
		advice, err := checkServer(t, &aboutServer{version: c.version, schema: c.schema})
		if (c.advice == "") != (advice == "") || !strings.Contains(advice, c.advice) {
			t.Errorf("%s: advice %q, want %q", name, advice, c.advice)
		}
		switch {
		case (c.err == "") != (err == nil), err != nil && !strings.Contains(err.Error(), c.err):
			t.Errorf("%s: %v, want %q", name, err, c.err)
		case err != nil && (cmdutil.ExitCode(err) != cmdutil.ExitError || cmdutil.KindOf(err) != kindUnsupported):
			t.Errorf("%s: exit code %d, kind %s", name, cmdutil.ExitCode(err), cmdutil.KindOf(err))
		}
		// Instead of the built-in controller, managedBy is not needed.
		advice, err = checkServer(t, &aboutServer{version: c.version, schema: c.schema}, "--replace-builtin")
		if err != nil || (c.replacing == "") != (advice == "") || !strings.Contains(advice, c.replacing) || strings.Contains(advice, "managedBy") {
			t.Errorf("%s with --replace-builtin: advice %q, want %q; %v", name, advice, c.replacing, err)
		}
	}
}

// freshLogging lets a test configure the logs, which a process can do only once.
func freshLogging(t *testing.T) {
	t.Helper()
	assert.NoError(t, logsapi.ResetForTest(nil))
	t.Cleanup(func() {
		assert.NoError(t, logsapi.ResetForTest(nil))
	})
}

// runController runs the verb against the server at this URL.
func runController(t *testing.T, url string, flags ...string) (code int, out, errOut string) {
	t.Helper()
	freshLogging(t)
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, url))
	r := program.Run(t, nil, append([]string{"controller"}, flags...)...)
	return r.Code, r.Out, r.ErrOut
}

// Issue 7, point 7: the controller rejects an API server whose resourceVersions have no order, instead of stopping in
// the middle of its work.
func TestControllerRefusesVersionsWithoutOrder(t *testing.T) {
	for version, refused := range map[string]bool{
		"1": false, "18446744073709551617": false, "": true, "0": true, "007": true, "abc": true, `12-a\u001b[31m`: true,
	} {
		server := &aboutServer{version: versionAnswer("v1.36.3"), schema: withField, jobs: `{"kind": "JobList", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "` + version + `"}, "items": []}`}
		s := httptest.NewServer(server)
		// An invalid listen address ends the run if the server is accepted.
		code, out, errOut := runController(t, s.URL, "--namespaces=a,b", "--health-probe-bind-address=256.0.0.1:1")
		s.Close()
		known := strings.HasPrefix(errOut, "error: the resourceVersions of this API server cannot be compared (such as ") && strings.Contains(errOut, "; Kubernetes 1.35 and newer guarantee that they can be compared")
		want := cmdutil.ExitUsage
		if refused {
			want = cmdutil.ExitError
		}
		if code != want || out != "" || strings.Count(errOut, "\n") != 1 || strings.Contains(errOut, "\x1b") || known != refused || refused == strings.Contains(errOut, "256.0.0.1") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", version, code, out, errOut)
		}
		if !slices.Contains(server.asked, "/apis/batch/v1/namespaces/a/jobs") {
			t.Errorf("it asked only for %s", server.asked)
		}
	}
}

// The server is rejected before any permission is checked.
func TestControllerRefusesBeforeItAsksForPermissions(t *testing.T) {
	server := &aboutServer{version: versionAnswer("v1.29.15"), schema: withoutField}
	s := httptest.NewServer(server)
	defer s.Close()
	code, out, errOut := runController(t, s.URL)
	if code != cmdutil.ExitError || out != "" || strings.Count(errOut, "\n") != 1 || !strings.HasPrefix(errOut, "error: the API server (Kubernetes v1.29.15) does not support spec.managedBy") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errOut)
	}
	for _, path := range server.asked {
		assert.NotContains(t, path, "authorization")
	}
}

// The check of permissions reports a server that cannot be reached.
func TestUnreachableServerIsLeftToThePermissions(t *testing.T) {
	s := httptest.NewServer(&aboutServer{})
	s.Close()
	code, _, errOut := runController(t, s.URL)
	if code != cmdutil.ExitError || errOut != "error: cannot reach the API server at "+s.URL+": connection refused; check that it is running and that the context is correct (kubectl config view --minify)\n" {
		t.Errorf("exit code %d, stderr %q", code, errOut)
	}
}

// The warning is a line of its own on stderr, or a log message if the log is JSON.
func TestWarningIsALineOfItsOwn(t *testing.T) {
	s := httptest.NewServer(&aboutServer{version: versionAnswer("v1.34.2-\x1b[31mred"), schema: withField})
	defer s.Close()
	for _, format := range []string{"text", "json"} {
		freshLogging(t)
		var errOut bytes.Buffer
		// The first listener fails, so nothing is started.
		o := validated(t, "--kubeconfig", clitest.WriteKubeconfig(t, s.URL), "--logging-format", format, "--health-probe-bind-address", "256.0.0.1:1")
		o.Out, o.ErrOut = &errOut, &errOut
		assert.NoError(t, o.Complete())
		if err := o.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "256.0.0.1") {
			t.Fatalf("it should fail to listen: %v", err)
		}
		text := errOut.String()
		if format == "json" {
			var line struct{ Msg string }
			assert.NoError(t, json.Unmarshal([]byte(text), &line), text)
			text = line.Msg + "\n"
		}
		if strings.Count(text, "\n") != 1 || !strings.Contains(text, "warning: Kubernetes v1.34.2-") || strings.Contains(text, "\x1b") {
			t.Errorf("%s: %q", format, text)
		}
	}
}

// A server that is slow to send its schema does not keep the controller from starting.
func TestControllerDoesNotWaitForTheSchema(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, versionAnswer("v1.36.3"))
			cancel() // the time limit is over once the version is read
			return
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	got := readServerInfo(ctx, controllerClient(t, controllerConfig(t, "server: "+s.URL, "")))
	if got.managedBy != nil || got.problem == nil {
		t.Errorf("got %+v", got)
	}
	if advice, err := got.check(true); got.minor == 36 && (advice != "" || err != nil) {
		t.Errorf("%q, %v", advice, err)
	}
}

// The schema of a real API server has the field at the expected place.
func TestManagedByIsFoundInTheSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/openapi-jobspec.json")
	assert.NoError(t, err)
	advice, err := checkServer(t, &aboutServer{version: versionAnswer("none"), schema: string(text)})
	if advice != "" || err != nil {
		t.Errorf("%q, %v", advice, err)
	}
}
