// Package retry plans the retry of a finished Job: a new Job that runs what the old one did not
// complete, under the original index numbers.
//
// A Job and its retries are a Family. Make copies one of them. So that only the missing indexes of
// an Indexed Job run, the copy is created suspended and without parallelism, the other indexes are
// stored in its status as completed, and only then it is resumed; every controller continues from
// a stored status. The patch that resumes tests for the stored indexes, so that no interruption
// and no other writer can make the copy run all of them.
//
// Nothing here calls an API server.
package retry
