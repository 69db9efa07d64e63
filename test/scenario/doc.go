// Package scenario carries out the commands of scenario files in the virtual cluster of pkg/sim, which a Checker watches, and
// replays a file with faults that it does not name. pkg/sim/testdata/README.md explains the commands.
//
// The tests of pkg/sim run all files, test/storm plays them and random commands, and test/prove writes histories as files.
package scenario
