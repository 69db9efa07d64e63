package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// failedLog returns the logs of twelve failed pods.
func failedLog() *snapshot.Log {
	log := &snapshot.Log{Target: snapshot.LogTarget{Failed: true}, Ended: true}
	for pod := range 12 {
		name := fmt.Sprintf("[index %d attempt %d]", pod*7, 1+pod%2)
		for i := range 6 {
			text := fmt.Sprintf("step %d: reading shard-%03d.parquet", i, pod*7+i)
			if i == 5 {
				text = "FATAL: column price of orders-2026-03-01.parquet has type STRING, but the schema asks for DECIMAL(12, 2) \x1b[31m"
			}
			log.Lines = append(log.Lines, snapshot.LogLine{Pod: name, Time: testNow().Add(time.Duration(pod*10+i) * time.Second), Text: text})
		}
	}
	log.Why = "2 pods have no logs, because their nodes are simulated (node-0, node-1).\n1 failed pod has no lines in its log."
	return log
}

// failedSnapshot shows a failed Job with the logs of its failed pods.
func failedSnapshot(t *testing.T, log *snapshot.Log) *snapshot.Snapshot {
	s := load(t, "three-causes")
	s.Log = log
	return s
}

// L shows the logs of all failed pods, in all sizes and looks.
// Requirements: VIE-13
func TestFailedLogsFitEverySize(t *testing.T) {
	goldens(t, "failedlogs", failedSnapshot(t, failedLog()), nil, "L")
	goldens(t, "failedlogs.second", failedSnapshot(t, failedLog()), nil, "L", "n")
	goldens(t, "failedlogs.filtered", failedSnapshot(t, failedLog()), nil, "L", "/", "f", "a", "t", "a", "l", "enter", "n", "n")
	goldens(t, "failedlogs.bad", failedSnapshot(t, failedLog()), nil, "L", "/", "[", "x", "enter")
	nothing := &snapshot.Log{Target: snapshot.LogTarget{Failed: true}, Ended: true}
	goldens(t, "failedlogs.none", failedSnapshot(t, nothing), nil, "L")
}

// n and N go from failed pod to failed pod, also between pods that fit on one screen, and whether a filter is set or not.
// Requirements: VIE-13
func TestFailedPodsAreNextAndPrevious(t *testing.T) {
	for _, filter := range []string{"", "fatal"} {
		b := open(t, failedSnapshot(t, failedLog()), size{80, 24}, nil, "L")
		if filter != "" {
			b.press("/")
			b.write(filter)
			b.press("enter")
		}
		b.has(t, "pod 1 of 12")
		for i := 2; i <= 13; i++ {
			b.press("n")
			b.has(t, fmt.Sprintf("pod %d of 12", min(i, 12)), fmt.Sprintf("[index %d attempt", 7*min(i-1, 11)))
		}
		for i := 11; i >= 0; i-- {
			b.press("N")
			b.has(t, fmt.Sprintf("pod %d of 12", max(i, 1)))
		}
		b.press("down", "down", "N")
		b.has(t, "pod 1 of 12", "[index 0 attempt 1] ")
	}
}

// Later failures are added below, and neither move the lines on the screen nor the chosen pod.
// Requirements: VIE-13
func TestFailedLogsStayWhenPodsFail(t *testing.T) {
	b := open(t, failedSnapshot(t, failedLog()), size{80, 24}, nil, "L", "n", "n")
	before := b.picture()
	log := failedLog()
	log.Lines = append(log.Lines, snapshot.LogLine{Pod: "[index 90 attempt 1]", Text: "later"})
	b.log(log)
	assert.Equal(t, strings.Replace(b.picture(), "3 of 13", "3 of 12", 1), strings.Replace(before, ", 72 lines", ", 73 lines", 1), before)
}

// The focus selects the logs, and esc goes back; no pod is in focus.
// Requirements: VIE-13
func TestFailedLogsAreLookedAt(t *testing.T) {
	b := open(t, failedSnapshot(t, nil), size{80, 24}, nil, "L")
	shows(b, "Reading the logs of the failed pods")
	if f := b.focus.looked; f.Log == nil || !f.Log.Failed || f.Pod != "" {
		t.Errorf("looked at %+v", f)
	}
	b.press("esc")
	shows(b, "1 Overview")
	list := failedSnapshot(t, nil)
	list.Focus, list.Job = snapshot.Focus{}, nil
	b = open(t, list, size{80, 24}, nil, "L")
	shows(b, "Reading the logs of the failed pods")
}
