package podlife

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kubelet's back-off: the first restart is immediate; further restarts wait 10 s, 20 s … 5 min after the end of a
// run. The back-off is reset after a run that ended 10 min or more after the last restart.
const (
	firstBackOff   = 10 * time.Second
	maxBackOff     = 5 * time.Minute
	backOffExpires = 2 * maxBackOff
)

// Forever is the length of a run that does not end on its own.
const Forever time.Duration = -1

// Run is one run of a container.
type Run struct {
	For    time.Duration // Forever if negative
	Exit   int32
	Reason string // of an exit code other than 0; "" for Error
	// Evicted are the conditions of a pod that the cluster evicts at the end of the run, whatever its restart policy,
	// if the run fails; empty for other runs.
	Evicted []corev1.PodCondition
}

// Runs returns the run of a container after a number of restarts in this pod.
type Runs func(container string, restarts int32) Run

type state int

const (
	unstarted state = iota
	running
	backingOff
	exited
)

// container is one container of the pod.
type container struct {
	name    string
	sidecar bool
	state   state
	run     Run
	// until is the end of a run, or of a back-off; zero if it does not end.
	until    time.Time
	restarts int32
	// backOff is the next delay, 0 before the first restart, and restarted is the time of the last restart.
	backOff   time.Duration
	restarted time.Time
	// end is the end of the last run, last the end of the run before it; nil for none.
	end, last *corev1.ContainerStateTerminated
}

func (c *container) start(now time.Time, runs Runs) {
	c.run, c.state, c.until = runs(c.name, c.restarts), running, time.Time{}
	if c.run.For >= 0 {
		c.until = now.Add(c.run.For)
	}
}

// exit ends a run.
func (c *container) exit(now time.Time, code int32, reason string) {
	if code == 0 {
		reason = "Completed"
	}
	c.state, c.until = exited, time.Time{}
	c.last = c.end
	c.end = &corev1.ContainerStateTerminated{ExitCode: code, Reason: cmp.Or(reason, "Error"), FinishedAt: metav1.NewTime(now.Truncate(time.Second))}
}

// again restarts a container that has exited, at once or after the back-off.
func (c *container) again(now time.Time, runs Runs) {
	if c.backOff > 0 && now.Sub(c.restarted) > backOffExpires {
		c.backOff = 0
	}
	if c.backOff == 0 {
		c.restart(now, runs)
		return
	}
	c.state, c.until = backingOff, now.Add(c.backOff)
}

func (c *container) restart(now time.Time, runs Runs) {
	c.restarts++
	c.restarted = now
	c.backOff = min(max(2*c.backOff, firstBackOff), maxBackOff)
	c.start(now, runs)
}

// kill ends a run with this exit code, or a sidecar's run with the run's own.
func (c *container) kill(now time.Time, exit int32) {
	switch {
	case c.state == running && c.sidecar:
		c.exit(now, c.run.Exit, c.run.Reason)
	case c.state == running:
		c.exit(now, exit, "")
	case c.state == backingOff:
		c.state, c.until = exited, time.Time{}
	}
}

func (c *container) isDue(now time.Time) bool { return !c.until.IsZero() && !c.until.After(now) }

// status returns the status of a container that has started.
func (c *container) status() corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: c.name, RestartCount: c.restarts}
	ended := c.end
	switch c.state {
	case running:
		s.State.Running = &corev1.ContainerStateRunning{}
	case backingOff:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
	default:
		s.State.Terminated, ended = c.end, c.last
	}
	s.LastTerminationState.Terminated = ended
	return s
}
