// Package logs reads the logs of pods: all that exist now (Read), all as they are written (Follower), or a single one as it
// is written (Tail).
//
//	options.go    which logs to read, how, and the receiver of the output
//	pod.go        the data that is kept of a pod and its containers
//	podset.go     pods in the order of reading, with their attempts
//	selection.go  the selection of logs of a pod
//	line.go       lines of bounded length
//	stream.go     one log: the part that was already printed
//	tail.go       one log over any number of connections
//	read.go       all logs, one after the other
//	follow.go     all logs, as they are written
//
// The package guarantees: at most Concurrency logs are requested at a time, and the others wait for one to end; memory
// depends neither on the size of a log nor on the length of its lines; a log that is read again after a lost connection
// repeats no line and misses none. A log that cannot be read is reported, and does not affect other logs.
//
// The caller opens the connections, paces them, provides the clock, and sanitizes its output for users: lines, names and
// messages are passed on unchanged.
package logs
