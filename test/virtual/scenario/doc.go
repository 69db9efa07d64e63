// Package scenario carries out the commands of scenario files in the virtual cluster of pkg/sim, observed by a Checker,
// and replays a file with additional faults. pkg/sim/testdata/README.md explains the commands.
//
// The tests of pkg/sim run all files, test/virtual/storm runs them and random commands, and test/virtual/prove writes histories as
// files.
package scenario
