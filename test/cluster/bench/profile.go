//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// profileSeconds is less than the minute after which the controller's HTTP server times out.
const profileSeconds = 30

// profiling writes CPU profiles of our controller to PREFIX-1.pprof, PREFIX-2.pprof and so on, which `go tool pprof`
// merges, until stop is called. stop also writes the heap profile to
// PREFIX-heap.pprof. If prefix is empty, profiling does nothing.
func (b *bench) profiling(ctx context.Context, prefix string) (stop func()) {
	if prefix == "" {
		return func() {}
	}
	base := strings.TrimSuffix(b.launched.metrics[ours], "/metrics") + "/debug/pprof/"
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 1; ; n++ {
			if err := download(ctx, fmt.Sprintf("%sprofile?seconds=%d", base, profileSeconds), fmt.Sprintf("%s-%d.pprof", prefix, n)); err != nil {
				progress("No more profiles: %v", err)
				return
			}
			select {
			case <-ending:
				if err := download(ctx, base+"heap", prefix+"-heap.pprof"); err != nil {
					progress("No profile of the heap: %v", err)
				}
				return
			default:
			}
		}
	}()
	return func() { close(ending); <-ended }
}

func download(ctx context.Context, url, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, answer.Body); err != nil {
		return err
	}
	return file.Close()
}
