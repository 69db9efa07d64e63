package cli

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// refusedPause is how long what was refused is not asked for again.
const refusedPause = 30 * time.Second

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
		link := newLink(&s.link, s.env)
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
