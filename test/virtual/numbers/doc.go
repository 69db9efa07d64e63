// Package numbers checks that all outputs agree on their numbers: random Jobs run in the virtual cluster and are read at
// random moments; all outputs show the state read at that moment. Numbers with the same name must be equal, and parts
// must add up to their totals.
//
//	go test ./test/virtual/numbers                          a few seconds
//	go test ./test/virtual/numbers -moments 100000          about ten minutes
//	go test ./test/virtual/numbers -seed 4711 -v            the moments of one Job
package numbers
