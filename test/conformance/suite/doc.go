// Package suite runs conformance cases: it creates their Jobs, has their pods run, records every
// stored version of both, and notes what the cases observe.
//
// A case waits for what the record shows, never for time to pass. What it changes is in the
// record before the next step.
package suite
