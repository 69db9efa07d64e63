package tui

import (
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// evil is text that would set the title, clear, recolor, jump back, ring, and reverse the direction.
const evil = "\x1b]0;pwned\x07\x1b[2J\x1b[31m\rx\ny\u202e\u2028\x9b31m\xff\u200b\x1bPq\x1b\\"

// ownSequences matches the sequences of the theme: colors and attributes.
var ownSequences = regexp.MustCompile("\x1b\\[[0-9;]*m")

// checkHarmless fails if a frame contains a byte that a terminal interprets and we did not write.
func checkHarmless(t *testing.T, b *testbed) {
	t.Helper()
	content := b.View().Content
	left := ownSequences.ReplaceAllString(content, "")
	for _, bad := range []string{"\x1b", "\r", "\x07", "\u202e", "\u2028", "\u200b", "\u009b"} {
		assert.NotContains(t, left, bad, "the frame")
	}
	assert.NotContains(t, content, "\x1b[31m", "the color of the text is obeyed")
}

// evilReport is like podReport with hostile text in all text fields.
func evilReport() *explain.Report {
	r := podReport()
	r.FailurePolicy.Rules[0].Name += evil
	for i := range r.Pods {
		p := &r.Pods[i]
		p.Name, p.State, p.Node, p.Cause, p.Action, p.Counted = p.Name+evil, evil+p.State, evil+p.Node, evil+p.Cause, evil+p.Action, evil+p.Counted
	}
	r.Indexes.Details[0].Cause, r.Indexes.Details[0].State = evil, evil
	r.Indexes.Details[0].Pod = r.Pods[0].Name
	r.Causes[0].Text, r.Causes[0].Meaning, r.Causes[0].Message, r.Causes[0].RuleName = evil, evil, evil, evil
	r.Causes[0].Pods = []string{r.Pods[0].Name}
	r.Gaps = []input.Gap{{What: "pods", Text: evil, Command: evil}}
	return r
}

func evilDetail(name string) *explain.PodDetail {
	run := explain.ContainerRun{State: "Terminated", Reason: evil, Message: evil, ExitCode: ptr.To[int32](1), Signal: evil}
	waits := explain.ContainerRun{State: evil, Reason: evil, Message: evil}
	return &explain.PodDetail{
		Name: name, Node: evil, Phase: evil, State: evil, Reason: evil, Message: evil, Gone: true,
		Containers: []explain.ContainerInfo{{Name: evil, Image: evil, Now: run, Before: &waits}, {Name: "b" + evil, Now: waits, Restarts: 2}},
		Conditions: []explain.Condition{{Type: evil, Status: evil, Reason: evil, Message: evil}},
		Events:     []explain.PodEvent{{Reason: evil, Message: evil, Source: evil, Count: 2, Warning: true, Last: metav1.NewTime(testNow())}},
		Gaps:       []input.Gap{{Text: evil, Command: evil}},
	}
}

// Issue 6: hostile text is shown as visible characters in the list of Jobs.
func TestHostileTextIsSafeInTheList(t *testing.T) {
	items := someJobs()
	for i := range items {
		o := &items[i]
		o.Namespace, o.Name, o.Status, o.Reason, o.ManagedBy, o.RuleName = evil+o.Namespace, o.Name+evil, evil+o.Status, evil, evil, evil
		o.FailedIndexes = ptr.To(evil + "," + evil)
	}
	for _, at := range sizes {
		b := open(t, jobsSnapshot(items...), at, func(o *Options) { o.What = evil })
		for _, keys := range [][]string{{}, {"down"}, {"r"}, {"s", "s"}, {"/", "1", "b"}, {"enter"}, {"y"}, {"esc"}} {
			b.press(keys...)
			checkHarmless(t, b)
			checkFrame(t, b, at)
		}
		b = open(t, jobsSnapshot(), at, func(o *Options) { o.What = evil })
		checkHarmless(t, b)
	}
}

// Issue 6: hostile text is harmless in the tab Pods, on the pod screen, and in logs.
func TestHostileTextIsSafeInPodsAndLogs(t *testing.T) {
	r := evilReport()
	log := &snapshot.Log{Container: evil, Why: evil, Dropped: 3, Lines: []snapshot.LogLine{{Text: evil}, {Text: "\t" + strings.Repeat(evil, 50)}, {Text: "x1b " + evil + "\r"}}}
	for _, at := range sizes {
		s := podsSnapshot(r)
		s.Focus.Pod, s.Pod, s.Log = r.Pods[0].Name, evilDetail(r.Pods[0].Name), log
		b := open(t, s, at, nil)
		for _, keys := range [][]string{
			{"5"}, {"r"}, {"down"}, {"/", "p", "enter"}, {"esc"}, {"g", "y"}, {"enter"}, {"pgdown"}, {"3"}, {"2"}, {"t"}, {"W"}, {"/", "p", "w", "n", "enter"}, {"up"}, {"c"}, {"["},
		} {
			b.press(keys...)
			checkHarmless(t, b)
			checkFrame(t, b, at)
		}
		b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](1)))
		checkHarmless(t, b)
		b.push(pods.NewScreen(trainKey(), "gone"+evil, nil))
		checkHarmless(t, b)
	}
}
