package logs

import (
	"context"
	"io"
)

// Read prints the selected logs of pods, one after the other. A few are requested ahead of the one that is printed.
func Read(ctx context.Context, pods []*Pod, o Options, out Output) error {
	set := newPodSet()
	set.replace("", pods)
	found := set.find(o.Selection)
	if err := out.Found(found); err != nil {
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
	for i, source := range found.Sources {
		for len(ahead) < o.Concurrency && i+len(ahead) < len(found.Sources) {
			ahead = append(ahead, o.open(ctx, found.Sources[i+len(ahead)]))
		}
		opened := <-ahead[0]
		ahead = ahead[1:]
		err := opened.copy(&o, func(line Line) error { return out.Line(source, line) })
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

// openedLog is the response to the request for a log.
type openedLog struct {
	body io.ReadCloser
	err  error
}

func (o *Options) open(ctx context.Context, source Source) <-chan openedLog {
	answer := make(chan openedLog, 1)
	go func() {
		body, err := o.Open(ctx, source.Pod.Name, o.request(source))
		answer <- openedLog{body: body, err: err}
	}()
	return answer
}

func (l openedLog) copy(o *Options, line func(Line) error) error {
	if l.err != nil {
		return l.err
	}
	defer l.body.Close() //nolint:errcheck // it was only read
	log := &stream{print: line, timestamps: o.Timestamps, budget: newByteBudget(o.LimitBytes)}
	return log.copy(l.body, true)
}
