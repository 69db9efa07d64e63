package replay_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/explain"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/lint"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/simulate"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/status"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/replay"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/situation"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

var (
	only   = flag.String("only", "", "replay the cases whose name matches this regular `expression`")
	folder = flag.String("cases", "", "replay the cases of this `folder`, which has their recordings too, instead of test/world/field/cases")
)

// takes returns the names of a case's recordings, for the built-in controller and for ours, which make test leaves out (-short).
func takes(c situation.Case) []string {
	if testing.Short() {
		return []string{c.Name}
	}
	return []string{c.Name, c.Name + "-ours"}
}

// verbs are those that cases ask. Each command line makes the program anew with its verb alone: cobra keeps every command forever.
var verbs = map[string]clitest.Program{
	"why": explain.NewCommand, "explain-failure": explain.NewCommand, "status": status.NewCommand, "wait": wait.NewCommand,
	"lint": lint.NewCommand, "simulate": simulate.NewCommand,
}

// ask runs the plugin at the time of the recording and returns its output.
func ask(t *testing.T, r *replay.Recording, namespace string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clitest.Patience)
	defer cancel()
	env := clitest.NewEnv()
	env.Now = func() time.Time { return r.At }
	if args[0] != "lint" && args[0] != "simulate" {
		args = append(args, "-n", namespace)
	}
	var out bytes.Buffer
	err := clitest.ProgramOf(verbs[args[0]]).Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out}, env)
	cmdutil.PrintError(&out, err)
	return strings.ReplaceAll(out.String(), namespace, "namespace") // the case's name could match a fact
}

// verdicts asks about a recorded take, as make field does.
func verdicts(t *testing.T, c situation.Case, file string) []situation.Verdict {
	t.Helper()
	take := strings.TrimSuffix(filepath.Base(file), ".yaml")
	recording, err := replay.Load(file)
	assert.NoError(t, err)
	server := httptest.NewServer(recording)
	defer server.Close()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, server.URL))
	t.Chdir(c.Dir)
	var all []situation.Verdict
	for _, a := range c.Asks {
		var answer situation.Answer
		if a.Run != "" {
			answer.Text = ask(t, recording, take, strings.Fields(a.Run)...)
		} else {
			answer.Short = ask(t, recording, take, "why", a.About)
			answer.Text = ask(t, recording, take, "why", a.About, "--full")
		}
		if a.About != "" && !strings.Contains(a.About, "/") {
			answer.JSON = ask(t, recording, take, "why", a.About, "-o", "json")
		}
		all = append(all, a.Judge(answer))
	}
	return all
}

// Requirements: FLD-03. A recording has the logs of containers, which are served as the API server does.
func TestRecordedLogsAreServed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	log := recorded.Log{Pod: "a", Container: "main", Previous: true, Text: "one\ntwo\n"}
	if _, err := recorded.Write(file, "It fails.", time.Now(), []unstructured.Unstructured{log.Object()}); err != nil {
		t.Fatal(err)
	}
	recording, err := replay.Load(file)
	assert.NoError(t, err)
	for query, want := range map[string]int{"container=main&previous=true&tailLines=1": http.StatusOK, "container=main": http.StatusBadRequest} {
		answer := httptest.NewRecorder()
		recording.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/ns/pods/a/log?"+query, nil))
		if answer.Code != want || want == http.StatusOK && answer.Body.String() != "two\n" {
			t.Errorf("%s: %d %s", query, answer.Code, answer.Body)
		}
	}
}

// Requirements: FLD-03. Each recorded case is explained with the facts of a good answer, and docs/internals/field.md quotes the first
// sentences.
func TestRecordedCasesAreExplained(t *testing.T) {
	cases, err := situation.Load(cmp.Or(*folder, "../cases"), regexp.MustCompile(*only))
	assert.NoError(t, err)
	first := map[string][]situation.Verdict{}
	for _, c := range cases {
		if c.Dir, err = filepath.Abs(c.Dir); err != nil {
			t.Fatal(err)
		}
		played, faults := false, 0
		for _, take := range takes(c) {
			file := filepath.Join(cmp.Or(*folder, "../recordings"), take+".yaml")
			if _, err := os.Stat(file); err != nil {
				continue
			}
			played = true
			t.Run(take, func(t *testing.T) {
				all := verdicts(t, c, file)
				for _, v := range all {
					faults += len(v.Faults)
					for _, fault := range v.Faults {
						if c.Owed {
							t.Logf("owed: %s%s: %s\n%s", v.Ask.About, v.Ask.Run, fault, v.First)
							continue
						}
						t.Errorf("%s%s: %s\n%s", v.Ask.About, v.Ask.Run, fault, v.First)
					}
				}
				if first[c.Name] == nil {
					first[c.Name] = all
				}
			})
		}
		if played && c.Owed && faults == 0 {
			t.Errorf("%s is explained with all facts: remove owed from its expect.yaml", c.Name)
		}
		if !played {
			t.Errorf("%s has no recording; run: make field RECORD=test/world/field/recordings", c.Name)
		}
	}
	if *only == "" && *folder == "" {
		clitest.Golden(t, "../../../../../docs/internals/field.md", situation.Page(cases, first))
	}
}
