package tui

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	left := ownSequences.ReplaceAllString(content, "") + b.View().WindowTitle
	for _, bad := range []string{"\x1b", "\r", "\x07", "\u202e", "\u2028", "\u200b", "\u009b"} {
		assert.NotContains(t, left, bad, "the frame")
	}
	assert.NotContains(t, content, "\x1b[31m", "the color of the text is obeyed")
}

// infected appends hostile text to all strings of a value.
func infected[T any](value *T) *T {
	infect(reflect.ValueOf(value))
	return value
}

// infect appends hostile text to all strings of a value, except for strings with a type of their own, and lists of indexes.
func infect(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type().Name() == "string" {
			v.SetString(v.String() + evil)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			infect(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			infect(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[types.NamespacedName]() || v.Type() == reflect.TypeFor[metav1.Time]() ||
				(v.Type() == reflect.TypeFor[explain.Indexes]() && v.Type().Field(i).Name != "Details") ||
				(v.Type() == reflect.TypeFor[explain.Job]() && v.Type().Field(i).Name == "RestartPolicy") {
				continue
			}
			infect(v.Field(i))
		}
	}
}

// Issue 6: control characters from the cluster do not reach the terminal.
func TestHostileText(t *testing.T) {
	for _, c := range []struct{ move, keys, jobs string }{
		{"right", "12", "index-backoff failure-policy-named quota running-success-policy two-containers terminating-holds-slot work-queue invalid-rule-names"},
		{"tab", "1346e?", "failure-policy-named running-success-policy quota three-causes image-pull invalid-rule-names suspended-kueue"},
	} {
		for _, job := range strings.Fields(c.jobs) {
			t.Run(c.move+" "+job, func(t *testing.T) {
				s := load(t, job)
				infected(s.Job.Report)
				s.Link = snapshot.Link{StaleSince: &s.Time, Why: evil}
				for _, key := range strings.Split(c.keys, "") {
					for _, at := range sizes {
						b := open(t, s, at, nil, key)
						for range 8 {
							checkHarmless(t, b)
							checkFrame(t, b, at)
							b.press("down", c.move)
						}
					}
				}
			})
		}
	}
}

// Issue 6: hostile text is shown as visible characters in the list of Jobs.
func TestHostileTextIsSafeInTheList(t *testing.T) {
	items := someJobs()
	infected(&items)
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
	r := infected(podReport())
	r.Job.Namespace, r.Job.Name = trainKey().Namespace, trainKey().Name
	for i, p := range podReport().Pods {
		r.Pods[i].Phase = p.Phase
	}
	r.Gaps = []input.Gap{{What: "pods", Text: evil, Command: evil}}
	log := &snapshot.Log{Container: evil, Why: evil, Dropped: 3, Lines: []snapshot.LogLine{{Text: evil}, {Text: "\t" + strings.Repeat(evil, 50)}, {Text: "x1b " + evil + "\r"}}}
	detail := infected(podDetail())
	detail.Name, detail.Gone, detail.Gaps = r.Pods[0].Name, true, r.Gaps
	for _, at := range sizes {
		s := podsSnapshot(r)
		s.Focus.Pod, s.Pod, s.Log = r.Pods[0].Name, detail, log
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
