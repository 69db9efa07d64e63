// Package suite runs conformance cases: it creates their Jobs, runs their pods, records every stored version of both,
// and collects the findings of the cases.
//
// A case waits for changes in the record, never for time to pass. A change that it makes is in the record before the
// next step.
package suite
