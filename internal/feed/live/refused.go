package live

import (
	"context"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// refusedRetry is the pause before a refused request is repeated.
const refusedRetry = 30 * time.Second

// keepUp watches a collection that the report on a Job can do without.
func (s *Source) keepUp(ctx context.Context, collection feed.Collection, refused func(*feed.Refusal)) error {
	connection := s.link.Open()
	defer connection.Connected() // Data that is no longer shown is not stale.
	watch := feed.Watch{Collection: collection, Connection: connection, Retry: refusedRetry, Optional: true, Refused: refused}
	return watch.Run(ctx)
}

// gapOf returns the gap for a refusal, nil for nil.
func gapOf(r *feed.Refusal) *explain.Gap {
	switch {
	case r == nil:
		return nil
	case r.Unwatched():
		return ptr.To(gather.UnwatchedGap(r.Call.Namespace, r.Call.Resource, r.Retry))
	}
	return ptr.To(gather.GapOf(r.Call.Namespace, "list", r.Call.Resource, r.Err))
}
