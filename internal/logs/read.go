package logs

import (
	"context"
	"io"
)

// Read prints the selected logs of pods, one after the other. A few are requested ahead of the one that is printed.
func Read(ctx context.Context, pods []*Pod, o Options, out Output) error {
	set := newPodSet()
	set.replace("", pods)
	listing := set.list(o.Selection)
	if err := out.OnListing(listing); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var ahead []<-chan openedLog // the next logs, already requested
	defer func() {
		cancel()
		for _, answer := range ahead {
			if opened := <-answer; opened.err == nil {
				_ = opened.body.Close()
			}
		}
	}()
	for i, source := range listing.Sources {
		for len(ahead) < o.Concurrency && i+len(ahead) < len(listing.Sources) {
			ahead = append(ahead, o.openAhead(ctx, listing.Sources[i+len(ahead)]))
		}
		opened := <-ahead[0]
		ahead = ahead[1:]
		err := opened.err
		if err == nil {
			onLine := func(line Line) error { return out.OnLine(source, line) }
			log := &stream{print: onLine, timestamps: o.Timestamps, bytesLeft: o.maxBytes()}
			err = log.copy(opened.body, true)
			_ = opened.body.Close() // It was only read.
		}
		if err == nil {
			continue
		}
		if stop := fatalError(ctx, err); stop != nil {
			return stop
		}
		if isRefused(err) {
			return err
		}
		out.OnUnreadable(&UnreadableError{Source: source, Err: err})
	}
	return nil
}

// openedLog is the response to the request for a log.
type openedLog struct {
	body io.ReadCloser
	err  error
}

func (o *Options) openAhead(ctx context.Context, source Source) <-chan openedLog {
	answer := make(chan openedLog, 1)
	go func() {
		body, err := o.Open(ctx, source.Pod.Name, o.request(source))
		answer <- openedLog{body: body, err: err}
	}()
	return answer
}
