// Package retry plans the retry of a finished Job: a new Job that runs the indexes that the old one did not complete,
// under their original numbers.
//
// A Job and its retries are a Family. Make plans a copy of a Job. So that only the missing indexes of an Indexed Job
// run, the copy is created suspended and with parallelism 0, the other indexes are stored in its status as completed,
// and only then it is resumed; every controller continues from a stored status. The patch that resumes the Job tests
// for the stored indexes, so that no interruption and no other client can make the copy run all of them.
//
// Nothing here calls an API server.
package retry
