package logs

import (
	"context"
	"io"
)

// Read prints the logs of pods that are wanted, each in one piece. A few are requested ahead of the one that is printed.
func Read(ctx context.Context, pods []*Pod, o Options, out Output) error {
	set := newPodSet()
	set.replace(pods)
	found := set.find(o.Selection)
	if err := out.Found(found); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	// One log is being printed, the others wait in the queue.
	queue := make(chan chan openedLog, o.Concurrency-1)
	go openInOrder(ctx, found.Sources, &o, queue)
	defer func() {
		cancel()
		for answer := range queue {
			if opened := <-answer; opened.err == nil {
				_ = opened.body.Close()
			}
		}
	}()
	for _, source := range found.Sources {
		answer, open := <-queue
		if !open {
			return ctx.Err()
		}
		err := readOpened(<-answer, &o, func(line Line) error { return out.Line(source, line) })
		if err == nil {
			continue
		}
		if stop := stopped(ctx, err); stop != nil {
			return stop
		}
		if isRefused(err) {
			return err
		}
		out.Unreadable(&UnreadableError{Source: source, Err: err})
	}
	return nil
}

// openedLog is the answer to the request for a log.
type openedLog struct {
	body io.ReadCloser
	err  error
}

// openInOrder requests the logs, as far ahead as there is room in the queue.
func openInOrder(ctx context.Context, sources []Source, o *Options, queue chan<- chan openedLog) {
	defer close(queue)
	for _, source := range sources {
		answer := make(chan openedLog, 1)
		select {
		case queue <- answer:
		case <-ctx.Done():
			return
		}
		go func() {
			body, err := o.Open(ctx, source.Pod.Name, o.request(source))
			answer <- openedLog{body: body, err: err}
		}()
	}
}

func readOpened(opened openedLog, o *Options, line func(Line) error) error {
	if opened.err != nil {
		return opened.err
	}
	defer opened.body.Close() //nolint:errcheck // it was only read
	log := &stream{print: line, timestamps: o.Timestamps, budget: newByteBudget(o.LimitBytes)}
	return log.copy(opened.body, true)
}
