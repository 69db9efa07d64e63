// Package numbers checks that all outputs agree on their numbers: random Jobs run in the
// virtual cluster, and at random moments everything that shows a Job shows what is read of
// it then. What has the same name has the same value, and parts add up to their totals.
//
//	go test ./test/numbers                          a few seconds
//	go test ./test/numbers -moments 100000          about ten minutes
//	go test ./test/numbers -seed 4711 -v            the moments of one Job
package numbers
