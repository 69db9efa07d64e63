package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// someLog returns a log of n lines.
func someLog(n int) *snapshot.Log {
	log := &snapshot.Log{Container: "main"}
	for i := range n {
		text := fmt.Sprintf("step %d: loss 0.%03d", i, 999-i%1000)
		switch i % 10 {
		case 3:
			text = fmt.Sprintf("WARNING step %d: the gradient of layer transformer.h.%d.attn.c_proj.weight is larger than the clip of 1.0, and was scaled down by a factor of 0.0312", i, i%48)
		case 6:
			text = fmt.Sprintf("\x1b[32mstep\x1b[0m\t%d\tdone", i)
		}
		log.Lines = append(log.Lines, snapshot.LogLine{Time: testNow().Add(time.Duration(i-n) * time.Second), Text: text})
	}
	return log
}

// Issue 6, 3: logs in all sizes and looks.
func TestLogsFitEverySize(t *testing.T) {
	goldens(t, "logs.follow", podSnapshot(podDetail(), someLog(200)), nil, "5", "l")
	long := someLog(200)
	long.Dropped = 1800
	goldens(t, "logs.filtered", podSnapshot(podDetail(), long), nil, "5", "l", "t", "/", "w", "a", "r", "n", "enter", "up")
	goldens(t, "logs.cut", podSnapshot(podDetail(), long), nil, "5", "l", "W", "g")
	ended := someLog(12)
	ended.Ended = true
	goldens(t, "logs.ended", podSnapshot(podDetail(), ended), nil, "5", "l")
	goldens(t, "logs.why", podSnapshot(podDetail(), &snapshot.Log{Container: "main", Why: "container \"main\" in pod \"train-large-model-1-zx9qk\" is waiting to start: ImagePullBackOff"}), nil, "5", "l")
	goldens(t, "logs.waiting", podSnapshot(podDetail(), nil), nil, "5", "l")
}

// logsBed opens a log.
func logsBed(t *testing.T, log *snapshot.Log, at size) *testbed {
	t.Helper()
	b := open(t, podSnapshot(podDetail(), log), at, nil)
	b.push(pods.NewScreen(trainKey(), "train-large-model-1-zx9qk", nil))
	b.press("l")
	b.View()
	return b
}

// log sends a new version of the log.
func (b *testbed) log(log *snapshot.Log) {
	b.news(b.data.Snap, func(next *snapshot.Snapshot) { next.Log = log })
	b.View()
}

// Issue 6, 3: a log is followed until the user scrolls up, and again after G or f.
func TestLogsFollow(t *testing.T) {
	grow := func(n int) *snapshot.Log {
		log := &snapshot.Log{Container: "main"}
		for i := range n {
			log.Lines = append(log.Lines, snapshot.LogLine{Text: fmt.Sprintf("line %d.", i)})
		}
		return log
	}
	n := 100
	b := logsBed(t, grow(n), size{80, 24})
	for _, c := range []struct {
		key     string
		follows bool
	}{{"", true}, {"up", false}, {"G", true}, {"pgup", false}, {"end", true}, {"f", false}, {"f", true}, {"g", false}, {"f", true}, {"down", true}, {"k", false}, {"j", false}} {
		if c.key != "" {
			b.press(c.key)
		}
		n += 5
		b.log(grow(n))
		last := fmt.Sprintf("line %d.", n-1)
		if c.follows {
			b.has(t, "following ▼", last)
		} else {
			b.has(t, "held, G follows")
			hides(b, last)
		}
	}
}

// Issue 6, 3: the visible lines stay while lines are added and old ones are dropped.
func TestLogsStayWhenLinesAreDropped(t *testing.T) {
	b := logsBed(t, someLog(200), size{80, 24})
	b.press("pgup", "pgup", "up")
	text := func() string { _, text, _ := strings.Cut(b.picture(), "held, G follows"); return text }
	want := text()
	for _, drop := range []int{1, 50, 120} {
		log := someLog(400)
		log.Lines, log.Dropped = log.Lines[drop:], drop
		for i := range log.Lines { // Times as in the first log.
			log.Lines[i].Time = testNow()
		}
		b.log(log)
		assert.Equalf(t, text(), want, "after %d were dropped", drop)
	}
	log := someLog(400)
	log.Lines, log.Dropped = log.Lines[300:], 300
	b.log(log)
	b.has(t, "step 300: ")
}

// Issue 6, 3: scrolling down and up again line by line shows the same pictures, wrapped or not.
func TestLogsScrollEveryLine(t *testing.T) {
	for _, wrap := range []bool{true, false} {
		b := logsBed(t, someLog(60), size{60, 20})
		if !wrap {
			b.press("W")
		}
		b.press("g")
		b.has(t, "step 0:")
		var down []string
		for {
			down = append(down, b.picture())
			b.press("down")
			if b.picture() == down[len(down)-1] {
				break
			}
		}
		b.has(t, "step 59:")
		if lines := len(down); wrap && lines < 55 || !wrap && lines < 40 {
			t.Errorf("%d steps", lines)
		}
		for i := len(down) - 1; i > 0; i-- {
			if b.picture() != down[i] {
				t.Fatalf("%d steps up, wrapped %v:\n%s\nwant:\n%s", len(down)-1-i, wrap, b.picture(), down[i])
			}
			b.press("up")
		}
	}
}

// The filter shows only lines that match a regular expression, and highlights the matches. A bad one hides no line.
// Requirements: VIE-13
func TestLogsFilter(t *testing.T) {
	b := logsBed(t, someLog(200), size{160, 50})
	b.press("/")
	b.write("!WARN(ING)?|step")
	b.has(t, "/!WARN(ING)?|step  0 of 200 lines")
	b.press("esc", "/")
	b.write("gradient of .*h[.]3[.")
	b.has(t, "/gradient of .*h[.]3[.  no regular expression: missing closing ]", "step 199")
	b.write("]")
	b.press("enter")
	b.has(t, "1 of 200 lines", "WARNING step 3:")
	if m := b.marked(); strings.Count(m, "␛[7mgradient of layer transformer.h.3.␛[m") == 0 {
		t.Errorf("nothing is marked:\n%s", m)
	}
	b.press("esc")
	b.has(t, "container main, 200 lines")
}

// Issue 6, 3: t shows times, W cuts lines, tabs become spaces, and a huge line is cut.
func TestLogsShowTimesAndCutLines(t *testing.T) {
	log := someLog(10)
	log.Lines[9].Text = "a\tb\r"
	b := logsBed(t, log, size{80, 24})
	b.has(t, "was scaled down by a factor of 0.0312", "a       b")
	hides(b, `\r`, `\t`, "11:59:59.000")
	b.press("W")
	hides(b, "0.0312")
	b.press("t")
	b.has(t, "11:59:50.000 step 0", "11:59:59.000 a       b")
	b.press("W", "t")
	b.has(t, "0.0312")
	log = someLog(1)
	log.Lines[0].Text = strings.Repeat("ж", 8<<10)
	b.log(log)
	b.has(t, "(and 8,192 more bytes)")
	b.press("up", "up")
	b.has(t, "ж")
}

// Issue 6, 3: c and p explain if they cannot do anything.
func TestSingleContainerHasNoOther(t *testing.T) {
	b := logsBed(t, someLog(1), size{80, 24})
	b.data.Snap.Pod.Containers = b.data.Snap.Pod.Containers[:1]
	b.press("c")
	b.has(t, "the pod has one container only")
	b.data.Snap.Pod = nil
	b.press("c")
	b.has(t, "the containers are not known yet")
}

// Issue 6, 3: after c or p, the previous log is not shown as the requested one.
func TestLogOfAnotherTargetIsNotShown(t *testing.T) {
	for _, key := range []string{"c", "p"} {
		b := logsBed(t, someLog(5), size{80, 24})
		b.press(key)
		b.has(t, "Reading the log of pod train-large-model-1-zx9qk")
		hides(b, "step 1")
		log := someLog(5)
		log.Target = *b.focus.looked.Log
		b.log(log)
		b.has(t, "step 1")
	}
}
