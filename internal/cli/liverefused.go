package cli

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

const (
	// refusedPause is how long what was refused is not asked for again.
	refusedPause = 30 * time.Second
	// jobsPause is how long Jobs that may not be watched are not listed again.
	jobsPause = 5 * time.Second
)

// optional is watched without which there is still something to show.
type optional interface {
	watched
	// missed notes that it cannot be read; nil that it is kept up with.
	missed(err error)
}

// keepUp runs a watchLoop until the context ends. What may not be read is missed at once, and tried again from time to
// time: it is no reason to end, and nothing that is shown is stale for it.
func (s *liveSource) keepUp(ctx context.Context, target optional) error {
	for {
		link := s.link.newLink()
		loop := watchLoop{target: refusable{target}, link: link}
		err := loop.run(ctx, "")
		link.connected()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		target.missed(err)
		if err := s.pause(ctx, refusedPause, nil); err != nil {
			return err
		}
	}
}

// refusable ends a watchLoop with the first 403.
type refusable struct{ optional }

func (r refusable) list(ctx context.Context) (string, error) {
	version, err := r.optional.list(ctx)
	return version, finalRefusal(err)
}

func (r refusable) watch(ctx context.Context, version string) (watch.Interface, error) {
	w, err := r.optional.watch(ctx, version)
	if err == nil && !neverOpened(w) {
		r.missed(nil)
	}
	return w, finalRefusal(err)
}

func finalRefusal(err error) error {
	if apierrors.IsForbidden(err) {
		return final(err)
	}
	return err
}

// mayNotWatch says that err is the refusal of a watch: what it would tell may be listed.
func mayNotWatch(err error) bool { return apierrors.IsForbidden(err) && callOf(err).verb == "watch" }

// keepUpJobs keeps up with Jobs from version on, or lists them first when it is "", until the context ends or a refusal
// lasts. Where they may be listed and not watched, they are listed from time to time: nothing is stale for it. Then
// unwatched is told so, and nil once they are watched.
func (s *liveSource) keepUpJobs(ctx context.Context, jobs watchedJobs, version string, unwatched func(*explain.Gap)) error {
	link := s.link.newLink()
	defer link.connected()
	loop := watchLoop{target: pollableJobs{jobs, unwatched}, link: link}
	for {
		err := loop.run(ctx, version)
		var refused unwatchedError
		if !errors.As(err, &refused) {
			return err
		}
		link.connected()
		unwatched(ptr.To(gather.UnwatchedGap(jobs.set.client.namespace, "jobs", jobsPause)))
		if err := s.pause(ctx, jobsPause, nil); err != nil {
			return err
		}
		version = ""
	}
}

// pollableJobs ends a watchLoop with an unwatchedError when Jobs may not be watched.
type pollableJobs struct {
	watchedJobs
	unwatched func(*explain.Gap)
}

func (p pollableJobs) watch(ctx context.Context, version string) (watch.Interface, error) {
	w, err := p.watchedJobs.watch(ctx, version)
	switch {
	case apierrors.IsForbidden(err):
		return nil, final(unwatchedError{err})
	case err == nil && !neverOpened(w):
		p.unwatched(nil)
	}
	return w, err
}

// unwatchedError is the refusal of a watch.
type unwatchedError struct{ error }

func (e unwatchedError) Unwrap() error { return e.error }
