package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// ownersAPI returns an API server with Jobs, CronJobs and pods, but no JobSets.
func ownersAPI(t *testing.T) *httptest.Server {
	t.Helper()
	job := clitest.SimpleJob("ns1", "train", 0)
	_ = unstructured.SetNestedField(job.Object, "Indexed", "spec", "completionMode")
	_ = unstructured.SetNestedField(job.Object, int64(4), "spec", "completions")
	_ = unstructured.SetNestedField(job.Object, "2", "status", "failedIndexes")
	fake := clitest.NewAPI(t, job)
	lists := map[string][]string{
		"/apis/batch/v1/namespaces/ns1/cronjobs?":                                             {"nightly", "hourly"},
		"/api/v1/namespaces/ns1/pods?batch.kubernetes.io/job-name=train status.phase=Failed":  {"train-2-x", "train-2-a"},
		"/api/v1/namespaces/ns1/pods?batch.kubernetes.io/job-name=train status.phase!=Failed": {"train-0-y"},
		"/api/v1/namespaces/ns1/pods?batch.kubernetes.io/job-name":                            {"train-1-b", "eval-a"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		names, ok := lists[r.URL.Path+"?"+strings.TrimSpace(q.Get("labelSelector")+" "+q.Get("fieldSelector"))]
		if !ok {
			fake.Serve(w, r)
			return
		}
		assert.Equal(t, strings.HasSuffix(r.URL.Path, "/pods"), (q.Get("limit") == "100"), r.URL)
		items := []any{}
		for _, name := range names {
			items = append(items, clitest.Partial(map[string]any{"name": name}))
		}
		clitest.WriteJSON(w, http.StatusOK, map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": items})
	}))
	t.Cleanup(server.Close)
	return server
}

// ux.md, "Side by side": completion. CLI-04's verb completes owners of Jobs, pods and indexes.
func TestOwnersPodsAndIndexesAreCompleted(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, ownersAPI(t).URL))
	program.Completes(t, nil, map[string]string{
		"why|":                         "train :4",
		"why|train|":                   " :4",
		"why|job/":                     "job/train :4",
		"why|cronjob/":                 "cronjob/hourly cronjob/nightly :4",
		"why|cj/n":                     "cj/nightly :4",
		"why|cronjob/nightly|cronjob/": "cronjob/hourly :4",
		"why|jobset/":                  " :4",
		"why|cr":                       "cronjob/ :6",
		"why|jo":                       "job/ jobset/ :6",
		"why|pod/":                     "pod/eval-a pod/train-1-b :4",
		"why|-A|":                      " :4",
		"why|-A|cronjob/":              " :4",
		"why|-l|x=y|cr":                " :4",
		"why|train|--pod|":             "train-2-a train-2-x train-0-y :36",
		"why|train|--pod|train-0":      "train-0-y :36",
		"why|--pod|":                   " :36",
		"why|cronjob/nightly|--pod|":   " :36",
		"why|train|--index|":           "2 0 1 3 :36",
		"why|train|--index|2,":         "2,3 :36",
		"why|train|-o|":                "go-template go-template-file json jsonpath jsonpath-as-json jsonpath-file kyaml name template templatefile yaml :4",
		"why|train|--color|a":          "auto always :4",
	})
}

// logs accepts any number of Jobs, or pods of Jobs.
func TestLogsOfJobsAndPodsAreCompleted(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, ownersAPI(t).URL))
	program.Completes(t, nil, map[string]string{
		"logs|":                    "train :4",
		"logs|train|":              " :4",
		"logs|pod/":                "pod/eval-a pod/train-1-b :4",
		"logs|po/t":                "po/train-1-b :4",
		"logs|pod/eval-a|pod/":     "pod/train-1-b :4",
		"logs|-l|x=y|pod/":         " :4",
		"logs|train|--index|":      "2 0 1 3 :36",
		"logs|train|eval|--index|": " :36",
	})
}

// Only flags whose value is a file are completed with files.
func TestFilesAreOfferedWhereTheyAreMeant(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	program.Completes(t, nil, map[string]string{
		"create|-f|":                  "json yaml yml :8",
		"lint|-f|":                    "json yaml yml :8",
		"lint|":                       " :4",
		"status|-l|":                  " :4",
		"wait|--timeout|":             " :4",
		"logs|train|--since|":         " :4",
		"status|--kubeconfig|":        " :0",
		"controller|":                 " :4",
		"controller|--tls-cert-file|": " :0",
		"controller|--namespaces|":    " :4",
		"status|--user|":              "u :4",
		"status|--cluster|":           "c :4",
		"bundle|-f|":                  " :0",
		"bundle|--redact|":            " :4",
		"bundle|--max-log-lines|":     " :4",
		"why|--from|":                 " :0",
		"what-if|--from|":             " :0",
		"watch|--from|":               " :0",
		"demo|":                       " :4",
		"demo|--color|n":              "never :4",
		"wait|--for|c":                "complete condition=Suspended condition=SuccessCriteriaMet condition=FailureTarget :4",
	})
}

// A cluster that does not answer, and a credential plugin that hangs, delay the shell by two seconds at most, and
// nothing is printed.
func TestCompletionIsQuick(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // Connections are not accepted.
	assert.NoError(t, err)
	defer listener.Close()
	silent := "http://" + listener.Addr().String()
	plugin := filepath.Join(t.TempDir(), "plugin")
	content := `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: c, cluster: {server: "` + strings.Replace(silent, "http", "https", 1) + `"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, exec sleep 6 2>/dev/null]}}}]
contexts: [{name: test, context: {cluster: c, user: u, namespace: ns1}}]
`
	assert.NoError(t, os.WriteFile(plugin, []byte(content), 0o600))
	for _, kubeconfig := range []string{clitest.WriteKubeconfig(t, silent), plugin} {
		t.Setenv("KUBECONFIG", kubeconfig)
		ctx, cancel := context.WithTimeout(t.Context(), clitest.Patience)
		env, out, err := clitest.NewEnv(), &bytes.Buffer{}, error(nil)
		env.Out, env.ErrOut = out, io.Discard
		measure.CheckTime(t, 2*cmdutil.CompletionTimeout, func() {
			err = cmdutil.Execute(ctx, program(env), []string{"__complete", "status", ""})
		})
		if err != nil || ctx.Err() != nil || out.String() != ":4\n" {
			t.Errorf("%v, %v: %q", err, ctx.Err(), out.String())
		}
		cancel()
	}
}

// kubectl runs kubectl_complete-batchjob; users without `make install` create it with the script in the help.
func TestCompletionScriptForKubectl(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".krew", "bin")
	assert.NoError(t, os.MkdirAll(bin, 0o755))
	plugin := "#!/bin/sh\nprintf '[%s]' \"$@\"\n"
	assert.NoError(t, os.WriteFile(filepath.Join(bin, "kubectl-batchjob"), []byte(plugin), 0o755))
	sh := func(script string, args ...string) string {
		cmd := exec.Command("sh", append([]string{"-ec", script, "sh"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, script, out)
		return string(out)
	}
	var steps []string
	for line := range strings.Lines(help.CompletionLong) {
		if strings.HasPrefix(line, "  ") {
			steps = append(steps, line)
		}
	}
	sh(strings.Join(steps, ""))
	ours, err := filepath.Abs("../../krew/kubectl_complete-batchjob")
	assert.NoError(t, err)
	for _, script := range []string{filepath.Join(bin, "kubectl_complete-batchjob"), ours} {
		const want = "[__complete][status][-n][a b][]"
		assert.Equal(t, sh(`exec "$@"`, script, "status", "-n", "a b", ""), want, script)
	}
}

// The scripts of the completion verb are valid in their shells, and complete the binary called directly.
func TestCompletionScriptInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl-batchjob"), []byte("#!/bin/sh\necho why\necho :4\n"), 0o755))
	script := filepath.Join(dir, "script")
	assert.NoError(t, os.WriteFile(script, []byte(program.Run(t, nil, "completion", "bash").Out), 0o600))
	// _init_completion is part of bash-completion, which may not be installed.
	cmd := exec.Command(bash, "-c", `_init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
. "$1"; COMP_WORDS=(kubectl-batchjob wh); COMP_CWORD=1; COMP_LINE="kubectl-batchjob wh"; COMP_POINT=${#COMP_LINE}
__start_kubectl-batchjob; echo "${COMPREPLY[@]}"`, "bash", script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != "why" {
		t.Errorf("%v: %q", err, out)
	}
}

// Requirements: CLI-04
func TestTheOtherNameOfWhyCompletesOnceAPartOfItIsTyped(t *testing.T) {
	for typed, want := range map[string]bool{"expl": true, "explain-f": true, "": false, "w": false} {
		assert.Equal(t, strings.Contains(program.Run(t, nil, "__complete", typed).Out, "explain-failure"), want, typed)
	}
}
