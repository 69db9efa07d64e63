package controller

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// newJobQueue returns the queue of Jobs to sync. isEnding reports whether all pods of a Job have ended.
func newJobQueue(config Config, isEnding func(job types.UID) bool) workqueue.TypedRateLimitingInterface[types.UID] {
	const name = "job"
	order := &endingFirst{isEnding: isEnding, waits: map[types.UID]bool{}}
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.UID]{Name: name, Clock: config.Clock, Queue: order})
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.UID](config.RetryMin, config.RetryMax),
		workqueue.TypedRateLimitingQueueConfig[types.UID]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.UID]{Name: name, Clock: config.Clock, Queue: queue}),
		})
}

// endingFirst holds the Jobs that wait for a worker in order of arrival, except that Jobs whose pods have all ended
// come first: a few calls complete them, while the other Jobs have pods to create. Otherwise, of many Jobs created at
// once, each would wait for the pods of all others, and all would end at the same time, late.
type endingFirst struct {
	isEnding func(job types.UID) bool

	ending, others []types.UID
	// waits holds the waiting Jobs. A Job that began to end while it waited is in both lists until one of them is
	// popped.
	waits map[types.UID]bool
}

func (q *endingFirst) Push(job types.UID) {
	q.waits[job] = true
	if q.isEnding(job) {
		q.ending = append(q.ending, job)
	} else {
		q.others = append(q.others, job)
	}
}

// Touch is called if a Job is added that is already waiting.
func (q *endingFirst) Touch(job types.UID) {
	if q.waits[job] && q.isEnding(job) {
		q.ending = append(q.ending, job)
	}
}

func (q *endingFirst) Len() int { return len(q.waits) }

// Pop removes and returns the first Job; the queue must not be empty.
func (q *endingFirst) Pop() (job types.UID) {
	for !q.waits[job] {
		list := &q.ending
		if len(*list) == 0 {
			list = &q.others
		}
		job, *list = (*list)[0], (*list)[1:]
	}
	delete(q.waits, job)
	return job
}
