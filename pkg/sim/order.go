package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// origin is where an event comes from, for a decider: what may happen in any order, and what
// happens at its time.
type origin struct {
	kind originKind
	// process is the controller process that the event is for, if there is one, routine the
	// sync that continues then. text is what happens,
	// commit what a watch delivers, and call the call that is on its way.
	process *process
	routine *routine
	text    string
	commit  *Commit
	call    Call
	// version is what a list shows.
	version int64
	// void, if set, reports whether the event no longer does anything.
	void func() bool
}

// originKind is what an event depends on apart from its time.
type originKind uint8

const (
	// fromTimer is the zero kind: the event happens at its time.
	fromTimer originKind = iota
	// fromCall is the progress of an API call, fromWatch that of a watch, whose events come in
	// order, and fromLateWrite a write for whose answer nobody waits.
	fromCall
	fromWatch
	fromLateWrite
	// fromNode is what the kubelet does, fromCollector what the garbage collectors do.
	fromNode
	fromCollector
)

// decider decides what the seed of a World decides otherwise. Tests that try every order of
// events set one.
type decider interface {
	// fault is what goes wrong with a call that has arrived at the API server.
	fault(c Call) Fault
	// watchFault is what goes wrong with a watch event that is about to arrive.
	watchFault(s *stream) WatchFault
	// next returns which of the n operations of a stage that are left is carried out next.
	next(n int) int
	// grain is how exact the times of a process are. What happens within a grain happens at one moment for
	// it, whatever the order.
	grain() time.Duration
	// end returns how a pod ends whose act is given.
	end(pod *corev1.Pod, act *Act, terminated bool) *Act
}
