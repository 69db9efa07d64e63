package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-01
func TestAgeHasTwoUnitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", -time.Hour: "0s", time.Second: "1s", 59 * time.Second: "59s", 59*time.Second + 600*time.Millisecond: "59s",
		400 * time.Millisecond: "0s", time.Minute: "1m", 70 * time.Second: "1m10s", 10*time.Minute + 10*time.Second: "10m10s",
		20 * time.Minute: "20m", time.Hour: "1h", 90 * time.Minute: "1h30m", 70 * time.Minute: "1h10m", 10*time.Hour + 59*time.Second: "10h",
		24 * time.Hour: "1d", 34 * time.Hour: "1d10h", 240 * time.Hour: "10d", time.Hour + 59*time.Minute + 59*time.Second + 600*time.Millisecond: "1h59m",
	} {
		assert.Equal(t, wording.Age(d), want, d)
	}
}

// Requirements: CLI-40. The cause of a short explanation has the meaning of a known error instead of what was said about it, and
// the exit code of a container that the kubelet killed.
func TestCauseSentence(t *testing.T) {
	notFound := `failed to create containerd task: failed to create shim task: OCI runtime create failed: exec: "trian": executable file not found in $PATH`
	for want, c := range map[string]explain.Cause{
		"Container main could not be started (StartError): command trian was not found in the container": {
			Text: "Container main could not be started (StartError)", Ended: explain.Ended{Message: notFound}, Error: &meaning.KnownError{Kind: meaning.ErrorCommandNotFound, Subject: "trian"},
		},
		"Container main exited with code 3: schema 7 is not supported": {Text: "Container main exited with code 3", Ended: explain.Ended{Message: "loading\nschema 7 is not supported."}},
		"Container main was killed because its liveness probe failed (exit code 137): “connection refused”": {
			Text: "Container main was killed because its liveness probe failed", Ended: explain.Ended{ExitCode: ptr.To[int32](137), Message: "connection refused", Ending: &meaning.Ending{Kind: meaning.EndProbe, Probe: "liveness", Container: "main"}},
		},
		"Pod was terminated because its node shut down": {
			Text: "Pod was terminated because its node shut down", Ended: explain.Ended{ExitCode: ptr.To[int32](143), Message: "imminent node shutdown", Ending: &meaning.Ending{Kind: meaning.EndNodeShutdown}},
		},
	} {
		assert.Equal(t, CauseSentence(&c), want)
	}
}

// Requirements: CLI-30. A narrow column names the container that a pod waits for.
func TestProblemBriefNamesTheContainer(t *testing.T) {
	for want, p := range map[string]explain.Problem{
		"istio-proxy still runs":          {Kind: explain.ProblemContainerEnded, Container: "main", Run: explain.Run{Exit: &cause.Exit{}}, Stopping: explain.Stopping{Running: []string{"istio-proxy"}}},
		"exit 3, mesh and logs still run": {Kind: explain.ProblemContainerFailed, Container: "main", Run: explain.Run{Exit: &cause.Exit{ExitCode: 3}}, Stopping: explain.Stopping{Running: []string{"mesh", "logs"}}},
		"agent still runs":                {Kind: explain.ProblemSidecarStopping, Container: "main", Run: explain.Run{Exit: &cause.Exit{}}, Stopping: explain.Stopping{Running: []string{"agent"}}},
		"init container wait-for-db runs": {Kind: explain.ProblemInitRunning, Container: "wait-for-db"},
		"sidecar cache not started":       {Kind: explain.ProblemSidecarNotStarted, Container: "cache"},
		"":                                {Kind: explain.ProblemUnschedulable},
	} {
		assert.Equal(t, ProblemBrief(&p), want)
	}
}

// Requirements: CLI-40. A message is a clause of its own if the room beside the text would cut its end.
func TestMessageKeepsItsEnd(t *testing.T) {
	t.Parallel()
	const text, room = "container main exited with code 1", 80
	value := strings.Repeat("v", 50)
	for message, want := range map[string][]string{
		"no port":                     {text + ": no port"},
		"cannot make a key: " + value: {text, "cannot make a key: " + value},
		"specField of " + value:       {text + ": specField of " + value[:31] + "…"},
		"tool: cannot start: cannot get the key of client.a": {text + ": cannot start: cannot get the key of client.a"},
		strings.Repeat("word ", 40):                          {text + ": " + strings.TrimSpace(strings.Repeat("word ", 9)) + "…"},
	} {
		assert.SlicesEqual(t, plainly(message).clauses(text, room), want, message)
	}
}

// Requirements: CLI-18
func TestLastLinesBeginWithTheKnownError(t *testing.T) {
	t.Parallel()
	lines := append([]string{"start", "dial tcp: lookup db: no such host"}, strings.Split(strings.Repeat("* or ask\n", 11), "\n")...)
	got := LastLines(strings.Join(lines, "\n"))
	assert.SlicesEqual(t, got, lines[1:11])
}

// Requirements: CLI-06
func TestEachKindOfProblemHasWords(t *testing.T) {
	source, err := os.ReadFile("../problem.go")
	assert.NoError(t, err)
	kinds := regexp.MustCompile(`\bProblemKind = "(\w+)"`).FindAllSubmatch(source, -1)
	if len(kinds) == 0 || len(kinds) != len(problems) {
		t.Errorf("there are %d kinds, and words for %d", len(kinds), len(problems))
	}
	for _, kind := range kinds {
		if problems[explain.ProblemKind(kind[1])].what == nil {
			t.Errorf("package words has no row for problem %s", kind[1])
		}
	}
}

// Every way in which Jobs end has a row, with a sentence if the Job fails.
func TestEveryEndHasWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../end.go", nil, 0)
	assert.NoError(t, err)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		of, known := ends[explain.EndedBy(value)]
		succeeds := value == string(explain.EndedBySuccessPolicy) || value == string(explain.EndedByCompletions)
		if found++; !known || !succeeds && of.headline == nil && of.sentence == nil {
			t.Errorf("no words for %s", value)
		}
		return true
	})
	assert.Equal(t, found, len(ends), "kinds and rows")
}
