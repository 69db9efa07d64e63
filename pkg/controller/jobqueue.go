package controller

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// newJobQueue returns the queue of the Jobs to sync. isEnding reports whether all pods of a Job have ended.
func newJobQueue(config Config, isEnding func(job types.UID) bool) workqueue.TypedRateLimitingInterface[types.UID] {
	const name = "job"
	order := &endingFirst{isEnding: isEnding, waits: map[types.UID]bool{}}
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.UID]{Name: name, Clock: config.Clock, Queue: order})
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.UID](config.RetryMin, config.RetryMax),
		workqueue.TypedRateLimitingQueueConfig[types.UID]{
			Name: name, Clock: config.Clock,
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.UID]{Name: name, Clock: config.Clock, Queue: queue}),
		})
}

// endingFirst holds the Jobs that wait for a worker, in the order in which they came, but those whose pods have all ended
// come first: a few calls complete them, while the others have pods to create. If many Jobs are created at once, each would
// otherwise wait for the pods of all others, and all would end at the same time, late.
type endingFirst struct {
	isEnding func(job types.UID) bool

	ending, others []types.UID
	// waits has each Job that waits. One that began to end meanwhile is in both lists, until it is taken from one.
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

// Touch is called if a Job that waits is to wait.
func (q *endingFirst) Touch(job types.UID) {
	if q.waits[job] && q.isEnding(job) {
		q.ending = append(q.ending, job)
	}
}

func (q *endingFirst) Len() int { return len(q.waits) }

// Pop takes the first Job; there must be one.
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
