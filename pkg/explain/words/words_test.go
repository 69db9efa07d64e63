package words

import (
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
