// Package logs reads the logs of pods: those that there are (Read), as they are written (Follower), or a single one as
// it is written (Tail).
//
//	options.go    which logs, how they are read, and what gets them
//	pod.go        what is kept of a pod and its containers
//	podset.go     pods in the order of reading, with their attempts
//	selection.go  which logs of a pod are wanted
//	line.go       lines of bounded length
//	stream.go     one log: what of it was printed
//	tail.go       one log over any number of connections
//	read.go       all logs, one after the other
//	follow.go     all logs, as they are written
//
// It promises: no more than Concurrency logs are requested at a time, the others wait for one to end; memory depends
// neither on the size of a log nor on the length of its lines; a log that is read again after its connection was lost
// repeats no line and misses none. A log that cannot be read is reported, and ends nothing but itself.
//
// The caller opens the connections, paces them, gives the time, and sanitizes what it writes for people: lines, names and
// messages are as the cluster has them.
package logs
