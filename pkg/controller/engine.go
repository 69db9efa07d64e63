package controller

import (
	"context"
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// Engine syncs single Jobs. Different Jobs may be synced concurrently, but each Job by one call at a time.
type Engine struct {
	config  Config
	cache   *observe.Cache
	cluster cluster.Cluster
	memory  memory
}

// NewEngine returns an Engine that reads from a cache, which the caller fills.
func NewEngine(config Config, cache *observe.Cache, c cluster.Cluster) *Engine {
	config.setDefaults()
	return &Engine{config: config, cache: cache, cluster: cluster.Metered(c, config.Metrics), memory: newMemory()}
}

// Result is when to sync the Job again, unless an event requires it sooner.
type Result struct {
	// After is the wait; 0 if no sync is needed.
	After time.Duration
	// Soon requests another sync as soon as other waiting Jobs have been synced.
	Soon bool
	// Done reports whether nothing is left to do for this Job, ever.
	Done bool
}

// Trust marks the cached pods of the Job as at least as new as its status: this process read both when it started, Jobs
// first.
func (e *Engine) Trust(job *batchv1.Job) {
	if e.config.owns(job) {
		e.memory.update(job.UID, func(m *jobMemory) { m.status = job.Status.DeepCopy() })
	}
}

// Own records that the Job is ours, so that its pods can be released once it is deleted, even if it was never synced.
func (e *Engine) Own(job *batchv1.Job) {
	e.memory.update(job.UID, func(m *jobMemory) { m.ours, m.namespace = true, job.Namespace })
}

// errJobGone ends the sync of a deleted Job. It is not a failure: the watch will deliver
// the deletion, which leads to another sync.
var errJobGone = errors.New("the Job is gone")

// unlessGone returns err, or nil if the error is only that the Job is gone.
func unlessGone(err error) error {
	if errors.Is(err, errJobGone) {
		return nil
	}
	return err
}

// Sync reconciles the Job as far as possible now. After an error, the caller must retry it with a back-off.
func (e *Engine) Sync(ctx context.Context, uid types.UID) (Result, error) {
	s := &jobSync{Engine: e, uid: uid, skip: map[types.UID]why{}, begun: e.config.Clock.Now()}
	result, err := s.run(ctx)
	s.memory.settleConflicts(uid, s.skip)
	s.report(result, err)
	return result, err
}
