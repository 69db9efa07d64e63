package logprinter

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// noAnswer is the API server's error for a log on a node whose kubelet it cannot reach.
func noAnswer(node string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: fmt.Sprintf(
		`Get "https://%s:10250/containerLogs/ns/p/main": dial tcp: lookup %s: no such host`, node, node)}}
}

func sourceOn(pod, node string) logs.Source {
	return logs.Source{Pod: &logs.Pod{Name: pod, UID: types.UID(pod), Node: node}, Container: "main"}
}

// Requirements: CLI-20
func TestUnreadableLogsAreOneLineForEachReason(t *testing.T) {
	var out, errOut strings.Builder
	p := NewOutput(&out, &errOut, Style{})
	p.IsSimulated = func(node string) bool { return strings.HasPrefix(node, "kwok") }
	for i := range 10 {
		source := sourceOn(fmt.Sprintf("p%d", i), fmt.Sprintf("node-%d", i%5))
		p.OnInterrupted(source, noAnswer(source.Pod.Node))
		p.OnUnreadable(&logs.UnreadableError{Source: source, Err: noAnswer(source.Pod.Node)})
		simulated := sourceOn(fmt.Sprintf("k%d", i), "kwok-0")
		p.OnInterrupted(simulated, noAnswer("kwok-0"))
		p.OnUnreadable(&logs.UnreadableError{Source: simulated, Err: noAnswer("kwok-0")})
	}
	p.OnUnreadable(&logs.UnreadableError{Source: sourceOn("other", "n"), Err: errors.New("broken")})
	p.sources = 30
	err := p.ReportUnread()
	const want = `Cannot read the log of pod p0, container main, retrying: the kubelet of node node-0 cannot be reached (dial tcp: lookup node-0: no such host)
Node kwok-0 is simulated: its pods have no logs.
Cannot read the logs of 10 pods: their nodes do not answer (node-0 … node-4).
10 pods have no logs, because their node is simulated (kwok-0).
Cannot read the log of pod other, container main: broken
`
	assert.Equal(t, errOut.String(), want)
	if err == nil || err.Error() != "21 of 30 logs could not be read" {
		t.Error(err)
	}
}

// Output reports that a log can be read again, and then the next interruption.
// Requirements: CLI-20
func TestInterruptedLogsAreReportedOneAtATime(t *testing.T) {
	var errOut strings.Builder
	p := NewOutput(&strings.Builder{}, &errOut, Style{Follow: true})
	a, b := sourceOn("a", "node"), sourceOn("b", "node")
	p.OnInterrupted(a, noAnswer("node"))
	p.OnInterrupted(b, noAnswer("node"))
	p.OnInterrupted(b, nil)
	p.OnInterrupted(a, nil)
	p.OnInterrupted(b, noAnswer("node"))
	const failure = ", retrying: the kubelet of node node cannot be reached (dial tcp: lookup node: no such host)\n"
	want := "Cannot read the log of pod a, container main" + failure + "The log of pod a, container main can be read again.\nCannot read the log of pod b, container main" + failure
	assert.Equal(t, errOut.String(), want)
	assert.NoError(t, p.ReportUnread())
}
