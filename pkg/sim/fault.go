package sim

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Call is one API call of the controller, numbered from 1 in the order of calls.
type Call struct {
	Number int
	Verb   string
	Object string
}

func (c Call) String() string { return fmt.Sprintf("call %d, %s %s", c.Number, c.Verb, c.Object) }

// Reads reports whether the call changes nothing.
func (c Call) Reads() bool {
	return c.Verb == verbGet || c.Verb == verbList || c.Verb == verbListJobs
}

// Fault is a fault of a call; the zero Fault is no fault.
type Fault struct {
	Kind FaultKind
	// Wait is the Retry-After of Throttle, or the delay of the write for Late and Timeout.
	Wait time.Duration
}

// FaultKind is a kind of fault.
type FaultKind uint8

const (
	// NoFault lets the call succeed.
	NoFault FaultKind = iota
	// CrashBefore ends the controller process before the write.
	CrashBefore
	// CrashAfter ends the controller process after the write, before the response.
	CrashAfter
	// LoseResponse commits the write and returns a network error.
	LoseResponse
	// Fail returns an internal error, and writes nothing.
	Fail
	// Throttle returns 429 with a Retry-After. The client waits that long and retries, like client-go, at most ten
	// times and within the timeout of the call.
	Throttle
	// Late ends the process while the write is in flight: it is made when another process is running.
	Late
	// Timeout returns a timeout while the write is in flight: it is made later.
	Timeout
	// Conflict returns 409, as a webhook or a quota can, and writes nothing.
	Conflict
	// Reject returns 403, as a webhook or a quota can, and writes nothing.
	Reject
	// Malformed returns 422 without causes, as a webhook can, and writes nothing.
	Malformed
	// Misrouted returns 404, as a proxy without a route can, and writes nothing.
	Misrouted
	// timedOut is a timeout of a call that never reached the API server.
	timedOut
)

// String returns the text for a trace.
func (k FaultKind) String() string {
	switch k {
	case Fail:
		return "fails"
	case Throttle:
		return "is throttled"
	case Timeout, timedOut:
		return "times out"
	case Conflict:
		return "meets a conflict"
	case Reject:
		return "is rejected"
	case Malformed:
		return "is called malformed"
	case Misrouted:
		return "is misrouted"
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

const (
	// maxThrottled is the maximum number of retries of client-go after a Retry-After.
	maxThrottled = 10
	// callTimeout is the timeout of a call, like controller.Config.CallTimeout.
	callTimeout = 30 * time.Second
)

var errNetwork = errors.New("connection reset by the simulated network")

// answer returns the error of a rejected call, or nil for other kinds of faults.
func (f Fault) answer(verb, object string) error {
	resource := schema.GroupResource{}
	switch f.Kind {
	case Fail:
		return apierrors.NewInternalError(errors.New("simulated"))
	case Throttle:
		return apierrors.NewTooManyRequests("simulated", int(f.Wait/time.Second))
	case Timeout, timedOut:
		return fmt.Errorf("simulated: %w", context.DeadlineExceeded)
	case Conflict:
		return apierrors.NewConflict(resource, object, errors.New("simulated"))
	case Reject:
		return apierrors.NewForbidden(resource, object, errors.New("denied by the simulated webhook"))
	case Malformed:
		return apierrors.NewInvalid(schema.GroupKind{}, object, nil)
	case Misrouted: // in client-go's words
		if resource = jobsResource; strings.HasSuffix(verb, " pod") {
			resource = podsResource
		}
		return apierrors.NewGenericServerResponse(http.StatusNotFound, verb, resource, object, "404 page not found", 0, true)
	}
	return nil
}

// Outage makes the API server unreachable for all controller processes for a while: calls fail, and watches are silent.
// Afterward, each process lists again.
func (w *World) Outage(d time.Duration) {
	if until := w.Now().Add(d); until.After(w.awayUntil) { // It may be unreachable already.
		w.awayUntil = until
	}
	w.notify(WatchesBlind{w.awayUntil})
	w.tracef("the API server is away for %v", d)
	for _, p := range w.processes {
		p.jobs.relist(d, 0)
		p.pods.relist(d, 0)
	}
}

// Relist closes the watches for Jobs, for pods, or both, of all processes: after gap, each continues with a new list,
// which shows the state before the duration older.
func (w *World) Relist(jobs, pods bool, gap, older time.Duration) {
	for _, p := range w.processes {
		if jobs {
			p.jobs.relist(gap, older)
		}
		if pods {
			p.pods.relist(gap, older)
		}
	}
}

// isAway reports whether the API server is unreachable.
func (w *World) isAway() bool { return w.Now().Before(w.awayUntil) }
