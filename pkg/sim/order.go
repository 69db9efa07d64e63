package sim

// origin is where an event comes from, for a Decider: what may happen in any order, and what
// happens at its time.
type origin struct {
	kind EventKind
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

// EventKind is what an event depends on apart from its time.
type EventKind uint8

const (
	// FromTimer is the zero kind: the event happens at its time.
	FromTimer EventKind = iota
	// FromCall is the progress of an API call, FromWatch that of a watch, whose events come in
	// order, and FromLateWrite a write for whose answer nobody waits.
	FromCall
	FromWatch
	FromLateWrite
	// FromNode is what the kubelet does, FromCollector what the garbage collectors do.
	FromNode
	FromCollector
	// FromSweep is the periodic search for pods without the label of the watch.
	FromSweep
)
