package view

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed/live"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const (
	// The part of a log's end that is kept: lines, bytes in total, bytes of one line.
	maxLiveLines = 5000
	maxLiveLog   = 4 << 20
	maxLiveLine  = 16 << 10

	// logRetry is the delay before a log is read again after a failure.
	logRetry = 30 * time.Second
)

// liveLog follows one container's log and keeps its tail.
type liveLog struct {
	client    kube.Interface
	env       cmdutil.Env
	namespace string
	target    snapshot.LogTarget
	changed   func()        // requests a Snapshot
	news      chan struct{} // signals a change of the pod

	// Only the reading goroutine uses these: the incomplete last line, and the name of its pod in the logs of failed pods.
	line   []byte
	prefix string

	mu        sync.Mutex
	pod       live.PodState
	podLogs   *logs.Pod // the pod's containers and logs; nil if the pod does not exist
	known     bool      // there is something to show
	container string
	lines     []snapshot.LogLine // only appended to and cut at the front, as Snapshots share it
	bytes     int
	dropped   int
	ended     bool
	why       string
	stale     bool          // the lines are from a failed read, and are dropped at the first line of the next one
	cached    *snapshot.Log // nil if something has changed
}

// openLiveLog returns a function that creates the log of a container, or the logs of the failed pods.
func openLiveLog(client kube.Interface, env cmdutil.Env) func(string, snapshot.LogTarget, func() live.FailedPods, func()) live.Log {
	return func(namespace string, target snapshot.LogTarget, failed func() live.FailedPods, changed func()) live.Log {
		log := &liveLog{client: client, env: env, namespace: namespace, target: target, changed: changed, news: make(chan struct{}, 1)}
		if target.Failed {
			return newFailedLogs(log, failed)
		}
		return log
	}
}

// SetPod updates the state of the pod.
func (l *liveLog) SetPod(pod live.PodState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pod, l.podLogs = pod, nil
	if pod.Pod != nil {
		l.podLogs = logs.NewPod(pod.Pod)
	}
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Run reads the log to its end, once there is one.
func (l *liveLog) Run(ctx context.Context) error {
	for {
		source, ready := l.chooseContainer()
		if !ready {
			select {
			case <-l.news:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err := l.follow(ctx, source)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !l.finish(source, err):
			if err := l.env.Timing().Pause(ctx, logRetry, nil); err != nil {
				return err
			}
			continue
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

// chooseContainer finds the container, and reports whether it has a log to read. If not, Snapshots have the reason.
func (l *liveLog) chooseContainer() (logs.Source, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pod.Read {
		if l.pod.Gap != "" {
			l.report(l.pod.Gap, false)
		}
		return logs.Source{}, false
	}
	pod := l.podLogs
	if pod == nil {
		l.report("the pod is gone, along with its log", true)
		return logs.Source{}, false
	}
	if name := cmp.Or(l.target.Container, pod.DefaultContainer); name != l.container {
		l.container, l.cached = name, nil
	}
	container := pod.Container(l.container)
	switch {
	case container == nil:
		l.report(fmt.Sprintf("the pod has no container %q", l.container), true)
	case !container.HasLog && container.Waiting != logs.Reason{}:
		l.report("the container has not started: "+container.Waiting.String(), container.Ended)
	case !container.HasLog:
		l.report("the container has not started", container.Ended)
	case l.target.Previous && !container.Restarted:
		l.report("the container was not restarted, so it has no previous log", container.Ended)
	default:
		l.report("", false)
		l.stale = true
		return logs.Source{Pod: pod, Container: l.container, Previous: l.target.Previous}, true
	}
	return logs.Source{}, false
}

// follow reads until the container has ended.
func (l *liveLog) follow(ctx context.Context, source logs.Source) error {
	interrupted := func(failure error) { l.interrupted(source.Pod.Node, failure) }
	tail := &logs.Tail{
		Options: logs.Options{
			TailLines: maxLiveLines, Now: l.env.Now, Open: cmdutil.OpenLog(l.client, l.namespace),
			Connect: func() logs.Connection { return feed.NewConnection(l.env.Timing(), interrupted) },
		},
		Source: source, PodChanged: l.news, OnLine: l.print, OnInterrupted: interrupted,
		HasEnded: func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return source.HasEnded(l.podLogs)
		},
	}
	return tail.Run(ctx)
}

// dropStale drops the lines of a previous read, once. The caller holds l.mu.
func (l *liveLog) dropStale() {
	if l.stale {
		l.stale, l.lines, l.bytes, l.dropped, l.cached = false, nil, 0, 0, nil
	}
}

// finish records how the read ended, and reports whether another read is useless: everything was read, or there is
// nothing to read.
func (l *liveLog) finish(source logs.Source, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.dropStale()
		l.report("", true)
		return true
	case apierrors.IsForbidden(err):
		l.report(gather.GapOf(l.namespace, "get", "pods/log", err).Text, false)
		return false
	}
	isGone := kube.IsNotFound(err)
	l.report(fmt.Sprintf("the log of pod %s could not be read: %s", source.Pod.Name, gather.WhyNoLog(l.pod.Node, err)), isGone)
	return isGone
}

// report sets the status that is shown besides the lines. The caller holds l.mu.
func (l *liveLog) report(why string, ended bool) {
	if l.known && l.why == why && l.ended == ended {
		return
	}
	l.known, l.why, l.ended, l.cached = true, why, ended, nil
	l.changed()
}

// interrupted reports why the log temporarily cannot be read, nil when it can again. It makes nothing else stale.
func (l *liveLog) interrupted(node string, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if failure == nil {
		l.report("", false)
		return
	}
	what := "lost connection"
	if len(l.lines) == 0 || feed.IsAnswer(failure) {
		what = "cannot read the log"
	}
	l.report(what+", retrying: "+cmdutil.LogErrorLine(node, failure), false)
}

// print adds a line, or a part of a long line, of which the beginning is kept.
func (l *liveLog) print(line logs.Line) error {
	if line.First {
		l.line = l.line[:0]
	}
	room := maxLiveLine - len(l.line)
	l.line = append(l.line, line.Text[:min(len(line.Text), max(room, 0))]...)
	if len(line.Text) > room {
		l.line = append(l.line[:maxLiveLine], "…"...)
	}
	if !line.Last {
		return nil
	}
	l.add(line.Time, string(l.line))
	return nil
}

// add appends a line, and drops lines beyond the limits from the front.
func (l *liveLog) add(at time.Time, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropStale()
	l.lines = append(l.lines, snapshot.LogLine{Pod: l.prefix, Time: at, Text: text})
	l.bytes += len(text)
	for len(l.lines) > maxLiveLines || l.bytes > maxLiveLog {
		l.bytes -= len(l.lines[0].Text)
		l.lines = l.lines[1:]
		l.dropped++
	}
	l.cached = nil
	l.changed()
}

// Snapshot returns the current log: the previous pointer if nothing has changed.
func (l *liveLog) Snapshot() *snapshot.Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.cached == nil {
		l.cached = &snapshot.Log{
			Target: l.target, Container: l.container, Lines: l.lines[:len(l.lines):len(l.lines)], Dropped: l.dropped, Ended: l.ended, Why: l.why,
		}
	}
	return l.cached
}
