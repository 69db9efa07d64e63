// Package explain says what becomes of a Job and why, for people: of any batch/v1 Job,
// whoever runs it.
//
// Facts go in, as package gather reads them; a Report comes out, which package text
// writes for a terminal, and which is the JSON and YAML of the explain-failure verb. In
// between there is no I/O, no clock and no state: the same facts give the same report.
// The decisions about a Job that goes on are those of reconcile.Compute: what it would
// write next tells what is awaited. What its findings do not hold, because no decision
// rests on it (images that cannot be pulled, quotas, a controller that is gone), is found
// here, one file for each subject.
//
// Text from the cluster comes out as it went in: whoever writes it to a terminal makes it
// safe. Facts that could not be read are no error: the report says less, and its Gaps say
// what is missing.
package explain
