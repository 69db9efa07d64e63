// Package explain holds what an explanation of a Job is made from (Input) and what it is
// (Report), for any batch/v1 Job, whichever controller runs it.
//
//   - gather reads the Input with the permissions that the user has.
//   - analysis turns it into a Report, in steps that are packages below it. It has no I/O, no
//     clock, and no state: the same input gives the same report.
//   - words puts the values of a Report into sentences, in one place for all outputs.
//   - text lays a Report out for a terminal. As JSON and YAML it is the output of the verb
//     explain-failure.
//
// Text from the cluster is kept as it is: whatever writes it to a terminal makes it safe.
// What could not be read is not an error: the report has less in it, and its Gaps say what is
// missing.
package explain
