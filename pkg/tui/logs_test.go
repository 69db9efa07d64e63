package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// someLog is a log of n lines.
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
func TestLogsGoldens(t *testing.T) {
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
