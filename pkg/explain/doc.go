// Package explain defines the result of an explanation of a Job (Report): any batch/v1 Job, whichever controller runs it.
//
//   - input has what is read about the Job (input.Input); gather reads it with the permissions of the user.
//   - analysis turns the Input into a Report, in steps that are packages below it. It does no I/O, reads no clock, and keeps
//     no state: the same input gives the same report.
//   - words turns the values of a Report into sentences, in one place for all outputs.
//   - text lays out a Report for a terminal. The verb why prints a Report as JSON or YAML.
//
// Text from the cluster is not sanitized: code that writes it to a terminal must do that. Data that could not be read is
// not an error: the report contains less, and its Gaps list what is missing.
package explain
